//! The same behaviour on every infrastructure: on a folder and on an embedded cluster.

use crate::things::{Things, thing};
use crate::world::{World, config, lines, namespace, options, preview, run, spec};
use kusion_engine::{EngineError, Goal, Outcome, Report, Stack};
use kusion_model::{Action, Note, Origins, Phase, PlanOptions, Reason, Resource, Spec};
use serde_json::json;

/// An infrastructure with resources that can be changed, replaced and deferred.
enum Land {
    Folder(Things),
    Cluster(Box<World>),
}

impl Land {
    fn both(name: &str) -> [Self; 2] {
        [Self::Folder(Things::new(name)), Self::Cluster(Box::new(World::start()))]
    }

    fn stack(&self) -> Stack {
        match self {
            Self::Folder(things) => things.with_faults("").stack,
            Self::Cluster(world) => world.stack.clone(),
        }
    }

    /// A resource with a value that can change.
    fn plain(&self, name: &str, value: &str) -> Vec<Resource> {
        match self {
            Self::Folder(_) => vec![thing(name, json!({"plain": value}))],
            Self::Cluster(_) => spec(&[namespace("shop"), config(name, value)]).resources,
        }
    }

    /// A resource with a value that cannot.
    fn fixed(&self, name: &str, value: &str) -> Vec<Resource> {
        match self {
            Self::Folder(_) => {
                vec![thing(name, json!({"fixed": value, "forceNew": ["fixed"]}))]
            }
            Self::Cluster(_) => {
                let mut object = config(name, value);
                object["immutable"] = json!(true);
                spec(&[namespace("shop"), object]).resources
            }
        }
    }

    /// A resource that requires another one, and that one.
    fn requiring(&self) -> Vec<Resource> {
        match self {
            Self::Folder(_) => {
                let provider = thing("zone", json!({"provides": ["zone"]}));
                let mut user = thing("user", json!({"requires": ["zone"]}));
                user.depends_on.push(provider.id.clone());
                vec![user, provider]
            }
            Self::Cluster(_) => self.plain("user", "1"),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Folder(things) => things.objects().len(),
            Self::Cluster(world) => ["a", "b", "user"]
                .iter()
                .filter(|name| world.object("configmaps", "shop", name).is_some())
                .count(),
        }
    }
}

async fn apply(land: &Land, resources: Vec<Resource>) -> Result<Report, EngineError> {
    crate::world::apply(&land.stack(), &Spec { resources, ..Spec::default() }).await
}

async fn planned(land: &Land, resources: Vec<Resource>) -> Vec<String> {
    let spec = Spec { resources, ..Spec::default() };
    let previewed = preview(&land.stack(), &spec, &PlanOptions::default()).await;
    lines(&previewed.expect("a plan"))
}

#[tokio::test]
async fn what_is_applied_stays_until_something_else_is_desired() {
    for land in Land::both("life") {
        let report = apply(&land, land.plain("a", "1")).await.expect("it is applied");
        assert_eq!(report.phase, Phase::Succeeded);
        assert!(planned(&land, land.plain("a", "1")).await.is_empty());
        let change = planned(&land, land.plain("a", "2")).await;
        assert!(matches!(change.as_slice(), [one] if one.starts_with("Update ")), "{change:?}");
        apply(&land, land.plain("a", "2")).await.expect("it is changed");
        let other = planned(&land, land.plain("b", "1")).await;
        let actions: Vec<&str> = other.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(actions, ["Create", "Delete"]);
        apply(&land, land.plain("b", "1")).await.expect("one comes, one goes");
        assert_eq!(land.count(), 1);
        run(&land.stack(), Goal::Destroy, &PlanOptions::default(), &options()).await.expect("gone");
        assert_eq!(land.count(), 0);
    }
}

#[tokio::test]
async fn what_cannot_change_is_replaced() {
    for land in Land::both("replace") {
        apply(&land, land.fixed("a", "1")).await.expect("it is applied");
        let change = planned(&land, land.fixed("a", "2")).await;
        assert!(matches!(change.as_slice(), [one] if one.starts_with("Replace ")), "{change:?}");
        let report = apply(&land, land.fixed("a", "2")).await.expect("it is replaced");
        assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
        assert!(planned(&land, land.fixed("a", "2")).await.is_empty());
        assert_eq!(land.count(), 1);
    }
}

