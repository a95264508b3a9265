//! Options of plans and operations.

use super::{DiffArgs, DiffForm, duration};
use kusion_engine::{
    DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT, LockOptions, ReleaseNote, RunOptions, Stop,
};
use kusion_generate::{Stack, Timeouts};
use kusion_model::{GitRevision, Guards, IgnoreRule, PlanOptions};
use kusion_store::{Holder, LockWait};
use std::collections::BTreeMap;
use std::time::Duration;

/// Options of a plan.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PlanArgs {
    /// Only the resource with this id and its dependencies; `*` matches any text
    #[arg(long = "target", value_name = "ID")]
    targets: Vec<String>,
    /// Field to ignore, `[Kind:]spec.a[*].b`; it keeps its live value
    #[arg(long, value_name = "RULE")]
    ignore_fields: Vec<IgnoreRule>,
    /// Take over fields that other managers own
    #[arg(long)]
    force_conflicts: bool,
    /// Take over the resource with this id from another stack or tool; `*` matches any text
    #[arg(long, value_name = "ID")]
    take_over: Vec<String>,
    /// Allow plans that delete or replace most resources of a stack
    #[arg(long)]
    allow_mass_delete: bool,
    /// Allow deleting protected resources of this kind or with this id
    #[arg(long, value_name = "KIND|ID")]
    allow_delete: Vec<String>,
    /// Confirm that the stack moved to another cluster; resources that are missing there are
    /// created
    #[arg(long)]
    move_to_cluster: bool,
}

/// Options of the lock.
#[derive(Debug, Clone, clap::Args)]
struct LockArgs {
    /// Time to wait for the lock of a stack [default: `timeouts` of `stack.yaml`, else fail
    /// immediately]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    lock_wait: Option<Duration>,
}

/// The number of parallel calls.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ParallelArgs {
    /// Number of parallel calls
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: u16,
}

/// Options of steps.
#[derive(Debug, Clone, clap::Args)]
struct StepArgs {
    #[command(flatten)]
    parallel: ParallelArgs,
    /// Timeout of each step, and of waiting until all resources are ready [default: `timeouts` of
    /// `stack.yaml`, else 5m]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Start no more steps after one has failed
    #[arg(long)]
    fail_fast: bool,
}

/// Options of commands that change stacks.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    lock: LockArgs,
    #[command(flatten)]
    steps: StepArgs,
    #[command(flatten)]
    diff: DiffArgs,
    /// Skip the confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Message of the release, shown by `kusion release list`
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// Name of a stack with `confirm: name` in `stack.yaml`, as `project/stack`; confirms its
    /// changes
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm: Vec<String>,
}

impl PlanArgs {
    /// Returns the plan options of the engine, with the rules of a stack.
    pub(crate) fn options(&self, stack: Option<&Stack>) -> PlanOptions {
        let file = stack.map(|it| &it.file);
        let mut ignore = self.ignore_fields.clone();
        ignore.extend(file.into_iter().flat_map(|it| it.ignore_fields.iter().cloned()));
        PlanOptions {
            targets: self.targets.clone(),
            ignore,
            force: self.force_conflicts,
            moved: file.map(|it| it.moved.clone()).unwrap_or_default(),
            adopt: file.map(|it| it.adopt.clone()).unwrap_or_default(),
            take_over: self.take_over.clone(),
            relocate: self.move_to_cluster,
            guards: Guards {
                allow_mass_delete: self.allow_mass_delete,
                allowed: self.allow_delete.clone(),
                allowed_by_stack: file.map(|it| it.allow_delete.clone()).unwrap_or_default(),
                ..Guards::default()
            },
        }
    }
}

impl ParallelArgs {
    /// Returns the number of parallel calls.
    pub(crate) fn count(self) -> usize {
        usize::from(self.parallel)
    }
}

impl ChangeArgs {
    /// Returns the number of parallel calls.
    pub(crate) fn parallel(&self) -> usize {
        self.steps.parallel.count()
    }

    /// Returns the plan options of the engine, with the rules of a stack.
    pub(crate) fn plan(&self, stack: Option<&Stack>) -> PlanOptions {
        self.plan.options(stack)
    }

    /// Returns the form of the differences of plans.
    pub(crate) fn diff_form(&self) -> DiffForm {
        self.diff.form()
    }

    /// Returns the run options of the engine for a command, with the rules of a stack.
    pub(crate) fn options(
        &self,
        command: &str,
        stack: Option<&Stack>,
        git: Option<GitRevision>,
        stop: &Stop,
    ) -> RunOptions {
        let holder = Holder::current(format!("kusion {command}"));
        let none = Timeouts::default();
        let rules = stack.map_or(&none, |it| &it.file.timeouts);
        let wait = self.lock.lock_wait.or(rules.lock).map_or(LockWait::No, LockWait::For);
        let step = self.steps.timeout.or(rules.step).unwrap_or(DEFAULT_TIMEOUT);
        let relocate = self.plan.move_to_cluster;
        RunOptions {
            lock: LockOptions { holder, wait, relocate, settle: BTreeMap::new() },
            keep_going: !self.steps.fail_fast,
            timeout: step,
            attempts: stack.and_then(|it| it.file.attempts).unwrap_or(DEFAULT_ATTEMPTS),
            ready_timeout: self.steps.timeout.or(rules.ready).unwrap_or(step),
            stop: stop.clone(),
            note: ReleaseNote { message: self.message.clone().unwrap_or_default(), git },
        }
    }
}
