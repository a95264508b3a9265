//! Objects of several stacks, stores and tools.

use crate::world::{
    World, apply, config, key, lines, namespace, options, preview, run, sealer, spec, store_on,
};
use kusion_engine::{Engine, EngineError, Goal, Runtimes, Stack};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{Action, Note, Origins, PlanOptions, Reason, StackSource};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_store::Memory;
use serde_json::{Value, json};
use std::sync::Arc;

const CONFIG: &str = "v1:ConfigMap:shop:a";

async fn refusals(stack: &Stack, objects: &[Value], options: &PlanOptions) -> Vec<String> {
    let previewed = preview(stack, &spec(objects), options).await.expect("a plan");
    previewed.refusals.iter().map(ToString::to_string).collect()
}

fn take_over(id: &str) -> PlanOptions {
    PlanOptions { take_over: vec![id.to_owned()], ..PlanOptions::default() }
}

/// The same cluster, with the states in another store.
fn elsewhere(world: &World) -> Engine {
    let source = ClusterSource::Text(world.sandbox.kubeconfig());
    let kubernetes = KubernetesSource::new(source, Options::default());
    let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
    let store = store_on(Arc::new(Memory::default()));
    Engine::new(store, runtimes, sealer(), Arc::clone(&world.events) as _)
}

#[tokio::test]
async fn an_object_belongs_to_one_stack() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    let theirs = [config("a", "2")];
    let refused = refusals(&other, &theirs, &PlanOptions::default()).await;
    assert_eq!(refused, [format!("{CONFIG} belongs to stack shop/dev")]);
    let applied = apply(&other, &spec(&theirs)).await;
    assert!(matches!(applied, Err(EngineError::Guarded(_))), "{applied:?}");
    let forced = PlanOptions { force: true, ..PlanOptions::default() };
    assert_eq!(refusals(&other, &theirs, &forced).await.len(), 1, "force is for fields");
    let live = world.object("configmaps", "shop", "a").expect("it is there");
    assert_eq!(live["data"]["value"], "1");
}

#[tokio::test]
async fn an_object_is_taken_over_on_purpose_and_its_stack_is_told() {
    let world = World::start();
    let ours = [namespace("shop"), config("a", "1")];
    world.apply(&ours).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    let theirs = spec(&[config("a", "2")]);
    let goal = Goal::Apply { spec: &theirs, origins: &Origins::default() };
    let previewed = preview(&other, &theirs, &take_over(CONFIG)).await.expect("a plan");
    assert_eq!(lines(&previewed), [format!("Adopt {CONFIG}")]);
    let notes = &previewed.plan.steps[0].notes;
    assert!(
        matches!(&notes[..], [Note::TakesOver { owner }] if owner.to_string() == "stack shop/dev")
    );
    run(&other, goal, &take_over(CONFIG), &options()).await.expect("it is applied");
    let live = world.object("configmaps", "shop", "a").expect("it is there");
    assert_eq!(live["data"]["value"], "2");

    let refused = refusals(&world.stack, &ours, &PlanOptions::default()).await;
    assert_eq!(refused, [format!("{CONFIG} belongs to stack shop/other")]);
    // Without it the stack forgets it, and deletes nothing.
    let previewed = world.preview(&ours[..1]).await.expect("a plan");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str() == CONFIG).expect("a step");
    assert_eq!(step.action, Action::Forget);
    assert!(matches!(&step.reason, Reason::Owned { .. }));
    world.apply(&ours[..1]).await.expect("it is applied");
    assert!(world.object("configmaps", "shop", "a").is_some());
}

#[tokio::test]
async fn a_destroyed_stack_leaves_what_was_taken_over() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    let (first, second) = (world.engine.stack(key("first")), world.engine.stack(key("second")));
    let object = spec(&[config("a", "1")]);
    apply(&first, &object).await.expect("it is applied");
    let goal = Goal::Apply { spec: &object, origins: &Origins::default() };
    run(&second, goal, &take_over("*"), &options()).await.expect("it is applied");
    run(&first, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    assert!(world.object("configmaps", "shop", "a").is_some());
    assert_eq!(world.engine.store().read(first.key()).await.expect("a state").resources.len(), 0);
    run(&second, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    assert!(world.object("configmaps", "shop", "a").is_none());
}

#[tokio::test]
async fn objects_of_other_tools_are_refused() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    world.make_config("a", "1");
    let mark = json!({"metadata": {"annotations": {"meta.helm.sh/release-name": "web"}}});
    world.patch_config("a", &mark);
    let objects = [namespace("shop"), config("a", "1")];
    let refused = refusals(&world.stack, &objects, &PlanOptions::default()).await;
    assert_eq!(refused, [format!("{CONFIG} belongs to Helm release `web`")]);
    world
        .apply_with(&objects, &take_over(CONFIG), &options())
        .await
        .expect("it is taken over on purpose");
    assert_eq!(refusals(&world.stack, &objects, &PlanOptions::default()).await, [""; 0]);
    assert_eq!(world.planned(&objects).await, [""; 0]);
}

#[tokio::test]
async fn an_object_without_marks_is_adopted_and_the_plan_says_what_that_means() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    world.make_config("a", "1");
    let objects = [namespace("shop"), config("a", "1")];
    let previewed = world.preview(&objects).await.expect("a plan");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str() == CONFIG).expect("a step");
    assert_eq!((step.action, &step.notes[..]), (Action::Adopt, &[Note::Adopts][..]));
    world.apply(&objects).await.expect("it is applied");
    assert_eq!(world.planned(&objects).await, [""; 0]);
}