#[tokio::test]
async fn a_dry_run_is_deferred_until_what_it_requires_exists() {
    for land in Land::both("defer") {
        let spec = Spec { resources: land.requiring(), ..Spec::default() };
        let stack = land.stack();
        let previewed = preview(&stack, &spec, &PlanOptions::default()).await.expect("a plan");
        let deferred: Vec<&str> = previewed
            .plan
            .steps
            .iter()
            .filter(|it| it.notes.iter().any(|note| matches!(note, Note::DryRunDeferred { .. })))
            .map(|it| it.id.as_str())
            .collect();
        assert!(matches!(deferred.as_slice(), [one] if one.ends_with("user")), "{deferred:?}");
        let report = apply(&land, land.requiring()).await.expect("it is applied");
        assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    }
}

#[tokio::test]
async fn a_rollback_brings_back_what_was() {
    for land in Land::both("back") {
        apply(&land, land.plain("a", "1")).await.expect("it is applied");
        apply(&land, land.plain("b", "1")).await.expect("it is changed");
        let back = Goal::Rollback { to: 1 };
        let report = run(&land.stack(), back, &PlanOptions::default(), &options()).await;
        assert_eq!(report.expect("it goes back").revision, Some(3));
        assert!(planned(&land, land.plain("a", "1")).await.is_empty());
    }
}

/// Only a folder lets the new object be made first: names of cluster objects are taken.
#[tokio::test]
async fn an_object_may_be_replaced_by_making_the_new_one_first() {
    let things = Things::new("create-first");
    let resource = |value: &str| {
        let attributes = json!({
            "fixed": value, "forceNew": ["fixed"], "createFirst": true, "secrets": {"a": "b"},
        });
        vec![thing("a", attributes)]
    };
    things.with_faults("").apply(resource("1")).await.expect("it is applied");
    let old = things.objects()[0].id.clone();
    // The old object cannot be deleted: the new one is there, and the old one is not forgotten.
    let report = things.with_faults("delete:1:permanent").apply(resource("2")).await;
    let report = report.expect("it ends");
    assert_eq!(report.count(Outcome::Failed), 1, "{report:?}");
    assert_eq!(things.objects().len(), 2, "the new one was made before the old one was deleted");
    let stack = things.with_faults("").stack;
    let state = stack.state().await.expect("a state");
    let known = state.resources.values().next().expect("a resource");
    assert_ne!(known.identity.key, old);
    assert_eq!(known.leftovers[0].identity.key, old);
    let text = serde_json::to_string(known).expect("JSON");
    for object in things.objects() {
        assert!(!text.contains(&object.token), "what the runtime remembers is sealed");
    }
    let spec = Spec { resources: resource("2"), ..Spec::default() };
    let previewed = preview(&stack, &spec, &PlanOptions::default()).await.expect("a plan");
    let step = &previewed.plan.steps[0];
    assert_eq!((step.action, &step.reason), (Action::Update, &Reason::Leftovers));
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    run(&stack, goal, &PlanOptions::default(), &options()).await.expect("it is tidied up");
    let left: Vec<String> = things.objects().into_iter().map(|it| it.id).collect();
    assert_eq!(left, [known.identity.key.as_str()]);
    let previewed = preview(&stack, &spec, &PlanOptions::default()).await.expect("a plan");
    assert!(previewed.plan.is_empty());
}

#[tokio::test]
async fn a_call_that_may_have_created_something_is_not_made_again() {
    let things = Things::new("ambiguous");
    let running = things.with_faults("apply:1:ambiguous");
    let report = running.apply_plain(1).await.expect("a report");
    assert_eq!(report.count(Outcome::Unknown), 1, "{:?}", report.steps);
    assert_eq!(things.objects().len(), 1, "no second attempt in the same run");
    let report = things.with_faults("").apply_plain(1).await.expect("a report");
    assert_eq!(report.phase, Phase::Succeeded);
    assert_eq!(things.objects().len(), 1, "the next run finds the object");
}

#[tokio::test]
async fn what_is_half_made_is_recorded_although_the_step_fails() {
    let things = Things::new("half-made");
    let running = things.with_faults("");
    let report = running.apply(vec![thing("a", json!({"halfMade": true}))]).await;
    let report = report.expect("a report");
    assert_eq!(report.steps[0].message, "it is only half made");
    assert_eq!((report.phase, report.count(Outcome::Failed)), (Phase::Failed, 1));
    let report = running.apply(vec![thing("a", json!({"plain": "1"}))]).await.expect("a report");
    assert_eq!(report.phase, Phase::Succeeded);
    assert_eq!(things.objects().len(), 1, "the recorded object was updated");
}
