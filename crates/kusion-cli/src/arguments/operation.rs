//! How plans are made and run.

use super::duration;
use kusion_engine::{LockOptions, RunOptions, Stop};
use kusion_model::{Guards, IgnoreRule, PlanOptions};
use kusion_store::{Holder, LockWait};
use std::time::Duration;

/// How a plan is made.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PlanArgs {
    /// Only resources with this id and what they depend on; `*` stands for any text
    #[arg(long = "target", value_name = "ID")]
    targets: Vec<String>,
    /// Field that keeps its live value, `[Kind:]spec.a[*].b`
    #[arg(long, value_name = "RULE")]
    ignore_fields: Vec<IgnoreRule>,
    /// Take over fields that others manage
    #[arg(long)]
    force_conflicts: bool,
    /// Allow a plan that deletes most of a stack
    #[arg(long)]
    allow_mass_delete: bool,
    /// Allow deleting resources of this protected kind, or with this id
    #[arg(long, value_name = "KIND|ID")]
    allow_delete: Vec<String>,
    /// Allow that the stack moved to another cluster: resources that are missing there are created
    #[arg(long)]
    move_to_cluster: bool,
}

/// How long to wait for a stack that another process has locked.
#[derive(Debug, Clone, clap::Args)]
struct LockArgs {
    /// How long to wait for a stack that another process has locked; without it, not at all
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    lock_wait: Option<Duration>,
}

/// How many calls are made at a time.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ParallelArgs {
    /// How many calls run at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: u16,
}

/// How steps are done.
#[derive(Debug, Clone, clap::Args)]
struct StepArgs {
    #[command(flatten)]
    parallel: ParallelArgs,
    /// How long one step may take, and how long to wait until everything is ready
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    timeout: Duration,
    /// Start no other step after one has failed
    #[arg(long)]
    fail_fast: bool,
}

/// How a change of stacks is planned, agreed to and done.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    lock: LockArgs,
    #[command(flatten)]
    steps: StepArgs,
    /// Apply the plan without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

impl PlanArgs {
    /// Returns how the engine makes a plan.
    pub(crate) fn options(&self) -> PlanOptions {
        PlanOptions {
            targets: self.targets.clone(),
            ignore: self.ignore_fields.clone(),
            force: self.force_conflicts,
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
    /// Returns how many calls run at a time.
    pub(crate) fn count(self) -> usize {
        usize::from(self.parallel)
    }
}

impl ChangeArgs {
    /// Returns how many calls run at a time.
    pub(crate) fn parallel(&self) -> usize {
        self.steps.parallel.count()
    }

    /// Returns how the engine makes the plan.
    pub(crate) fn plan(&self) -> PlanOptions {
        self.plan.options()
    }

    /// Returns how the engine does the operation of a command.
    pub(crate) fn options(&self, command: &str, stop: &Stop) -> RunOptions {
        let holder = Holder::current(format!("kusion {command}"));
        let wait = self.lock.lock_wait.map_or(LockWait::No, LockWait::For);
        let relocate = self.plan.move_to_cluster;
        RunOptions {
            lock: LockOptions { holder: holder.clone(), wait, relocate },
            keep_going: !self.steps.fail_fast,
            timeout: self.steps.timeout,
            stop: stop.clone(),
            ..RunOptions::new(holder)
        }
    }
}
