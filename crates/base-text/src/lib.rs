//! Positions and names in source text.
//!
//! Byte ranges ([`Span`]), their translation to lines and columns ([`LineIndex`]) and
//! interned identifiers ([`Name`]). Knows nothing about any language.

mod line_index;
mod name;
mod span;

pub use line_index::{LineCol, LineIndex};
pub use name::Name;
pub use span::{FileId, FileSpan, Span};
