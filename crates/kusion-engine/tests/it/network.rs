//! Whole operations over a network on which every request goes wrong once.

use crate::proxy::{Fault, Proxy, Seen};
use crate::world::{World, apply, config, namespace, options, run, sealer, spec};
use kusion_engine::{Engine, Event, Goal, Outcome, Runtimes};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{Phase, PlanOptions};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_store::Memory;
use serde_json::Value;
use std::sync::Arc;

/// Spoils each request once, in one of many ways.
fn once(seen: &Seen) -> Option<Fault> {
    if seen.before > 0 {
        return None;
    }
    let sum: usize = seen.method.bytes().chain(seen.target.bytes()).map(usize::from).sum();
    Some(match sum % 6 {
        0 => Fault::Status(429, Some(1)),
        1 => Fault::Status(500, None),
        2 => Fault::Status(503, None),
        3 => Fault::Lost,
        4 => Fault::Cut(0),
        _ => Fault::Cut(40),
    })
}

fn objects(value: &str) -> Vec<Value> {
    let configs = (0..24).map(|place| config(&format!("c{place}"), value));
    std::iter::once(namespace("shop")).chain(configs).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_network_loses_and_doubles_nothing() {
    // The network in between reads what is said.
    let plain = kusion_sandbox::Options { plain: true, ..Default::default() };
    let world = World::start_with(Arc::new(Memory::default()), plain);
    let proxy = Proxy::start(world.sandbox.address(), once);
    let source = ClusterSource::Text(proxy.kubeconfig(&world.sandbox.kubeconfig()));
    let kubernetes = KubernetesSource::new(source, Options::default());
    let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
    let store = world.engine.store().clone();
    let engine = Engine::new(store, runtimes, sealer(), Arc::clone(&world.events) as _);
    let stack = engine.stack(world.stack.key().clone());
    for value in ["1", "2"] {
        let spec = spec(&objects(value));
        let report = apply(&stack, &spec).await.expect("the operation ends");
        assert_eq!(report.phase, Phase::Succeeded, "{:?}", report.steps);
        let state = engine.store().read(stack.key()).await.expect("the state is there");
        assert_eq!((state.resources.len(), state.pending.len()), (25, 0));
        for place in 0..24 {
            let name = format!("c{place}");
            let live = world.object("configmaps", "shop", &name).expect("it is there");
            assert_eq!(live["data"]["value"], value, "{name}");
            let id = format!("v1:ConfigMap:shop:{name}");
            let known = state.resources[id.as_str()].identity.uid.as_deref();
            assert_eq!(known, live["metadata"]["uid"].as_str(), "{name}");
        }
    }
    let retried = |event: &Event| matches!(event, Event::StepRetried { .. });
    assert!(world.events.all().iter().filter(|it| retried(it)).count() > 20);
    // What was done before its answer was cut off is not done again.
    for seen in proxy.seen().iter().filter(|it| it.method == "PATCH" && it.before > 0) {
        let is_dry_run = seen.target.contains("dryRun");
        let first = Seen { before: 0, ..seen.clone() };
        let was_done = matches!(once(&first), Some(Fault::Cut(_)));
        // The second release sends each of them once more.
        assert!(is_dry_run || !was_done || seen.before == 1, "{seen:?}");
    }
    let gone = run(&stack, Goal::Destroy, &PlanOptions::default(), &options()).await;
    let report = gone.expect("all goes");
    assert_eq!(report.count(Outcome::Done), 25, "{:?}", report.steps);
    assert!(world.object("configmaps", "shop", "c0").is_none());
}
