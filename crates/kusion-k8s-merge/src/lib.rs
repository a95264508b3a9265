//! Merges two versions of a Kubernetes object: JSON patch, merge patch, strategic merge
//! patch and server-side apply with managed fields.
//!
//! Pure functions over JSON and a [`TypeTable`](kusion_k8s_schema::TypeTable). Knows nothing of
//! storage, HTTP or the engine. Start reading at `managed.rs` (server-side apply) and `typed.rs`
//! (the traversals that it uses).

pub mod fields_v1;
mod go;
mod managed;
mod patch;
mod path;
mod set;
mod typed;

pub use managed::{
    Applied, ApplyError, Conflict, Conflicts, OneVersion, ReplicasPath, Versions, Writer, apply,
    custom_reset_fields, is_reset, keep_times, reset_fields, scale_to_parent, scale_to_subresource,
    update,
};
pub use patch::{PatchError, json_patch, merge_patch, strategic_merge};
pub use path::{KeyPart, PathElement, Single};
pub use set::Set;
pub use typed::{Comparison, Problem, Typed};
