//! Packages on disk: folders beside the module and at home.

use crate::lock_file::full_name;
use crate::mod_file::{MOD_FILE, read_mod_file};
use crate::source::is_safe_word;
use base_system::{FileKind, System};
use std::path::{Path, PathBuf};

/// Returns the folder of downloaded packages: `$KCL_PKG_PATH`, or `.kcl/kpm` at home.
pub fn package_home(system: &dyn System) -> Option<PathBuf> {
    if let Some(path) = system.env("KCL_PKG_PATH") {
        return Some(path.into());
    }
    let home = system.env("HOME").or_else(|| system.env("USERPROFILE"))?;
    Some(Path::new(&home).join(".kcl").join("kpm"))
}

/// Returns the folder of packages by digest.
pub fn store_home(system: &dyn System) -> Option<PathBuf> {
    package_home(system).map(|home| home.join(".store"))
}

/// Returns the folder of a package with this digest, if it was downloaded.
pub(crate) fn find_stored(system: &dyn System, digest: &str) -> Option<PathBuf> {
    let digits = digest.strip_prefix("blake3:")?;
    let is_digest = digits.len() == 64 && digits.chars().all(|c| c.is_ascii_hexdigit());
    let folder = store_home(system)?.join("packages").join(digits);
    (is_digest && system.is_dir(&folder)).then_some(folder)
}

/// Returns the folder of a package by its name and version: in the folder `vendor` of the module, if
/// one is given, or at home.
pub(crate) fn find_named(
    system: &dyn System,
    vendor: Option<PathBuf>,
    name: &str,
    version: Option<&str>,
) -> Option<PathBuf> {
    if !is_safe_word(name) {
        return None;
    }
    let folders = vendor.into_iter().chain(package_home(system));
    let spellings = [name.to_owned(), name.replace('-', "_")];
    for folder in folders {
        for spelling in &spellings {
            let version = version.filter(|it| is_safe_word(it));
            let versioned = version.map(|it| folder.join(full_name(spelling, it)));
            for candidate in versioned.into_iter().chain([folder.join(spelling)]) {
                if system.is_dir(&candidate) {
                    return Some(candidate);
                }
            }
        }
    }
    None
}

/// How many folders are searched for a package of a repository.
const MAX_SEARCHED: usize = 10_000;

/// Returns the folder of a package in a download: the folder of that path or, as in the reference,
/// the one whose `kcl.mod` has that name. `None` if there is neither.
pub fn package_folder(system: &dyn System, whole: &Path, package: &str) -> Option<PathBuf> {
    let is_plain = package.split('/').all(is_safe_word);
    let direct = whole.join(package);
    if is_plain && system.is_file(&direct.join(MOD_FILE)) {
        return Some(direct);
    }
    let mut queue = vec![whole.to_owned()];
    let mut n_searched = 0;
    while let Some(folder) = queue.pop() {
        n_searched += 1;
        if n_searched > MAX_SEARCHED {
            return None;
        }
        if let Ok(Some(mod_file)) = read_mod_file(system, &folder)
            && mod_file.name.as_deref() == Some(package)
        {
            return Some(folder);
        }
        let entries = system.read_dir(&folder).unwrap_or_default();
        let is_plain_folder = |path: &PathBuf| {
            let facts = system.link_metadata(path);
            matches!(facts, Ok(Some(facts)) if facts.kind == FileKind::Directory)
        };
        queue.extend(entries.into_iter().rev().filter(is_plain_folder));
    }
    None
}
