//! What names mean: the one place where an identifier gets its meaning.
//!
//! [`resolve_unit`] walks a *unit*, a top-level statement or a schema, and tells a [`Sink`] what
//! every name in it stands for. The evaluator's sink keeps the slots of stack frames, that of
//! tools ([`uses`]) definitions and their uses, that of the checker ([`NamesByPlace`]) the
//! definition for each place; all see the same walk. It looks at one unit and at the global names
//! and imports of its package, nothing else, and keeps no state. Names in declarations (types,
//! bases, mixins), which are never local, are resolved by [`Program::global_meaning`] and
//! [`Program::declared`].
//!
//! Locals (parameters, variables of lambdas and loops) are slots of the unit's or lambda's
//! frame. Keys of config literals are visible to what follows them in the literal; they get a
//! slot only when something refers to them.

mod by_place;
mod define;
mod merged;
mod name_map;
mod occurrences;
mod order;
mod query;
mod resolve;
mod scope;
mod uses;

pub use by_place::NamesByPlace;
pub use define::{
    Defined, expr_path, first_byte, names_set, stmt_paths, type_path, visit_definitions,
    visit_paths,
};
pub use name_map::NameMap;
pub use occurrences::{Occurrence, Symbol, occurrences};
use order::{Layer, Place, order};
pub use query::{definition_at, definitions, occurrence_at, references};
pub(crate) use resolve::key_name;
pub use resolve::literal_index;
pub use uses::{Definition, DefinitionKind, UnitUses, Use, UseTarget, uses};

use self::merged::MergedConfig;
use self::scope::{Function, Resolver};
use crate::load::PLUGIN_PREFIX;
use crate::program::{Import, ImportTarget, PackageId, Program};
use base_text::{FileId, Name, Span};
use kcl_names::{FunctionId, ModuleId};
use kcl_syntax::ast::{BinOp, CmpOp, ExprId, Lambda, Path, Stmt, StmtId};

/// What an identifier means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A slot of the frame.
    Local(u32),
    /// A slot of the frame if it is set, else the entry of the chain.
    LocalOr(u32, u32),
    /// An attribute of the instance if it has one of that name, else the entry of the chain.
    Attr(u32),
    /// A global of the file's package.
    Global(u32),
    /// An imported package.
    Package(PackageId),
    /// A system module.
    System(ModuleId),
    /// A plugin, by its name.
    Plugin(Name),
    /// A built-in function.
    Builtin(FunctionId),
    /// Nothing.
    Missing,
}

/// Takes what [`resolve_unit`] finds. What a sink does not need has an empty body.
pub trait Sink {
    /// Says what an identifier, a schema expression or a config key means. For comprehensions
    /// and quantifiers it is the slot of the first loop variable.
    fn meaning(&mut self, expr: ExprId, meaning: Meaning);
    /// Adds an alternative, and returns its number for [`Meaning::LocalOr`] and
    /// [`Meaning::Attr`].
    fn alternative(&mut self, meaning: Meaning) -> u32;
    /// Says which slot a target of an assignment in a lambda is.
    fn target(&mut self, stmt: StmtId, at: u32, slot: u32);
    /// Says where a target with a path, or one that is updated, starts from.
    fn target_start(&mut self, stmt: StmtId, at: u32, meaning: Meaning);
    /// Says that a config literal must clear a slot when it starts.
    fn reset(&mut self, config: ExprId, slot: u32);
    /// Says that a slot of the unit's frame holds what the config, which is merged with others, has
    /// under a key that another of them brings in.
    fn merged_key(&mut self, _config: ExprId, _slot: u32, _name: Name) {}
    /// Called before the parameters and the body of a lambda.
    fn enter_lambda(&mut self) {}
    /// Called behind a lambda, whose frame has that many slots and captures outer slots as
    /// inner ones.
    fn lambda(&mut self, expr: ExprId, lambda: &Lambda, n_slots: u32, captures: Vec<(u32, u32)>);
    /// Called behind an operator whose operands are resolved.
    fn binary(&mut self, _expr: ExprId, _op: BinOp, _left: ExprId, _right: ExprId) {}
    /// Called behind a comparison whose operands are resolved.
    fn compare(&mut self, _expr: ExprId, _left: ExprId, _rest: &[(CmpOp, ExprId)]) {}
    /// Says what name a slot holds, in the frame of the `depth`th lambda around the place.
    fn bound(&mut self, _depth: usize, _slot: u32, _name: Name, _kind: DefinitionKind, _at: Span) {}
    /// Says that a slot holds what an outer frame's slot does.
    fn captured(&mut self, _depth: usize, _slot: u32, _outer: u32) {}
}

/// Resolves the names of a top-level statement or schema of a file; returns the size of its
/// frame.
pub fn resolve_unit(program: &Program, file: FileId, stmt: StmtId, sink: &mut dyn Sink) -> u32 {
    let module = &program.file(file).module;
    let functions = vec![Function::new(Place::TopLevel)];
    let merged = MergedConfig::find(program, file, stmt);
    let mut resolver = Resolver { program, file, module, sink, functions, merged };
    match &module[stmt].kind {
        Stmt::Schema(_) | Stmt::Rule(_) => resolver.schema(stmt),
        _ => resolver.stmt(stmt),
    }
    resolver.functions[0].n_slots
}

impl Program {
    /// The import that a name of a file refers to: one of its own, else one of another file of
    /// its package.
    pub fn import(&self, file: FileId, name: Name) -> Option<&Import> {
        self.import_site(file, name).map(|(_, import)| import)
    }

    /// The same with the file of the import.
    fn import_site(&self, file: FileId, name: Name) -> Option<(FileId, &Import)> {
        let own = self.file(file);
        let found = own.imports.iter().rev().find(|import| import.name == name);
        found.map(|import| (file, import)).or_else(|| {
            let others = self.package(own.package).files.iter().filter(|it| **it != file);
            others.copied().find_map(|file| {
                let mut imports = self.file(file).imports.iter();
                imports.find(|import| import.name == name).map(|import| (file, import))
            })
        })
    }

    /// The package and the name that a dotted name in a declaration (a base, a mixin, a type)
    /// stands for: a name of the file's own package, or `module.name` of one that it imports.
    pub fn declared(&self, file: FileId, path: &Path) -> Option<(PackageId, Name)> {
        match path.names.as_slice() {
            [name] => Some((self.file(file).package, name.name)),
            [module, name] => Some((self.import(file, module.name)?.target.package()?, name.name)),
            _ => None,
        }
    }

    /// What a name means at the top level of a file.
    pub fn global_meaning(&self, file: FileId, name: Name) -> Meaning {
        let package = self.package(self.file(file).package);
        if let Some(at) = package.globals.get_index_of(&name) {
            return Meaning::Global(at as u32);
        }
        if let Some(import) = self.import(file, name) {
            return import.meaning();
        }
        kcl_names::function(name.as_str()).map_or(Meaning::Missing, Meaning::Builtin)
    }
}

impl Import {
    /// What the name that it brings into scope means.
    pub fn meaning(&self) -> Meaning {
        match self.target {
            ImportTarget::Package(package) => Meaning::Package(package),
            ImportTarget::System => {
                kcl_names::module(&self.path).map_or(Meaning::Missing, Meaning::System)
            }
            ImportTarget::Plugin => Meaning::Plugin(plugin_name(&self.path)),
            ImportTarget::Missing => Meaning::Missing,
        }
    }
}

/// The name of a plugin, from the path of its import: `kcl_plugin.name`.
fn plugin_name(path: &str) -> Name {
    Name::new(path.strip_prefix(PLUGIN_PREFIX).unwrap_or(path))
}
