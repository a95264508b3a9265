//! Tests of the graph.

use super::*;

/// Creates a graph of `name: needs…` lines.
fn graph(text: &str) -> Result<Graph, GraphError> {
    let lines: Vec<(ResourceId, Vec<ResourceId>)> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (id, needs) = line.split_once(':').expect("a line has a colon");
            (ResourceId::new(id), needs.split_whitespace().map(ResourceId::new).collect())
        })
        .collect();
    Graph::new(lines.iter().map(|(id, needs)| (id, needs.as_slice())))
}

fn names(graph: &Graph, nodes: &[Node]) -> String {
    let names: Vec<&str> = nodes.iter().map(|node| graph.id(*node).as_str()).collect();
    names.join(" ")
}

#[test]
fn an_order_respects_needs_and_keeps_the_order_given() {
    let graph = graph("web: ns conf\nconf: ns\nns:\nother:\njob: web").expect("no cycle");
    assert_eq!(names(&graph, &graph.order().expect("no cycle")), "ns other conf web job");
    let levels = graph.levels().expect("no cycle");
    let levels: Vec<String> = levels.iter().map(|it| names(&graph, it)).collect();
    assert_eq!(levels, ["ns other", "conf", "web", "job"]);
}

#[test]
fn repeated_and_own_edges_do_not_count() {
    let graph = graph("a: b b a b\nb:").expect("no cycle");
    assert_eq!(graph.edge_count(), 1);
    assert_eq!(names(&graph, graph.dependencies(Node(0))), "b");
    assert_eq!(names(&graph, graph.dependents(Node(1))), "a");
}

#[test]
fn a_cycle_is_shown_whole() {
    let graph = graph("x: c\nb: c\nc: d\nd: b\ny:").expect("the graph itself is fine");
    let cycle = graph.order().expect_err("there is a cycle");
    assert_eq!(cycle.to_string(), "dependency cycle: b -> c -> d -> b");
}

#[test]
fn what_is_not_there_or_there_twice_is_named() {
    let error = graph("a: b").expect_err("b is missing");
    assert_eq!(error.to_string(), "`a` depends on `b`, which does not exist");
    let error = graph("a:\na:").expect_err("there are two");
    assert_eq!(error.to_string(), "duplicate resource `a`");
}

#[test]
fn reachable_in_both_directions() {
    let graph = graph("a: b\nb: c\nc:\nd: c").expect("no cycle");
    assert_eq!(graph.reachable(&[Node(1)], Direction::Dependencies), [false, true, true, false]);
    assert_eq!(graph.reachable(&[Node(1)], Direction::Dependents), [true, true, false, false]);
}

#[test]
fn components_are_circles() {
    let graph = graph("a: b\nb: c d\nc: a\nd: e\ne: d\nf: a f").expect("the ids differ");
    let found = graph.components();
    assert!(found[0] == found[1] && found[1] == found[2]);
    assert!(found[3] == found[4] && found[3] != found[0]);
    assert!(found[5] != found[0] && found[5] != found[3]);
    let large = large(100_000);
    let mut found = large.components();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), large.len());
}

#[test]
fn a_reduced_graph_says_the_same() {
    let graph = graph("a: b c d\nb: c d\nc: d\nd:\ne: d a").expect("no cycle");
    let reduced = graph.reduced().expect("no cycle");
    let reduced: Vec<String> = reduced.iter().map(|it| names(&graph, it)).collect();
    assert_eq!(reduced, ["b", "c", "d", "", "a"]);
}

/// A graph with `n` nodes, each of which needs three before it.
fn large(n: u32) -> Graph {
    let ids = (0..n).map(|at| ResourceId::new(format!("r{at}"))).collect();
    let mut seed = 7u64;
    let mut edges = Vec::new();
    for at in 0..n {
        for _ in 0..3 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let back = 1 + (seed >> 33) as u32 % 1000;
            edges.push((Node(at), Node(at.saturating_sub(back))));
        }
    }
    Graph::from_edges(ids, &edges).expect("ids differ")
}

#[test]
fn many_nodes_and_edges() {
    let graph = large(100_000);
    assert_eq!(graph.len(), 100_000);
    assert!((298_000..=300_000).contains(&graph.edge_count()), "{}", graph.edge_count());
    let order = graph.order().expect("no cycle");
    let mut position = vec![0; graph.len()];
    for (at, node) in order.iter().enumerate() {
        position[node.index()] = at;
    }
    let mut n_edges = 0;
    for node in graph.nodes() {
        for need in graph.dependencies(node) {
            assert!(position[need.index()] < position[node.index()]);
            assert!(graph.dependents(*need).binary_search(&node).is_ok());
            n_edges += 1;
        }
    }
    assert_eq!(n_edges, graph.edge_count());
    let below = graph.reachable(&[Node(0)], Direction::Dependents);
    assert_eq!(below.iter().filter(|it| **it).count(), graph.len());
}

#[test]
fn a_chain_as_long_as_can_be_does_not_overflow() {
    let ids = (0..100_000).map(|at| ResourceId::new(format!("r{at}"))).collect();
    let mut edges: Vec<(Node, Node)> = (1..100_000).map(|at| (Node(at), Node(at - 1))).collect();
    edges.push((Node(0), Node(99_999)));
    let graph = Graph::from_edges(ids, &edges).expect("ids differ");
    assert_eq!(graph.order().expect_err("one cycle").0.len(), 100_000);
}

#[test]
fn ten_thousand_nodes_in_layers_can_be_reduced() {
    // As the kinds of the original: each of a layer needs all of the layer before.
    let ids = (0..10_000).map(|at| ResourceId::new(format!("r{at}"))).collect();
    let mut edges = Vec::new();
    for at in 20..10_000u32 {
        let layer = at / 20;
        edges.extend((0..20).map(|to| (Node(at), Node((layer - 1) * 20 + to))));
        edges.push((Node(at), Node(0)));
    }
    let graph = Graph::from_edges(ids, &edges).expect("ids differ");
    let reduced = graph.reduced().expect("no cycle");
    assert_eq!(reduced.iter().map(Vec::len).sum::<usize>(), 9_980 * 20);
}
