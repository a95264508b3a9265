//! The JSON output for programs, version 2.
//!
//! Commands that work on stacks print *lines*: each is one object with `version`, `event` and the
//! fields of its type here. Events of the engine ([`kusion_engine::StampedEvent`]) are lines as
//! they are. Commands that only list something print one *document*.

mod cells;
mod documents;
mod impact;
mod lines;
mod policies;
mod providers;

pub use cells::{
    CellsDocument, CheckDocument, ExplainDocument, ExplainedLayer, ExplainedValue, Finding,
    ListedCell, OriginsDocument, StackOrigins,
};
pub use documents::{
    Dependencies, GraphDocument, GraphStack, ListedProject, ListedStack, ProjectsDocument,
    SandboxDocument, SandboxEnd, VersionDocument,
};
pub use impact::{ImpactDocument, ImpactedValue, SkippedValue};
pub use lines::{
    CheckLine, DiagnosticsLine, ErrorLine, Line, PlanLine, ReleaseLine, ReplayLine, StackLine,
    StatusLine, SummaryLine, WatchLine,
};
pub use policies::{PoliciesDocument, ReplayDocument};
pub use providers::ProviderLine;
