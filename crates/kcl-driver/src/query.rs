//! Questions about programs, for shells.

use base_text::FileSpan;
use kcl_hir::Program;
use kcl_hir::names::references;

pub use kcl_query::{OptionInfo, Variable, list_options, list_variables};

/// Finds where a name of the main package (`app`) or an attribute of a schema (`App.image`) is
/// defined and used, in the order of files; `None` if there is no such symbol.
pub fn uses_of(program: &Program, symbol: &str) -> Option<Vec<FileSpan>> {
    Some(references(program, kcl_edit::find_symbol(program, symbol)?))
}
