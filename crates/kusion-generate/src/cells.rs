//! Cells of stacks: axes, layers, and what they change in the program of a stack.

mod cover;
mod dims;
mod folder;
mod kcl;
mod merged;
mod yaml;

pub use cover::{CellSetting, StackCell};
pub use dims::{Dims, ListedCluster};
pub use folder::LayerReader;
pub use merged::StackLayers;
pub(crate) use merged::layer_of_label;

use crate::GenerateError;
use base_system::System;
use std::path::Path;

/// The largest number of cells of one stack.
pub(crate) const MAX_CELLS: usize = 4096;
/// The largest size of a file with layers, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Returns the current date in UTC: `2026-12-01`.
pub fn today(system: &dyn System) -> String {
    // Days are counted from 1 March of the year 0, so that a leap day is the last one of a year.
    let days = (system.now().as_secs() / 86_400) as i64 + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Creates the error of a file.
fn wrong(path: &Path, line: Option<u32>, message: impl Into<String>) -> GenerateError {
    GenerateError::File { path: path.to_owned(), line, message: message.into() }
}
