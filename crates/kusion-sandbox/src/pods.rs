//! Simulated nodes: where a pod goes, how it lives there, and what it prints.
//!
//! No process is ever run. What a container does is read from its annotations or guessed from
//! its command; see `behaviour.rs`.

mod annotations;
mod behaviour;
pub(crate) mod claims;
mod containers;
mod devices;
pub(crate) mod eviction;
pub(crate) mod kubelet;
pub(crate) mod load;
pub(crate) mod logs;
mod lost;
mod neighbours;
pub(crate) mod nodes;
mod ports;
mod preemption;
mod preference;
mod refusals;
pub(crate) mod resources;
pub(crate) mod scheduler;
mod status;

pub(crate) use annotations::warnings as script_warnings;
