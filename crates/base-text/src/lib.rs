//! Positions and names in source text, strings of JSON, similar words, and differences of texts.
//!
//! Byte ranges ([`Span`]), their translation to lines and columns ([`LineIndex`]) and
//! interned identifiers ([`Name`]). Knows nothing about any language.

mod align;
mod json;
mod line_index;
mod name;
mod similar;
mod span;
mod text_diff;

pub use align::align;
pub use json::{push_html_safe_json_string, push_json_string};
pub use line_index::{LineCol, LineIndex};
pub use name::Name;
pub use similar::{distance, nearest};
pub use span::{FileId, FileSpan, Span};
pub use text_diff::{DiffLine, Hunk, text_differences, unified_diff};
