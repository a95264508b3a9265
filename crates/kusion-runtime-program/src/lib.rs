//! Runtimes that are programs of users, in any language.
//!
//! [`ProgramRuntime`] is the runtime of the engine: it asks a program over its standard input and
//! output, by the protocol of `docs/runtime-protocol.md` ([`protocol`]). `base-plugin` starts, limits
//! and ends the program. What needs no program is decided here, by the [`schema`] that the program
//! gives: attributes that are unknown, missing, immutable or secret. [`check`] is the conformance test
//! for authors of such programs.
//!
//! A program is not trusted with more than its answers: they are limited in size and time, and checked.

mod ask;
pub mod check;
pub mod protocol;
mod runtime;
pub mod schema;

pub use ask::{AskError, Program};
pub use runtime::{ProgramRuntime, ProgramSource};
