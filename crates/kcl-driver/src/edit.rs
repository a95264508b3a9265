//! Changes of source text, for shells.

pub use kcl_edit::{EditError, RenameError, add_import, path_at, rename, set, sets};
pub use kcl_fmt::quoted;
pub use kcl_query::{Action, Override};
pub use kcl_syntax::ast::ConfigOp;

/// A file in the layout that overrides give it: that of the formatter, with dotted keys written
/// out. A text with syntax errors stays as it is.
pub fn canonical(text: &str) -> String {
    let parsed = kcl_syntax::parse(text);
    if !parsed.diagnostics.is_empty() {
        return text.to_owned();
    }
    let style = kcl_fmt::Style { write_out_keys: true, ..kcl_fmt::Style::default() };
    kcl_fmt::print(&parsed.module, text, style)
}
