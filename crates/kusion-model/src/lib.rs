//! Data model of the engine: the types that are written to files, stores and events. Contains no
//! behaviour.
//!
//! Start with [`Resource`] and [`Spec`] (the desired state), then [`Plan`] (the steps to reach it)
//! and [`Record`] (the journal of completed steps). Independent of clusters, stores and the
//! language.

mod attributes;
mod conflict;
mod description;
mod duration;
mod health;
mod id;
mod infrastructure;
mod list_items;
pub mod markers;
mod options;
mod owner;
mod path;
mod pattern;
mod place;
mod plan;
mod policy;
mod problem;
mod record;
pub mod references;
mod resource;
mod secret_fields;
mod spec_origins;
mod stack_key;
mod waiting;

pub use attributes::Attributes;
pub use conflict::Conflict;
pub use description::{Description, HookTime, Protection, ReplaceOrder, Requirement};
pub use duration::parse_duration;
pub use health::{Health, HealthState, Warning};
pub use id::ResourceId;
pub use infrastructure::{Infrastructure, InfrastructureId};
pub use list_items::ListItems;
pub use options::{AdoptRule, Guards, IgnoreError, IgnoreRule, MoveRule, PlanOptions};
pub use owner::{Owner, OwnerError, StackOwner};
pub use path::{FieldPath, PathStep};
pub use pattern::{FieldPattern, PatternError};
pub use place::{Place, PlaceError};
pub use plan::{Action, FieldChange, Management, Note, PLAN_VERSION, Plan, Reason, Shown, Step};
pub use policy::{PolicyDecision, PolicyException, PolicyFinding, PolicyLevel, PolicyRecord};
pub use problem::Problem;
pub use record::{
    AttemptId, Ending, GitRevision, Identity, Leftover, LoggedRecord, Operation, OperationId,
    Phase, Record, ReleaseHead, ReleaseHealth, ResourceState, RuntimeData, StackSource,
    StampedRecord,
};
pub use resource::{IMPORT_ID, Origin, OriginTable, Origins, Resource, ResourceType, Spec};
pub use secret_fields::{SECRET_FIELDS, parse_secret_fields};
pub use spec_origins::{LeafOrigin, SpecOrigins, leaf_origins};
pub use stack_key::StackKey;
pub use waiting::{HOOK_RUN, WAIT_FOR, wait_for};
