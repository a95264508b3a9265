//! Diagnostics as data, and the renderers that turn them into text or JSON.
//!
//! A [`Diagnostic`] says what is wrong, where, and what to do; a [`Fix`] does it. It knows
//! nothing about the language that produced it; files are looked up through [`SourceMap`].
//! [`render_text`] and [`render_json`] show them; [`Findings`] keep them with their files.

mod diagnostic;
mod findings;
mod fix;
mod json;
mod text;

pub use diagnostic::{Diagnostic, Label, Outcome, Severity, SourceMap};
pub use findings::{Finding, Findings};
pub use fix::{Applicability, Edit, Fix, apply_edits};
pub use json::render_json;
pub use text::{Colour, render_text};
