//! The folders of dependencies.

use crate::mod_file::{Dependency, ModFile, Source, read_mod_file};
use base_system::System;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The folder that downloaded packages lie in: `$KCL_PKG_PATH`, or `.kcl/kpm` at home.
pub fn package_home(system: &dyn System) -> Option<PathBuf> {
    if let Some(path) = system.env("KCL_PKG_PATH") {
        return Some(path.into());
    }
    let home = system.env("HOME").or_else(|| system.env("USERPROFILE"))?;
    Some(Path::new(&home).join(".kcl").join("kpm"))
}

/// Finds the folders of the dependencies of a module and, in turn, of theirs.
///
/// The first one of a name wins, so a module decides over its dependencies. What is not
/// there is left out; importing it is an error of the program.
pub fn resolve_dependencies(
    system: &dyn System,
    root: &Path,
    mod_file: &ModFile,
) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    if mod_file.dependencies.is_empty() {
        return found;
    }
    let mut folders = vec![root.join("vendor")];
    folders.extend(package_home(system));
    let mut queue: VecDeque<(PathBuf, Vec<Dependency>)> =
        VecDeque::from([(root.to_path_buf(), mod_file.dependencies.clone())]);
    while let Some((from, dependencies)) = queue.pop_front() {
        for dependency in dependencies {
            // Names of packages may have dashes, names in imports may not.
            let name = dependency.name.replace('-', "_");
            if found.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let Some(folder) = find(system, &from, &folders, &dependency) else { continue };
            if let Ok(Some(inner)) = read_mod_file(system, &folder) {
                queue.push_back((folder.clone(), inner.dependencies));
            }
            found.push((name, folder));
        }
    }
    found
}

fn find(
    system: &dyn System,
    from: &Path,
    folders: &[PathBuf],
    dependency: &Dependency,
) -> Option<PathBuf> {
    let words = match &dependency.source {
        Source::Path(path) => {
            let folder = from.join(path);
            return system.canonicalize(&folder).ok().filter(|folder| system.is_dir(folder));
        }
        Source::Remote(words) => words,
    };
    let name = &dependency.name;
    let spellings = [name.clone(), name.replace('-', "_")];
    for folder in folders {
        for spelling in &spellings {
            let versioned = words.iter().map(|word| folder.join(format!("{spelling}_{word}")));
            for candidate in versioned.chain([folder.join(spelling)]) {
                if system.is_dir(&candidate) {
                    return Some(candidate);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    #[test]
    fn from_paths_vendor_and_the_package_home() {
        let system = MemorySystem::new()
            .with_env("KCL_PKG_PATH", "/home/kpm")
            .with_file("/lib/kcl.mod", "[dependencies]\ndeep-er = { path = \"../deep\" }\n")
            .with_file("/deep/kcl.mod", "[dependencies]\nlib = \"9\"\n")
            .with_file("/w/vendor/k8s/kcl.mod", "")
            .with_file("/home/kpm/konfig_v1/kcl.mod", "");
        let file = ModFile::parse(
            "[dependencies]\nlib = { path = \"../lib\" }\nk8s = \"1.28\"\n\
             konfig = { git = \"x\", tag = \"v1\" }\nnone = \"1\"\n",
        )
        .unwrap();
        let found = resolve_dependencies(&system, Path::new("/w"), &file);
        let found: Vec<String> =
            found.iter().map(|(name, path)| format!("{name}={}", path.display())).collect();
        assert_eq!(
            found,
            ["lib=/lib", "k8s=/w/vendor/k8s", "konfig=/home/kpm/konfig_v1", "deep_er=/deep"]
        );
    }
}
