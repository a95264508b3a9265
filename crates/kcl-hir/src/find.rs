//! From import paths to the files of packages.

use crate::entry::{MOD_FILE, PackageMap, file_name, is_left_out, is_real_source, is_source};
use base_system::System;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The module that an importing file belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Home {
    /// The name of an external package; `None` for the program itself.
    pub(crate) name: Option<Rc<str>>,
    /// Where its import paths start.
    pub(crate) root: Rc<Path>,
}

/// A package that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The module it belongs to.
    pub(crate) home: Home,
    /// The package path, by which the program knows it.
    pub(crate) path: String,
    /// Its files, sorted.
    pub(crate) files: Vec<PathBuf>,
}

/// What a lookup gives.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// One package.
    Found(Rc<Found>),
    /// A package of the module and an external one have the same path.
    Twice(Rc<Found>, Rc<Found>),
    /// No package.
    Nothing,
}

/// Looks up packages, each one once.
pub(crate) struct Finder<'s> {
    system: &'s dyn System,
    packages: &'s PackageMap,
    vendors: &'s [PathBuf],
    /// Those vendor folders that are there.
    present: OnceCell<Vec<&'s Path>>,
    known: FxHashMap<(Home, String), Lookup>,
}

impl<'s> Finder<'s> {
    pub(crate) fn new(
        system: &'s dyn System,
        packages: &'s PackageMap,
        vendors: &'s [PathBuf],
    ) -> Self {
        Self { system, packages, vendors, present: OnceCell::new(), known: FxHashMap::default() }
    }

    /// Finds the package that `path`, made absolute, means inside `home`.
    pub(crate) fn find(&mut self, home: &Home, path: &str) -> Lookup {
        let key = (home.clone(), path.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let lookup = match (self.inside(home, path), self.outside(path)) {
            // A dependency whose folder lies inside the module is one package, not two.
            (Some(own), Some(external)) if own.files != external.files => {
                Lookup::Twice(Rc::new(own), Rc::new(external))
            }
            (_, Some(found)) | (Some(found), None) => Lookup::Found(Rc::new(found)),
            (None, None) => Lookup::Nothing,
        };
        self.known.insert(key, lookup.clone());
        lookup
    }

    fn inside(&self, home: &Home, path: &str) -> Option<Found> {
        let folder = join_path(&home.root, path);
        let (path, files) = if self.system.is_dir(&folder) {
            (path.to_owned(), self.sources(&folder))
        } else {
            let file = folder.with_extension("k");
            let is_there = self.system.exists(&folder) || self.system.is_file(&file);
            if !is_there || !is_real_source(self.system, &file) {
                return None;
            }
            self.single_file(home, path, file)
        };
        let path = match &home.name {
            Some(name) => format!("{name}.{path}"),
            None => path,
        };
        Some(Found { home: home.clone(), path, files })
    }

    /// A file as a package. The only file of a folder means the same as the folder, so that
    /// its schemas are the same by either name.
    fn single_file(&self, home: &Home, path: &str, file: PathBuf) -> (String, Vec<PathBuf>) {
        if let (Some((parent, _)), Some(folder)) = (path.rsplit_once('.'), file.parent())
            && folder != &*home.root
        {
            let entries = self.system.read_dir(folder).unwrap_or_default();
            let mut sources = entries.iter().filter(|path| is_source(path) && !is_left_out(path));
            if sources.next() == Some(&file) && sources.next().is_none() {
                return (parent.to_owned(), vec![file]);
            }
        }
        (path.to_owned(), vec![file])
    }

    fn outside(&self, path: &str) -> Option<Found> {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        let root = match self.packages.get(name) {
            Some(root) => root.clone(),
            None => self.vendored(name, path)?,
        };
        let root = self.system.canonicalize(&root).unwrap_or(root);
        let folder = if rest.is_empty() { root.clone() } else { join_path(&root, rest) };
        let files = if self.system.is_dir(&folder) {
            self.sources(&folder)
        } else {
            let file = folder.with_extension("k");
            let is_there = self.system.is_file(&file) && is_real_source(self.system, &file);
            if is_there { vec![file] } else { Vec::new() }
        };
        let home = Home { name: Some(name.into()), root: root.into() };
        Some(Found { home, path: path.to_owned(), files })
    }

    /// The folder of a package in the vendor folders; it needs its own `kcl.mod`.
    fn vendored(&self, name: &str, path: &str) -> Option<PathBuf> {
        let present = self.present.get_or_init(|| {
            let folders = self.vendors.iter().map(PathBuf::as_path);
            folders.filter(|folder| self.system.exists(folder)).collect()
        });
        let vendor = present.iter().find(|vendor| {
            let folder = join_path(vendor, path);
            self.system.exists(&folder) || self.system.exists(&folder.with_extension("k"))
        })?;
        let root = vendor.join(name);
        self.system.is_file(&root.join(MOD_FILE)).then_some(root)
    }

    /// The files of a package folder: neither tests, layers nor private files.
    fn sources(&self, folder: &Path) -> Vec<PathBuf> {
        let folder = self.system.canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let entries = self.system.read_dir(&folder).unwrap_or_default();
        let wanted = |path: &PathBuf| {
            !is_left_out(path)
                && !file_name(path).starts_with('_')
                && is_real_source(self.system, path)
        };
        entries.into_iter().filter(wanted).collect()
    }
}

/// The place of package `path` below `root`: `a.b` is `root/a/b`.
pub(crate) fn join_path(root: &Path, path: &str) -> PathBuf {
    let mut folder = root.to_path_buf();
    folder.extend(path.split('.').filter(|part| !part.is_empty()));
    folder
}

/// Makes an import path absolute: leading dots start at the folder of the file.
///
/// Empty if the dots lead out of the module.
pub(crate) fn absolute_path(root: &Path, file: &Path, import: &str) -> String {
    let rest = import.trim_start_matches('.');
    let n_dots = import.len() - rest.len();
    if n_dots == 0 {
        return import.to_owned();
    }
    let folder = file.parent().unwrap_or(root);
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    let mut parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    let n_up = n_dots - 1;
    if n_up > parts.len() || rest.is_empty() {
        return String::new();
    }
    parts.truncate(parts.len() - n_up);
    // As parts of a file path, so a dot left at the end of a broken import is lost.
    parts.push(rest.trim_end_matches('.'));
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::absolute_path;
    use std::path::Path;

    #[test]
    fn dots_go_up_from_the_folder_of_the_file() {
        let make = |import| absolute_path(Path::new("/r"), Path::new("/r/path/to/file.k"), import);
        assert_eq!(make("sub.a"), "sub.a");
        assert_eq!(make(".sub"), "path.to.sub");
        assert_eq!(make("..sub.a"), "path.sub.a");
        assert_eq!(make("...sub"), "sub");
        assert_eq!(make("....sub"), "");
        assert_eq!(make(".sub."), "path.to.sub");
    }
}
