//! What the Kubernetes API looks like: resources, their types, and how lists and maps merge.
//!
//! The built-in kinds come from a compressed table in `data/`, generated from a real API server by
//! `cargo xtask k8s-schema`; custom kinds come from the structural schemas of their CRDs. Both
//! give the same [`TypeTable`]. Knows nothing of storage, HTTP or the engine: the sandbox, the
//! merge code and the planner all read from here. Start reading at `model.rs`.

mod annotations;
mod builtin;
mod cause;
mod cel;
mod decode;
pub mod devices;
pub mod discovery;
mod first;
mod go_text;
mod model;
pub mod names;
mod object_id;
pub mod openapi;
pub mod policy;
mod protobuf;
mod quantity;
mod quote;
pub mod selector;
mod structural;
pub mod table;
mod time;

pub use annotations::{
    AnnotationProblem, ENGINE_PREFIX, OWNER, SANDBOX_PREFIX, annotation_problem,
    annotation_problems, milliseconds, scripted_metric,
};
pub use builtin::{
    Builtin, GroupInfo, ResourceInfo, SubresourceInfo, builtin, committed_table, described_table,
    table_file, version,
};
pub use cause::{Cause, join_causes};
pub use cel::{AccessQuery, Authorizer};
pub use decode::{
    Decoded, Expected, Finding, Format, cannot_handle, check, decode, normalize, normalize_applied,
    parse, strict_error, zero_value,
};
pub use first::{first_objects, first_objects_file};
pub use go_text::go_text_of_template;
pub use model::{
    Field, ListKind, Listing, Mapping, Presence, Scalar, Struct, Type, TypeId, TypeTable,
};
pub use object_id::{ObjectId, RESOURCE_TYPE, is_secret};
pub use protobuf::{PROTOBUF_TYPE, decode_protobuf};
pub use quantity::{QUANTITY_MESSAGE, Quantity, canonical_quantity};
pub use quote::{push_quoted, quoted};
pub use structural::{Structural, structural};
pub use time::{
    Instant, canonical_micro_time, canonical_time, format_micro_time, format_time, parse_time,
};
