//! The runtime for Kubernetes.
//!
//! Objects are JSON values; nothing here knows the types of a kind beyond the tables of
//! `kusion-k8s-schema`. Every change is a server-side apply by the field manager of the stack, every question
//! about many objects a list. What can be answered without a server ([`KubernetesRuntime`]'s
//! `compare`, [`health`], the offline check) is pure. Start at `runtime.rs`.

mod adopt;
mod calls;
mod change;
mod check;
mod clean;
mod compare;
mod connect;
mod contents;
mod copy;
mod credentials;
mod delete;
mod describe;
mod discovery;
mod explain;
mod failure;
pub mod health;
mod identity;
mod immutable;
mod inspect;
mod interruption;
mod key;
mod object;
mod owner;
mod pages;
mod prepare;
mod read;
mod rename;
mod requires;
mod runtime;
mod types;
mod watch;

pub use connect::{ClusterSource, ConfigOwner, Options, server_of};
pub use copy::{Copied, copy};
pub use describe::is_shared;
pub use inspect::{KubeconfigEffects, inspect, inspect_text};
pub use key::ObjectKey;
pub use runtime::{KubernetesRuntime, KubernetesSource};
pub use watch::{ObjectChange, watch_changes};
