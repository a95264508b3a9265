//! Cells of stacks: axes, layers, and what they change in the program of a stack.

mod cover;
mod dims;
mod folder;
mod kcl;
mod merged;
mod yaml;

pub use cover::{CellSetting, StackCell};
pub use dims::Dims;
pub use folder::LayerReader;
pub use merged::StackLayers;
pub(crate) use merged::layer_of_label;

use crate::GenerateError;
use std::path::Path;

/// The largest number of cells of one stack.
pub(crate) const MAX_CELLS: usize = 4096;
/// The largest size of a file with layers, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Creates the error of a file.
fn wrong(path: &Path, line: Option<u32>, message: impl Into<String>) -> GenerateError {
    GenerateError::File { path: path.to_owned(), line, message: message.into() }
}
