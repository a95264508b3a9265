//! Positions and names in source text, strings of JSON, and similar words.
//!
//! Byte ranges ([`Span`]), their translation to lines and columns ([`LineIndex`]) and
//! interned identifiers ([`Name`]). Knows nothing about any language.

mod json;
mod line_index;
mod name;
mod similar;
mod span;

pub use json::{push_html_safe_json_string, push_json_string};
pub use line_index::{LineCol, LineIndex};
pub use name::Name;
pub use similar::{distance, nearest};
pub use span::{FileId, FileSpan, Span};
