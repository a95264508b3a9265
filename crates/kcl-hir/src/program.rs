//! The program: files in packages.

use crate::blocks::Merges;
use crate::names::visit_definitions;
use base_diag::SourceMap;
use base_text::{FileId, LineCol, LineIndex, Name, Span};
use indexmap::IndexMap;
use kcl_syntax::ast::{ExprId, Module, StmtId};
use rustc_hash::FxBuildHasher;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The path of the main package.
pub const MAIN_PACKAGE: &str = "__main__";

/// Stands for one package of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackageId(pub u32);

/// All files that a program reaches, in packages.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The folder of `kcl.mod`, or the working folder.
    pub root: PathBuf,
    /// The files, by [`FileId`].
    pub files: Vec<SourceFile>,
    /// The packages, by [`PackageId`], the main package first, in the order in which imports
    /// reach them.
    pub packages: Vec<Package>,
}

/// One source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as shown in messages.
    pub path: String,
    /// The text.
    pub text: Arc<String>,
    /// The tree. Docstrings have no texts: they stand where their spans say.
    pub module: Arc<Module>,
    /// The line starts of the text, found when first asked for.
    pub(crate) lines: Arc<OnceLock<LineIndex>>,
    /// The package it belongs to.
    pub package: PackageId,
    /// Its imports in order, one per import statement.
    pub imports: Vec<Import>,
    /// The expressions that changes from outside (`-O`) brought into the tree.
    pub grafts: Vec<Grafted>,
}

/// The expressions that one change from outside brought into a tree.
#[derive(Clone, Debug)]
pub struct Grafted {
    /// The change as it was written, `a.b=1`.
    pub spec: Arc<str>,
    /// The numbers of the expressions.
    pub exprs: Range<u32>,
    /// Which of them took the place of which expression of the source.
    pub replaced: Vec<(ExprId, ExprId)>,
}

/// One import statement, resolved.
#[derive(Clone, Debug)]
pub struct Import {
    /// The statement.
    pub stmt: StmtId,
    /// The name it brings into scope: the alias, or the last part of the path.
    pub name: Name,
    /// The package path, made absolute: `a.b.c`.
    pub path: String,
    /// What it means.
    pub target: ImportTarget,
    /// Whether a file of the package names anything in it. What a program does not use is
    /// parsed, but neither checked nor evaluated.
    pub is_used: bool,
}

/// What an import refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// A package of the program.
    Package(PackageId),
    /// A system module such as `math`; the import's path is its name.
    System,
    /// A plugin, `kcl_plugin.name`.
    Plugin,
    /// Nothing: reported already.
    Missing,
}

/// The files of one folder (or one file), as one name space.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// The package path: [`MAIN_PACKAGE`] or `a.b.c`.
    pub path: String,
    /// The files in order.
    pub files: Vec<FileId>,
    /// The names defined at the top level, in the order of their first definition.
    pub globals: IndexMap<Name, Global, FxBuildHasher>,
    /// The config blocks that are merged, found when first asked for.
    pub(crate) merges: OnceLock<Arc<Merges>>,
}

/// One global name and the statements that define it.
#[derive(Clone, Debug)]
pub struct Global {
    /// What kind of thing its first definition makes it.
    pub kind: GlobalKind,
    /// The top-level statements that define or change it, in program order. A statement
    /// inside a top-level `if` counts through that `if`.
    pub definitions: Vec<(FileId, StmtId)>,
}

/// What a global is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalKind {
    /// A variable.
    Variable,
    /// A schema, mixin or protocol.
    Schema,
    /// A rule.
    Rule,
    /// A type alias.
    TypeAlias,
}

impl ImportTarget {
    /// The package, if it is one.
    pub fn package(self) -> Option<PackageId> {
        match self {
            Self::Package(package) => Some(package),
            Self::System | Self::Plugin | Self::Missing => None,
        }
    }
}

impl SourceFile {
    /// The line and column of a byte of the text.
    pub fn line_col(&self, offset: u32) -> LineCol {
        self.lines.get_or_init(|| LineIndex::new(&self.text)).line_col(&self.text, offset)
    }
}

impl Program {
    /// A file by number.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Whether packages are used or import something, by number. One that does neither is left
    /// out; one that only imports is checked, and what it uses is evaluated.
    pub fn needed_packages(&self) -> Vec<bool> {
        let imports = |file: &FileId| &self.file(*file).imports;
        let mut needed: Vec<bool> = self
            .packages
            .iter()
            .map(|package| package.files.iter().any(|file| !imports(file).is_empty()))
            .collect();
        for import in self.files.iter().flat_map(|file| &file.imports) {
            if let (true, Some(target)) = (import.is_used, import.target.package()) {
                needed[target.0 as usize] = true;
            }
        }
        needed
    }

    /// A package by number.
    pub fn package(&self, id: PackageId) -> &Package {
        &self.packages[id.0 as usize]
    }

    /// The main package, if anything was loaded.
    pub fn main_package(&self) -> Option<&Package> {
        self.packages.first()
    }

    /// The line and column of the start of a span.
    pub fn line_col(&self, file: FileId, span: Span) -> LineCol {
        self.file(file).line_col(span.start)
    }

    /// Fills [`Package::globals`] of all packages from the trees.
    pub fn collect_globals(&mut self) {
        (0..self.packages.len()).for_each(|at| self.collect_globals_of(PackageId(at as u32)));
    }

    /// Fills [`Package::globals`] of one package from its trees.
    pub(crate) fn collect_globals_of(&mut self, id: PackageId) {
        let package = &mut self.packages[id.0 as usize];
        let mut globals: IndexMap<Name, Global, FxBuildHasher> = IndexMap::default();
        for &file in &package.files {
            let module = &self.files[file.0 as usize].module;
            for &stmt in &module.body {
                visit_definitions(module, stmt, &mut |defined| {
                    let Some(kind) = defined.kind else { return };
                    let new = || Global { kind, definitions: Vec::new() };
                    let global = globals.entry(defined.ident.name).or_insert_with(new);
                    if global.definitions.last() != Some(&(file, stmt)) {
                        global.definitions.push((file, stmt));
                    }
                });
            }
        }
        package.globals = globals;
        package.merges = OnceLock::new();
    }
}

impl SourceMap for Program {
    fn path(&self, file: FileId) -> &str {
        &self.file(file).path
    }

    fn text(&self, file: FileId) -> &str {
        &self.file(file).text
    }
}
