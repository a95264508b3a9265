//! Policies: rules about resources, stacks, changes, releases and layers.
//!
//! API boundary. [`PolicySet`] reads policies and exceptions from data, [`check`] evaluates them on a
//! [`Subject`] and returns findings, [`render`] writes findings in the forms of other tools. Rules
//! are functions of a language that this crate does not know: an [`Evaluator`] calls them. The time
//! and the user are inputs. Pure functions over plain data: reads no files, and knows neither stores
//! nor clusters. `docs/policies.md` describes the rules. Start reading at [`check`].

mod check;
mod exception;
mod matching;
mod moment;
mod outcome;
mod policy;
pub mod render;
mod subject;

pub use check::{Evaluator, Found, RuleError, check, except};
pub use exception::Exception;
pub use moment::Moment;
pub use outcome::messages;
pub use policy::{Policy, PolicyError, PolicySet, Target};
pub use subject::{CellFacts, StackFacts, Subject, SubjectResource, without_secrets};
