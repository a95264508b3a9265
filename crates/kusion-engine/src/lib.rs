//! Operations on stacks: preview, apply, destroy, roll back, watch.
//!
//! API boundary. [`Engine`] joins a store, runtimes and a sealer of secrets; [`Engine::stack`]
//! returns a handle of one [`Stack`]. A plan is a value: [`Stack::preview`] makes one,
//! [`Stack::lock`] and [`LockedStack::run`] run it. Decisions are made by `kusion-plan`, calls go
//! to a `Runtime`, and results are written to the journal before any dependent step starts. The
//! engine prints nothing; it emits [`StampedEvent`]s. Independent of the language, of kinds of
//! infrastructure and of the command line.

mod call;
mod decisions;
mod desired;
mod engine;
mod error;
mod event;
mod execute;
mod failpoints;
mod guard;
mod hooks;
mod ignore;
mod lock;
mod log;
mod moves;
mod observe;
mod operation;
mod ownership;
mod policies;
mod preview;
mod readiness;
mod recover;
mod references;
mod release_health;
mod replay;
mod report;
mod saved;
mod schedule;
mod scope;
mod secrets;
mod source;
mod stack;
mod stages;
mod stop;
mod watch;

pub use decisions::{read_decisions, write_decision};
pub use engine::{Engine, Runtimes};
pub use error::{EngineError, Finding};
pub use event::{
    EVENT_VERSION, Event, EventSink, ObjectName, Outcome, RelatedObject, Silent, StampedEvent,
};
pub use failpoints::{Failpoint, Failpoints};
pub use lock::LockedStack;
pub use operation::{
    DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT, LockOptions, ReleaseNote, RunOptions, Settlement,
};
pub use policies::{PolicyCheck, PolicyInput, StackPolicies};
pub use preview::{Goal, Previewed};
pub use readiness::DEFAULT_SETTLE;
pub use release_health::{StackHealth, last_ready};
pub use report::{Report, StepReport};
pub use saved::{SavedPlanError, SavedPlans, read_plans, write_plans};
pub use stack::Stack;
pub use stop::Stop;
pub use watch::{ResourceStatus, WatchEnd, WatchOptions, Watched};
