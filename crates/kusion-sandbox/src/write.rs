//! How objects change: decode, default, prepare, admit, validate, own, store.

mod check;
mod create;
mod delete;
mod gates;
mod managed;
mod names;
mod patch;
mod prepare;
mod subresource;
mod update;

pub(crate) use check::{judge, normalize_patched as normalize};
pub(crate) use create::check_type;
pub(crate) use managed::created as record_managers;
pub(crate) use names::{generate as generate_name, uid as new_uid};
pub(crate) use prepare::{keep as keep_field, keep_meta as keep_server_fields};
pub(crate) use subresource::selector_text;
pub(crate) use update::Origin;

use crate::Status;
use crate::store::Refused;
use crate::store::Stored;
use serde_json::Value;
use std::sync::Arc;

/// What a write made.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The answer to the client, in the version of the request.
    pub(crate) value: Arc<Value>,
    /// The stored object, when the answer is that object in its storage version.
    pub(crate) stored: Option<Arc<Stored>>,
    /// Whether the object is new.
    pub(crate) created: bool,
    /// Whether the object is gone.
    pub(crate) removed: bool,
    /// What the client ought to know.
    pub(crate) warnings: Vec<String>,
}

impl Outcome {
    /// Returns the outcome with more for the client to know.
    fn with(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

/// Why a write did not happen.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Someone else was quicker; try again on what is there now.
    Race,
    /// The request cannot be served.
    Status(Status),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Race => Self::Race,
            Refused::TooLarge => Self::Status(Status::too_large_to_store()),
            Refused::Full => Self::Status(Status::store_is_full()),
            Refused::NotWritten(why) => Self::Status(Status::not_written(why)),
        }
    }
}

impl From<Status> for Failed {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}
