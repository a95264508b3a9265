//! Cycles in a graph of imports.

/// Finds the first group of nodes that reach each other, by Tarjan's method.
///
/// `edges[n]` are the nodes that `n` leads to. Nodes that were met later come first.
/// Runs without recursion, so long chains of imports are safe.
pub(crate) fn find_cycle(edges: &[Vec<u32>]) -> Option<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let mut stack = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let mut next = 0;
    for start in 0..edges.len() as u32 {
        if index[start as usize] != NEW {
            continue;
        }
        calls.push((start, 0));
        while let Some((node, done)) = calls.pop() {
            let at = node as usize;
            if done == 0 {
                index[at] = next;
                low[at] = next;
                next += 1;
                stack.push(node);
                on_stack[at] = true;
            } else {
                let child = edges[at][done - 1] as usize;
                low[at] = low[at].min(low[child]);
            }
            let mut descend = None;
            for (i, &child) in edges[at].iter().enumerate().skip(done) {
                if index[child as usize] == NEW {
                    descend = Some((i, child));
                    break;
                }
                if on_stack[child as usize] {
                    low[at] = low[at].min(index[child as usize]);
                }
            }
            if let Some((i, child)) = descend {
                calls.push((node, i + 1));
                calls.push((child, 0));
                continue;
            }
            if low[at] == index[at] {
                let mut group = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    group.push(member);
                    if member == node {
                        break;
                    }
                }
                if group.len() > 1 {
                    return Some(group);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::find_cycle;

    #[test]
    fn only_nodes_on_the_cycle() {
        let edges = [vec![1, 3], vec![2], vec![1, 3], vec![]];
        assert_eq!(find_cycle(&edges), Some(vec![2, 1]));
        assert_eq!(find_cycle(&[vec![1], vec![2], vec![]]), None);
    }

    #[test]
    fn a_long_chain_does_not_overflow() {
        let n = 200_000;
        let mut edges: Vec<Vec<u32>> = (0..n).map(|i| vec![i + 1]).collect();
        edges.push(vec![]);
        assert_eq!(find_cycle(&edges), None);
    }
}
