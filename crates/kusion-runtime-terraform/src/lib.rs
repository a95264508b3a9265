//! Drives Terraform providers over their plugin protocol, without `terraform`.
//!
//! [`TerraformRuntime`] is the runtime of the engine. Below it is [`Provider`], a running provider: [`Launch`] starts its program, shakes hands and
//! connects, and each call of the protocol is a method. [`Pool`] keeps one process for each
//! configuration of a provider. [`schema`] describes resources; their values are those of
//! `kusion-cty`.
//!
//! A provider is a foreign program: every answer is limited in size and time and is checked before
//! it is used. What it prints goes to the log, with secrets hidden.

mod address;
pub mod change;
mod config;
mod diagnostic;
mod error;
mod host;
mod inspect;
pub mod install;
mod limits;
mod pool;
mod provider;
mod runtime;
pub mod schema;
mod source;
mod state;
mod wire;

pub use address::{DEFAULT_REGISTRY, ProviderAddress, provider_config};
pub use diagnostic::Diagnostic;
pub use error::ProviderError;
pub use host::guard::{Guard, run_as_guard};
pub use host::launch::Launch;
pub use limits::Limits;
pub use pool::{Pool, PoolKey};
pub use provider::{
    Applied, ApplyInput, Imported, MoveInput, PlanInput, Planned, Provider, ReadResult,
};
pub use runtime::{Consent, NotFound, ProviderSource, TerraformRuntime, TerraformSettings};
pub use source::{LOCK_FILE, Providers, RESOURCE_TYPE, TerraformSource, read_lock};
pub use wire::{Call, Protocol};
