//! Options of plans and operations.

use super::{DiffArgs, DiffForm, duration};
use kusion_engine::{LockOptions, ReleaseNote, RunOptions, Stop};
use kusion_model::{Guards, IgnoreRule, PlanOptions};
use kusion_store::{Holder, LockWait};
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
    /// Time to wait for the lock of a stack [default: fail immediately]
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
    /// Timeout of each step, and of waiting until all resources are ready
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    timeout: Duration,
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
    /// Returns the plan options of the engine.
    pub(crate) fn options(&self) -> PlanOptions {
        PlanOptions {
            targets: self.targets.clone(),
            ignore: self.ignore_fields.clone(),
            force: self.force_conflicts,
            take_over: self.take_over.clone(),
            relocate: self.move_to_cluster,
            guards: Guards {
                allow_mass_delete: self.allow_mass_delete,
                allowed: self.allow_delete.clone(),
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

    /// Returns the plan options of the engine.
    pub(crate) fn plan(&self) -> PlanOptions {
        self.plan.options()
    }

    /// Returns the form of the differences of plans.
    pub(crate) fn diff_form(&self) -> DiffForm {
        self.diff.form()
    }

    /// Returns the run options of the engine for a command.
    pub(crate) fn options(&self, command: &str, stop: &Stop) -> RunOptions {
        let holder = Holder::current(format!("kusion {command}"));
        let wait = self.lock.lock_wait.map_or(LockWait::No, LockWait::For);
        let relocate = self.plan.move_to_cluster;
        RunOptions {
            lock: LockOptions { holder: holder.clone(), wait, relocate },
            keep_going: !self.steps.fail_fast,
            timeout: self.steps.timeout,
            stop: stop.clone(),
            note: ReleaseNote { message: self.message.clone().unwrap_or_default(), git: None },
            ..RunOptions::new(holder)
        }
    }
}
