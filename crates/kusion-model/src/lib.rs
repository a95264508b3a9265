//! The words of the engine as data: what is written to files, stores and events, and nothing
//! that acts on it.
//!
//! Start with [`Resource`] and [`Spec`] (what a stack compiles to), then [`Plan`] (what is to be
//! done) and [`Record`] (what was done). Knows no cluster, no store and no language.

mod attributes;
mod health;
mod id;
pub mod markers;
mod path;
mod plan;
mod record;
pub mod references;
mod resource;
mod stack_key;

pub use attributes::Attributes;
pub use health::{Health, HealthState, Warning};
pub use id::{KubernetesId, ResourceId};
pub use path::{FieldPath, PathStep};
pub use plan::{Action, FieldChange, PLAN_VERSION, Plan, Reason, Shown, Step};
pub use record::{
    Ending, Identity, LoggedRecord, Operation, OperationId, Phase, Record, ReleaseHead,
    ResourceState,
};
pub use resource::{Origin, OriginTable, Origins, Resource, ResourceType, Spec};
pub use stack_key::StackKey;
