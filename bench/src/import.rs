//! Importing a big package with and without the cache on disk.

use crate::measure::{Cost, Run};
use crate::suite::{Effort, interleave};
use crate::tool::{Tool, Tools};
use crate::workload::Workload;
use std::fs;
use std::path::Path;

/// What the import of a package costs.
#[derive(Clone, Debug)]
pub(crate) struct ImportRow {
    /// The workload.
    pub(crate) name: String,
    /// The reference.
    pub(crate) reference: Option<Cost>,
    /// Ours without a cache.
    pub(crate) cold: Option<Cost>,
    /// Ours when the cache knows the package.
    pub(crate) warm: Option<Cost>,
}

/// Measures cold and warm imports of one package.
///
/// # Errors
///
/// If the cache folder can't be made.
pub(crate) fn run(
    workload: &Workload,
    tools: &Tools,
    effort: Effort,
    scratch: &Path,
) -> anyhow::Result<Option<ImportRow>> {
    let Some(cold) = workload.run(tools, Tool::Ours) else { return Ok(None) };
    let cache = scratch.join("cache");
    fs::create_dir_all(&cache)?;
    let mut words = vec!["env".to_owned(), format!("KCL_CACHE_DIR={}", cache.display())];
    words.extend(cold.words.iter().cloned());
    let warm = Run { words, warm: true, ..cold.clone() };
    // The first run fills the cache; a file that is only just written is looked at again.
    for _ in 0..2 {
        warm.measure(effort.limit, None)?;
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    let reference = workload.run(tools, Tool::Reference);
    let mut runs = vec![(&cold, None), (&warm, None)];
    runs.extend(reference.iter().map(|run| (run, None)));
    let mut costs = interleave(&runs, effort).into_iter().map(Result::ok);
    let (cold, warm, reference) = (costs.next(), costs.next(), costs.next());
    fs::remove_dir_all(&cache)?;
    Ok(Some(ImportRow {
        name: workload.name(),
        reference: reference.flatten(),
        cold: cold.flatten(),
        warm: warm.flatten(),
    }))
}