#[tokio::test]
async fn the_same_stack_in_another_store_is_refused() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    let lost = elsewhere(&world).stack(key("dev"));
    let refused = refusals(&lost, &objects, &PlanOptions::default()).await;
    assert_eq!(
        refused,
        [
            format!("{CONFIG} belongs to this stack in another store"),
            "v1:Namespace:shop belongs to this stack in another store".to_owned(),
        ]
    );
    let spec = spec(&objects);
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    run(&lost, goal, &take_over("*"), &options()).await.expect("it is taken over");
    let refused = refusals(&world.stack, &objects, &PlanOptions::default()).await;
    assert_eq!(refused.len(), 2, "the first store no longer owns them");
}

#[tokio::test]
async fn a_shared_object_is_created_and_never_deleted() {
    let world = World::start();
    let mut team = namespace("shop");
    team["metadata"]["annotations"] = json!({"kusion.io/shared": "true"});
    let mut changed = team.clone();
    changed["metadata"]["labels"] = json!({"team": "a"});
    world.apply(&[team.clone(), config("a", "1")]).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    let theirs = spec(&[changed, config("b", "1")]);
    let previewed = preview(&other, &theirs, &PlanOptions::default()).await.expect("a plan");
    assert_eq!(lines(&previewed), ["Create v1:ConfigMap:shop:b"]);
    apply(&other, &theirs).await.expect("it is applied");
    for stack in [&world.stack, &other] {
        let state = world.engine.store().read(stack.key()).await.expect("a state");
        assert_eq!(state.resources.len(), 2, "the shared object is known");
        run(stack, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    }
    assert!(world.object("configmaps", "shop", "b").is_none());
    let left = crate::world::get(&world.sandbox, "/api/v1/namespaces/shop").expect("it stays");
    assert_eq!(left["metadata"].get("labels").and_then(|it| it.get("team")), None);
}

#[tokio::test]
async fn an_object_that_lost_its_mark_gets_it_again() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    world.patch_config("a", &json!({"metadata": {"annotations": {"kusion.io/owner": null}}}));
    let previewed = world.preview(&objects).await.expect("a plan");
    assert_eq!(lines(&previewed), [format!("Update {CONFIG}")]);
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str() == CONFIG).expect("a step");
    assert_eq!((&step.reason, step.changes.len()), (&Reason::Unmarked, 0));
    world.apply(&objects).await.expect("it is applied");
    assert_eq!(world.planned(&objects).await, [""; 0]);
}

#[tokio::test]
async fn a_stack_is_deployed_from_one_place() {
    let world = World::start();
    let objects = spec(&[namespace("shop"), config("a", "1")]);
    let id = |id: &str| StackSource::Project { id: id.to_owned() };
    let git = StackSource::Git { remote: "host/repo".into(), folder: "dev".into() };
    let from = |sources: Vec<StackSource>| world.engine.stack(key("dev")).with_sources(sources);
    apply(&from(vec![git.clone()]), &objects).await.expect("it is applied");

    let other = from(vec![id("x")]);
    let refused = preview(&other, &objects, &PlanOptions::default()).await;
    let Err(EngineError::OtherSource { recorded, found, .. }) = refused else {
        unreachable!("it is refused")
    };
    assert_eq!((*recorded, *found), (git.clone(), id("x")));
    let destroyed = run(&other, Goal::Destroy, &PlanOptions::default(), &options()).await;
    assert!(matches!(destroyed, Err(EngineError::OtherSource { .. })));
    // Nothing is known of a copy without Git.
    preview(&from(Vec::new()), &objects, &PlanOptions::default()).await.expect("a plan");

    // The same repository, whose project has an id now: the id is recorded.
    let both = from(vec![id("x"), git.clone()]);
    let changed = spec(&[namespace("shop"), config("a", "2")]);
    apply(&both, &changed).await.expect("it is applied");
    preview(&other, &objects, &PlanOptions::default()).await.expect("a plan");
    let refused = preview(&from(vec![git.clone()]), &objects, &PlanOptions::default()).await;
    assert!(matches!(refused, Err(EngineError::OtherSource { .. })));

    let mut locked = from(vec![git.clone()]).lock(&options()).await.expect("a lock");
    assert_eq!(locked.move_source().await.expect("moved"), Some(git.clone()));
    locked.release().await.expect("released");
    let back = from(vec![git]);
    run(&back, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    // A name without resources is free again.
    preview(&other, &objects, &PlanOptions::default()).await.expect("a plan");
}

#[tokio::test]
async fn a_forgotten_stack_leaves_its_objects() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    world.stack.forget_all(&options()).await.expect("forgotten");
    let state = world.engine.store().read(world.stack.key()).await.expect("a state");
    assert_eq!((state.resources.len(), state.releases.len()), (0, 1));
    assert!(world.object("configmaps", "shop", "a").is_some());
    // They are still marked as the stack's own.
    let objects = [namespace("shop"), config("a", "1")];
    assert_eq!(refusals(&world.stack, &objects, &PlanOptions::default()).await, [""; 0]);
}

#[tokio::test]
async fn a_namespace_is_kept_for_objects_that_were_taken_over() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    let theirs = spec(&[config("a", "1")]);
    let goal = Goal::Apply { spec: &theirs, origins: &Origins::default() };
    run(&other, goal, &take_over(CONFIG), &options()).await.expect("it is applied");
    // The state of the first stack still lists the object.
    let refused = run(&world.stack, Goal::Destroy, &PlanOptions::default(), &options()).await;
    let Err(EngineError::Guarded(refusals)) = refused else { unreachable!("it is refused") };
    assert!(refusals[0].to_string().ends_with("not part of this stack: ConfigMap a"));
    assert!(world.object("configmaps", "shop", "a").is_some());
}
