//! The values that KCL programs compute.
//!
//! A [`Value`] is two words; what is large is shared and copied only when changed. This
//! crate knows how values look, compare, print and combine; it knows nothing of syntax,
//! names, types or evaluation. Start reading at [`value`].

mod dict;
mod fault;
mod filter;
pub mod json;
mod number;
pub mod ops;
pub mod output;
mod show;
mod size;
mod text;
pub mod toml;
pub mod value;
pub mod yaml;

pub use dict::{Dict, Entry, MergeOp, Slot};
pub use fault::{Fault, Result};
pub use show::{show, show_into};
pub use size::{fits, text_size};
pub use text::{Str, find};
pub use value::{CallArgs, Func, List, Origin, SchemaInfo, SchemaValue, UnitNumber, Value, Whole};
