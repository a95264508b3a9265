//! Changes of source text: values by path, and names.
//!
//! [`set`](fn@set) writes `path=value` changes into a file, [`add_import`] an import, [`rename`]
//! finds the edits that give a symbol another name everywhere. Only the text that a change is about
//! is touched: comments and layout stay. Reads and writes no files.

mod import;
mod place;
mod rename;
mod set;

pub use import::add_import;
pub use place::path_at;
pub use rename::{RenameError, find_symbol, rename};
pub use set::{EditError, set, sets};
