//! Saved plans: applied as shown, or refused with the reason.

use crate::things::{Things, thing};
use crate::world::{World, config, key, namespace, options, preview, secret, spec};
use kusion_engine::{EngineError, Goal, Report, SavedPlanError, Stack, read_plans, write_plans};
use kusion_model::{Guards, Phase, Plan, PlanOptions, Spec};
use kusion_secret::Sealer;
use serde_json::json;

fn sealer() -> Sealer {
    Sealer::new([7; 32], "a test")
}

/// Runs the first plan of a file.
async fn run_saved(stack: &Stack, file: &str) -> Result<Report, EngineError> {
    let saved = read_plans(file.as_bytes(), &sealer())?;
    let mut locked = stack.lock(&options()).await?;
    let plan: Plan = saved.plans.into_iter().next().expect("a plan");
    match locked.load(plan, &saved.digest, &[]).await {
        Ok(previewed) => locked.run(previewed).await,
        Err(error) => {
            locked.release().await?;
            Err(error)
        }
    }
}

fn code(refused: Result<Report, EngineError>) -> &'static str {
    refused.expect_err("it is refused").code()
}

#[tokio::test]
async fn a_saved_plan_is_applied_as_shown_or_refused() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    let change = spec(&[namespace("shop"), config("a", "2"), secret("s", "canary")]);
    let force = PlanOptions { force: true, ..PlanOptions::default() };
    let previewed = preview(&world.stack, &change, &force).await.expect("a plan is made");
    let saved = write_plans(&[previewed.plan], &sealer());
    assert!(!saved.contains("canary"), "{saved}");

    world.patch_config("a", &json!({"data": {"value": "by hand"}}));
    let refused = run_saved(&world.stack, &saved).await;
    let Err(EngineError::SavedPlan(SavedPlanError::LiveMoved(ids))) = refused else {
        unreachable!("live has moved: {refused:?}")
    };
    assert_eq!(ids[0].as_str(), "v1:ConfigMap:shop:a");

    // The plan holds the options that it was made with: it takes the field back by force.
    world.patch_config("a", &json!({"data": {"value": "1"}}));
    let report = run_saved(&world.stack, &saved).await.expect("it is applied");
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert_eq!(world.object("configmaps", "shop", "a").expect("it is there")["data"]["value"], "2");
    let state = world.stack.state().await.expect("the state is there");
    let recorded = state.releases.last().and_then(|it| it.head.saved_plan.as_deref());
    let digest = read_plans(saved.as_bytes(), &sealer()).expect("a plan").digest;
    assert_eq!(recorded, Some(digest.as_str()), "the release names the file");
    assert_eq!(code(run_saved(&world.stack, &saved).await), "plan-state-moved");
}

#[tokio::test]
async fn rollbacks_and_deletions_are_saved_too() {
    let things = Things::new("saved-goals");
    let stack = &things.with_faults("").stack;
    let both = || vec![thing("a", json!({"plain": "1"})), thing("b", json!({"plain": "1"}))];
    things.with_faults("").apply(both()).await.expect("it is applied");
    things.with_faults("").apply(both()[..1].to_vec()).await.expect("it is applied");
    for (goal, left) in [(Goal::Rollback { to: 1 }, 2), (Goal::Destroy, 0)] {
        let previewed = stack.preview(goal, &PlanOptions::default()).await.expect("a plan");
        let saved = write_plans(&[previewed.plan], &sealer());
        run_saved(stack, &saved).await.expect("it is run");
        assert_eq!(things.objects().len(), left);
    }
}

#[tokio::test]
async fn guards_are_asked_again() {
    let things = Things::new("saved-guards");
    let stack = &things.with_faults("").stack;
    let disk = thing("a", json!({"kind": "Disk", "protected": true}));
    things.with_faults("").apply(vec![disk]).await.expect("it is applied");
    let allowed = Guards { allowed: vec!["Disk".into()], ..Guards::default() };
    let options = PlanOptions { guards: allowed, ..PlanOptions::default() };
    let previewed = stack.preview(Goal::Destroy, &options).await.expect("a plan");
    assert!(previewed.refusals.is_empty());
    // Somebody with the key saves a plan that no guard has seen.
    let unseen = Plan { options: PlanOptions::default(), ..previewed.plan.clone() };
    let saved = write_plans(&[unseen], &sealer());
    assert_eq!(code(run_saved(stack, &saved).await), "guarded");
    run_saved(stack, &write_plans(&[previewed.plan], &sealer())).await.expect("it was allowed");
}

