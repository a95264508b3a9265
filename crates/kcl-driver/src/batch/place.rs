//! Where results go.

use super::{BatchError, Stack};
use base_system::System;
use rustc_hash::FxHashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a stack is called and where its result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The name in messages.
    pub(super) name: String,
    /// The result below the output folder.
    pub(super) output: PathBuf,
}

/// Finds the name and the place of each stack's result: the stack's path below the root, as a
/// file. A second stack of the same folder gets a number.
pub(super) fn output_paths(
    system: &dyn System,
    stacks: &[Stack],
    root: Option<&Path>,
) -> Result<Vec<Place>, BatchError> {
    let missing = |path: &Path| BatchError::NoFolder(path.display().to_string());
    let folders: Vec<&Path> = stacks.iter().map(|stack| stack.folder.as_path()).collect();
    let root = match root {
        Some(root) => system.canonicalize(root).map_err(|_| missing(root))?,
        None => common_folder(&folders),
    };
    let mut n_named: FxHashMap<OsString, usize> = FxHashMap::default();
    n_named.reserve(folders.len());
    let mut places = Vec::with_capacity(stacks.len());
    for folder in folders {
        let name = name_below(folder, &root);
        let mut file = OsString::with_capacity(name.len() + 8);
        file.push(&name);
        let shown = name.to_string_lossy().into_owned();
        let n = n_named.entry(name).or_default();
        *n += 1;
        if *n > 1 {
            file.push(format!(".{n}"));
        }
        file.push(".yaml");
        places.push(Place { name: shown, output: file.into() });
    }
    Ok(places)
}

/// What a stack is called: its folder below the root.
fn name_below(folder: &Path, root: &Path) -> OsString {
    if let Some(below) = plainly_below(folder, root) {
        return below.to_owned();
    }
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let name: PathBuf = below.strip_prefix("/").unwrap_or(below).components().collect();
    if name.as_os_str().is_empty() {
        return folder.file_name().map_or_else(|| "stack".into(), OsString::from);
    }
    name.into()
}

/// The part of a path below a folder, if their texts show it.
fn plainly_below<'a>(path: &'a Path, folder: &Path) -> Option<&'a OsStr> {
    let below = path.to_str()?.strip_prefix(folder.to_str()?)?.strip_prefix('/')?;
    // Neither empty parts nor dots.
    let mut previous = b'/';
    let is_plain = below.bytes().all(|byte| {
        let is_odd = previous == b'/' && matches!(byte, b'/' | b'.');
        previous = byte;
        !is_odd
    });
    (is_plain && previous != b'/').then_some(OsStr::new(below))
}

/// The deepest folder that all folders lie in; that above it if it is one of them.
fn common_folder(folders: &[&Path]) -> PathBuf {
    let Some((first, rest)) = folders.split_first() else { return PathBuf::new() };
    let mut common = *first;
    for folder in rest {
        while plainly_below(folder, common).is_none() && !folder.starts_with(common) {
            let Some(parent) = common.parent() else { return PathBuf::new() };
            common = parent;
        }
    }
    if folders.iter().any(|folder| plainly_below(folder, common).is_none() && *folder == common) {
        common = common.parent().unwrap_or(common);
    }
    common.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn outputs(folders: &[&str], root: Option<&str>) -> Vec<String> {
        let system = MemorySystem::new().with_file("/r/a/dev/main.k", "");
        let stacks: Vec<Stack> = folders
            .iter()
            .map(|folder| Stack { folder: folder.into(), ..Stack::default() })
            .collect();
        let places = output_paths(&system, &stacks, root.map(Path::new)).unwrap();
        places.iter().map(|place| place.output.display().to_string()).collect()
    }

    #[test]
    fn paths_are_mirrored_below_the_common_folder() {
        assert_eq!(outputs(&["/r/a/dev", "/r/a/prod"], None), ["dev.yaml", "prod.yaml"]);
        assert_eq!(outputs(&["/r/a/dev", "/r/b/dev"], None), ["a/dev.yaml", "b/dev.yaml"]);
        assert_eq!(outputs(&["/r/a/dev", "/r/b/dev"], Some("/r/a")), ["dev.yaml", "r/b/dev.yaml"]);
        assert_eq!(outputs(&["/r/a"], None), ["a.yaml"]);
        assert_eq!(
            outputs(&["/r/a/./dev", "/r/b//dev/"], Some("/r/a")),
            ["dev.yaml", "r/b/dev.yaml"]
        );
    }

    #[test]
    fn stacks_of_one_folder_do_not_share_a_file() {
        assert_eq!(outputs(&["/r/a", "/r/b", "/r/a"], None), ["a.yaml", "b.yaml", "a.2.yaml"]);
    }
}
