//! Brings stacks to what they want to be: preview, apply, destroy, roll back, watch.
//!
//! API boundary. [`Engine`] joins a store, runtimes and a sealer of secrets. It decides nothing
//! by itself: plans come from `kusion-plan`, calls go to a `Runtime`, what happened goes to the
//! journal before anything that rests on it. It prints nothing; it emits [`Event`]s. Knows no
//! language and no command line.

mod call;
mod clock;
mod engine;
mod error;
mod event;
mod execute;
mod ignore;
mod observe;
mod operation;
mod points;
mod preview;
mod recover;
mod references;
mod report;
mod saved;
mod schedule;
mod stop;
mod wanted;
mod watch;

pub use engine::{Engine, Runtimes};
pub use error::{EngineError, Finding};
pub use event::{EVENT_VERSION, Event, EventSink, ObjectName, Outcome, RelatedObject, Silent};
pub use ignore::{IgnoreError, IgnoreRule};
pub use operation::{ApplyOptions, Confirm, LockOptions};
pub use points::{Point, Points};
pub use preview::{PreviewOptions, Previewed};
pub use report::{Report, StepReport};
pub use saved::{SavedPlanError, read_plan, write_plan};
pub use stop::Stop;
pub use watch::{ResourceStatus, WatchEnd, WatchOptions, Watched};
