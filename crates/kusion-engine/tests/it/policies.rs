//! Policies: evaluated on every plan, and again when a plan runs.

use crate::world::{World, config, namespace, options, preview, run, secret, spec};
use kusion_engine::{
    EngineError, Goal, PolicyCheck, PolicyInput, Stack, StackPolicies, read_plans, write_plans,
};
use kusion_model::{
    FieldPath, Origins, Plan, PlanOptions, PolicyDecision, PolicyFinding, PolicyLevel,
};
use kusion_secret::Sealer;
use std::sync::{Arc, Mutex};

/// A policy that finds config maps with a value.
struct Forbidden {
    value: &'static str,
    level: PolicyLevel,
    /// What it has seen.
    seen: Mutex<String>,
}

impl PolicyCheck for Forbidden {
    fn check(&self, input: &PolicyInput<'_>) -> Result<Vec<PolicyFinding>, String> {
        let all = format!("{:?} {:?} {}", input.plan.steps, input.live, input.actor);
        self.seen.lock().expect("no test panics while it checks").push_str(&all);
        let bad = |step: &&kusion_model::Step| {
            step.desired.as_ref().is_some_and(|it| it.attributes["data"]["value"] == self.value)
        };
        let finding = |step: &kusion_model::Step| PolicyFinding {
            policy: "values".to_owned(),
            level: self.level,
            message: format!("the value {} is forbidden", self.value),
            resource: Some(step.id.clone()),
            path: FieldPath::default().key("data").key("value"),
            origin: None,
            fix: String::new(),
            role: "sre".to_owned(),
            exception: None,
        };
        Ok(input.plan.steps.iter().filter(bad).map(finding).collect())
    }
}

fn with(stack: &Stack, value: &'static str, level: PolicyLevel) -> (Stack, Arc<Forbidden>) {
    let check = Arc::new(Forbidden { value, level, seen: Mutex::default() });
    let policies = StackPolicies { check: Arc::clone(&check) as _, actor: "ann".to_owned() };
    (stack.clone().with_policies(Some(policies)), check)
}

fn sealer() -> Sealer {
    Sealer::new([7; 32], "a test")
}

async fn run_saved(
    stack: &Stack,
    file: &str,
    decisions: &[PolicyDecision],
) -> Result<(), EngineError> {
    let saved = read_plans(file.as_bytes(), &sealer())?;
    let mut locked = stack.lock(&options()).await?;
    let plan: Plan = saved.plans.into_iter().next().expect("a plan");
    let previewed = locked.load(plan, &saved.digest, decisions).await?;
    locked.run(previewed).await.map(drop)
}

#[tokio::test]
async fn a_denied_change_is_refused_everywhere() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "bad")]).await.expect("it is applied");
    world.apply(&[namespace("shop"), config("a", "good")]).await.expect("it is applied");
    let bad = spec(&[namespace("shop"), config("a", "bad")]);
    let unseen = preview(&world.stack, &bad, &PlanOptions::default()).await.expect("a plan");
    let saved = write_plans(&[unseen.plan], &sealer());

    let (stack, _) = with(&world.stack, "bad", PolicyLevel::Deny);
    let force = PlanOptions { force: true, ..PlanOptions::default() };
    let origins = Origins::default();
    let apply = Goal::Apply { spec: &bad, origins: &origins };
    for (goal, plan) in [
        (apply, PlanOptions::default()),
        (apply, force),
        (Goal::Rollback { to: 1 }, PlanOptions::default()),
    ] {
        let previewed = stack.preview(goal, &plan).await.expect("a plan is shown");
        assert_eq!(previewed.refusals.len(), 1);
        let error = run(&stack, goal, &plan, &options()).await.expect_err("it is refused");
        assert_eq!(error.code(), "policy");
        let text = error.to_string();
        assert!(text.contains("plan rejected by policies; nothing was changed"), "{text}");
        assert!(text.contains("policy `values`: v1:ConfigMap:shop:a: the value bad"), "{text}");
    }
    let error = run_saved(&stack, &saved, &[]).await.expect_err("it is refused");
    assert_eq!(error.code(), "policy", "a plan that was saved before the policy");
    let object = world.object("configmaps", "shop", "a").expect("it is there");
    assert_eq!(object["data"]["value"], "good");
}

#[tokio::test]
async fn an_approved_plan_runs_and_others_do_not() {
    let world = World::start();
    let (stack, _) = with(&world.stack, "bad", PolicyLevel::Approve);
    let bad = spec(&[namespace("shop"), config("a", "bad")]);
    let previewed = preview(&stack, &bad, &PlanOptions::default()).await.expect("a plan");
    let record = previewed.plan.policies.clone().expect("a record");
    assert_eq!((record.actor.as_str(), record.findings.len()), ("ann", 1));
    assert!(record.now > 0);
    let saved = write_plans(&[previewed.plan], &sealer());
    let by = |role: &str| {
        let (role, actor) = (role.to_owned(), "bob".to_owned());
        [PolicyDecision { role, actor, time: 1, reason: String::new() }]
    };
    for decisions in [&[][..], &by("dev")] {
        let error = run_saved(&stack, &saved, decisions).await.expect_err("it is refused");
        assert_eq!(error.code(), "policy");
    }
    run_saved(&stack, &saved, &by("sre")).await.expect("it is approved");
}

#[tokio::test]
async fn warnings_let_plans_run_and_policies_never_see_secrets() {
    let world = World::start();
    world.apply(&[namespace("shop"), secret("s", "canary-1")]).await.expect("it is applied");
    let (stack, check) = with(&world.stack, "bad", PolicyLevel::Warn);
    let bad = spec(&[namespace("shop"), config("a", "bad"), secret("s", "canary-2")]);
    let origins = Origins::default();
    let goal = Goal::Apply { spec: &bad, origins: &origins };
    run(&stack, goal, &PlanOptions::default(), &options()).await.expect("it is applied");
    let seen = check.seen.lock().expect("no test panics while it checks").clone();
    assert!(seen.contains("ann") && seen.contains("(secret)"), "{seen}");
    assert!(!seen.contains("canary") && !seen.contains("Y2FuYXJ5"), "{seen}");
}

#[tokio::test]
async fn live_objects_are_read_without_secrets() {
    let world = World::start();
    let all = [namespace("shop"), config("a", "1"), secret("s", "canary-1")];
    world.apply(&all).await.expect("it is applied");
    let live = world.stack.live_without_secrets().await.expect("live objects");
    assert_eq!(live.len(), 3);
    let text = format!("{live:?}");
    assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
}
