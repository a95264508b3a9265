//! Real programs to start from.

use std::path::Path;

/// Reads the KCL files of the repository and, if they are there, of the conformance vectors.
pub(crate) fn load() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let vectors = match std::env::var_os("KCL_CONFORMANCE") {
        Some(path) => path.into(),
        None => root.join("../shared/conformance"),
    };
    let mut seeds = Vec::new();
    for folder in [root.join("examples"), root.join("tests"), vectors.join("corpus")] {
        collect(&folder, &mut seeds);
    }
    seeds
}

fn collect(folder: &Path, seeds: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, seeds);
        } else if path.extension().is_some_and(|it| it == "k") {
            seeds.extend(std::fs::read_to_string(&path).ok().filter(|text| text.len() < 20_000));
        }
    }
}
