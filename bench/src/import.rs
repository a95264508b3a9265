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
    /// How many schemas the package has.
    pub(crate) n: usize,
    /// The reference.
    pub(crate) reference: Option<Cost>,
    /// Ours without a cache.
    pub(crate) cold: Option<Cost>,
    /// Ours when the cache knows the package.
    pub(crate) warm: Option<Cost>,
}

/// Measures cold and warm imports of one package; what the reference needs is known.
///
/// # Errors
///
/// If the cache folder can't be made.
pub(crate) fn run(
    workload: &Workload,
    tools: &Tools,
    effort: Effort,
    scratch: &Path,
    reference: Option<Cost>,
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
    let costs = interleave(&[(&cold, None), (&warm, None)], effort);
    let mut costs = costs.into_iter().map(Result::ok);
    let (cold, warm) = (costs.next(), costs.next());
    fs::remove_dir_all(&cache)?;
    Ok(Some(ImportRow {
        name: workload.name(),
        n: workload.n,
        reference,
        cold: cold.flatten(),
        warm: warm.flatten(),
    }))
}
