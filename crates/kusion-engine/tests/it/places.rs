//! Which infrastructure a stack is on.

use crate::things::{TYPE, Things, thing};
use crate::world::{World, config, key, namespace, options, preview, run, spec};
use kusion_engine::{EngineError, Goal, Runtimes};
use kusion_model::{Origins, Place, PlanOptions, Spec, StackKey};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use serde_json::json;
use std::sync::Arc;

fn one() -> Spec {
    Spec { resources: vec![thing("a", json!({"plain": "1"}))], ..Spec::default() }
}

#[tokio::test]
async fn another_runtime_leaves_every_state_as_it_was() {
    let things = Things::new("two-runtimes");
    things.with_faults("").apply(one().resources).await.expect("it is applied");
    let before = things.with_faults("").stack.engine().store().stacks().await.expect("stacks");
    let world = World::start();
    let source = ClusterSource::Text(world.sandbox.kubeconfig());
    let kubernetes = KubernetesSource::new(source, Options::default());
    let runtimes = Runtimes::default()
        .with(TYPE, Arc::new(things.runtime("")))
        .with_source(kusion_k8s_schema::RESOURCE_TYPE, Arc::new(kubernetes));
    let engine = things.engine(runtimes);
    let previewed = preview(&engine.stack(key("dev")), &one(), &PlanOptions::default()).await;
    let previewed = previewed.expect("a plan");
    assert!(previewed.plan.is_empty(), "the stack is known as before");
    assert_eq!(previewed.plan.infrastructure.len(), 1, "the other runtime was not started");
    assert_eq!(engine.store().stacks().await.expect("stacks"), before);

    // Both in one stack, and one takes a value of the other.
    let mut both = spec(&[namespace("shop"), config("a", "$kusion_path.fake:thing:a.address")]);
    both.resources[1].depends_on.push(kusion_model::ResourceId::new("fake:thing:a"));
    both.resources.extend(one().resources);
    let stack = engine.stack(key("dev"));
    let goal = Goal::Apply { spec: &both, origins: &Origins::default() };
    run(&stack, goal, &PlanOptions::default(), &options()).await.expect("it is applied");
    let value = &world.object("configmaps", "shop", "a").expect("it is there")["data"]["value"];
    assert!(value.as_str().is_some_and(|it| it.ends_with(".fake.internal")), "{value}");
    let state = stack.state().await.expect("the state is there");
    assert_eq!((state.resources.len(), state.infrastructure.len()), (3, 2));
    run(&stack, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("all goes");
    assert!(things.objects().is_empty() && world.object("configmaps", "shop", "a").is_none());
}

#[tokio::test]
async fn another_infrastructure_is_refused_unless_the_stack_moved() {
    let (here, there) = (Things::new("place-here"), Things::new("place-there"));
    here.with_faults("").apply(one().resources).await.expect("it is applied");
    let moved = Runtimes::default().with(TYPE, Arc::new(there.runtime("")));
    let stack = here.engine(moved).stack(key("dev"));
    let refused = preview(&stack, &one(), &PlanOptions::default()).await;
    let Err(EngineError::OtherInfrastructure { recorded, found, .. }) = refused else {
        unreachable!("it is another folder: {refused:?}")
    };
    assert_ne!(recorded.id, found.id);
    assert!(matches!(stack.status().await, Err(EngineError::OtherInfrastructure { .. })));
    assert!(matches!(stack.lock(&options()).await, Err(EngineError::OtherInfrastructure { .. })));

    // A second place has a state of its own.
    let second = StackKey { place: Place::Named("second".into()), ..key("dev") };
    let second = stack.engine().stack(second);
    let previewed = preview(&second, &one(), &PlanOptions::default()).await.expect("a plan");
    assert_eq!(crate::world::lines(&previewed), ["Create fake:thing:a"]);

    let relocate = PlanOptions { relocate: true, ..PlanOptions::default() };
    let mut options = options();
    options.lock.relocate = true;
    let goal = one();
    let goal = Goal::Apply { spec: &goal, origins: &Origins::default() };
    run(&stack, goal, &relocate, &options).await.expect("it moved");
    assert_eq!(there.objects().len(), 1);
    let previewed = preview(&stack, &one(), &PlanOptions::default()).await.expect("it is at home");
    assert!(previewed.plan.is_empty());
}

#[tokio::test]
async fn a_temporary_place_begins_anew_with_another_infrastructure() {
    let (first, second) = (Things::new("sandbox-1"), Things::new("sandbox-2"));
    let place = StackKey { place: Place::Sandbox("default".into()), ..key("dev") };
    let spec = one();
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    let runtimes = |things: &Things| Runtimes::default().with(TYPE, Arc::new(things.runtime("")));
    let stack = first.engine(runtimes(&first)).stack(place.clone());
    run(&stack, goal, &PlanOptions::default(), &options()).await.expect("it is applied");
    assert_eq!(stack.state().await.expect("a state").releases.len(), 1);

    let stack = first.engine(runtimes(&second)).stack(place);
    let state = stack.state().await.expect("never a refusal");
    assert!(state.resources.is_empty() && state.releases.is_empty());
    let previewed = stack.preview(goal, &PlanOptions::default()).await.expect("a plan");
    assert_eq!(crate::world::lines(&previewed), ["Create fake:thing:a"]);
    let mut locked = stack.lock(&options()).await.expect("never a refusal");
    let previewed = locked.check(previewed).await.expect("nothing has moved");
    let report = locked.run(previewed).await.expect("it is applied");
    assert_eq!(report.revision, Some(1));
    assert_eq!(second.objects().len(), 1);
    let state = stack.state().await.expect("a state");
    assert_eq!((state.resources.len(), state.releases.len()), (1, 1));
}