#[tokio::test]
async fn plans_of_another_stack_infrastructure_or_state_are_refused() {
    let things = Things::new("saved-others");
    let running = things.with_faults("");
    let spec = Spec { resources: vec![thing("a", json!({"plain": "1"}))], ..Spec::default() };
    let plan = preview(&running.stack, &spec, &PlanOptions::default()).await.expect("a plan").plan;
    let refused = async |plan: &Plan| {
        code(run_saved(&running.stack, &write_plans(std::slice::from_ref(plan), &sealer())).await)
    };
    assert_eq!(refused(&Plan { key: key("prod"), ..plan.clone() }).await, "plan-other-stack");
    assert_eq!(refused(&Plan { state_seq: 9, ..plan.clone() }).await, "plan-state-moved");
    let mut elsewhere = plan.clone();
    elsewhere.infrastructure.values_mut().for_each(|it| it.id.push('x'));
    assert_eq!(refused(&elsewhere).await, "plan-other-infrastructure");
    assert!(things.objects().is_empty(), "nothing was made");
}

/// Changes, cuts and swaps the bytes of a file: every change is found.
#[tokio::test]
async fn tampered_plans_are_refused() {
    let things = Things::new("tampered");
    let running = things.with_faults("");
    let resources =
        (0..5).map(|n| thing(&format!("t{n}"), json!({"plain": "1", "n": n}))).collect();
    let spec = Spec { resources, ..Spec::default() };
    let plan = preview(&running.stack, &spec, &PlanOptions::default()).await.expect("a plan").plan;
    let file = write_plans(&[plan.clone(), plan], &sealer());
    let whole = read_plans(file.as_bytes(), &sealer()).expect("it is whole");
    assert_eq!(whole.plans.len(), 2);
    let mut reasons = std::collections::BTreeMap::<&str, usize>::new();
    let mut rng = fastrand::Rng::with_seed(17);
    let bytes = file.as_bytes();
    for case in 0..2000 {
        let mut changed = bytes.to_vec();
        let at = rng.usize(0..bytes.len());
        match case % 5 {
            0 => changed[at] ^= 1 << rng.u8(0..8),
            1 => changed.truncate(at),
            2 => changed.insert(at, b" {}\n,0a\""[rng.usize(0..8)]),
            3 => changed.swap(at, rng.usize(0..bytes.len())),
            _ => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|it| *it == b'\n').collect();
                let (from, to) = (rng.usize(0..lines.len()), rng.usize(0..lines.len()));
                match rng.u8(0..3) {
                    0 => lines.swap(from, to),
                    1 => {
                        lines.remove(from);
                    }
                    _ => lines.insert(to, lines[from]),
                }
                changed = lines.concat();
            }
        }
        if changed == bytes {
            continue;
        }
        // Two equal plans may change places.
        match read_plans(&changed, &sealer()) {
            Ok(_) => unreachable!("case {case} was not found"),
            Err(error) => *reasons.entry(error.code()).or_default() += 1,
        }
    }
    let sum: usize = reasons.values().sum();
    assert!(sum > 1500, "{reasons:?}");
    assert!(reasons["plan-changed"] > 1000, "{reasons:?}");
    assert!(reasons.contains_key("not-a-plan"), "{reasons:?}");
}

#[test]
fn other_keys_and_versions_are_named() {
    let file = write_plans(&[], &sealer());
    let other = Sealer::new([8; 32], "another");
    let code = |text: &str, sealer: &Sealer| {
        read_plans(text.as_bytes(), sealer).expect_err("it is refused").code()
    };
    assert_eq!(code(&file, &other), "plan-other-key");
    assert_eq!(code(&file.replace("\"version\":2", "\"version\":3"), &sealer()), "plan-version");
    let first = "{\n  \"version\": 1,\n  \"key\": {},\n  \"steps\": []\n}\n";
    assert_eq!(code(first, &sealer()), "plan-version");
    assert_eq!(code("kind: Pod\n", &sealer()), "not-a-plan");
    assert_eq!(code("", &sealer()), "not-a-plan");
}
