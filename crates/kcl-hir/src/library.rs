//! The imported packages of a program, to be found again in another one.

use crate::program::{Import, PackageId, Program, SourceFile};
use base_text::FileId;
use kcl_syntax::ast::Module;
use std::path::PathBuf;
use std::sync::Arc;

/// Says which packages a program imports, by their trees and their numbers.
///
/// Two programs with the same library differ in their main packages only: what was found out
/// about the other packages in one of them holds in the other.
#[derive(Clone, Debug)]
pub struct LibraryKey {
    root: PathBuf,
    n_main_files: usize,
    packages: Vec<(String, Vec<FileId>)>,
    files: Vec<LibraryFile>,
}

#[derive(Clone, Debug)]
struct LibraryFile {
    module: Arc<Module>,
    package: PackageId,
    imports: Vec<Import>,
}

impl Program {
    /// The files of imported packages. Those of the main package come first.
    fn library_files(&self) -> &[SourceFile] {
        let n_main_files = self.main_package().map_or(0, |package| package.files.len());
        self.files.get(n_main_files..).unwrap_or_default()
    }

    /// What is to be known of the imported packages to find them again.
    pub fn library_key(&self) -> LibraryKey {
        let packages = self.packages.iter().skip(1);
        let files = self.library_files().iter().map(|file| LibraryFile {
            module: file.module.clone(),
            package: file.package,
            imports: file.imports.clone(),
        });
        LibraryKey {
            root: self.root.clone(),
            n_main_files: self.main_package().map_or(0, |package| package.files.len()),
            packages: packages.map(|p| (p.path.clone(), p.files.clone())).collect(),
            files: files.collect(),
        }
    }
}

impl LibraryKey {
    /// Whether a program has the same imported packages, with the same numbers.
    pub fn fits(&self, program: &Program) -> bool {
        let files = program.library_files();
        self.n_main_files == program.main_package().map_or(0, |package| package.files.len())
            && self.files.len() == files.len()
            && self.packages.len() + 1 == program.packages.len()
            && self.files.iter().zip(files).all(|(own, file)| {
                Arc::ptr_eq(&own.module, &file.module)
                    && own.package == file.package
                    && own.imports.len() == file.imports.len()
                    && own.imports.iter().zip(&file.imports).all(|(a, b)| same_import(a, b))
            })
            && self
                .packages
                .iter()
                .zip(&program.packages[1..])
                .all(|((path, files), package)| *path == package.path && *files == package.files)
            && self.root == program.root
    }
}

fn same_import(a: &Import, b: &Import) -> bool {
    a.stmt == b.stmt && a.target == b.target && a.is_used == b.is_used && a.path == b.path
}
