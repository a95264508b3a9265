//! Definitions and uses of a unit, for tools.

use super::define::target_name;
use super::{Meaning, Sink, expr_path, resolve_unit};
use crate::program::{PackageId, Program};
use base_text::{FileId, Name, Span};
use kcl_names::{FunctionId, ModuleId};
use kcl_syntax::ast::{Expr, ExprId, Ident, Lambda, Module, StmtId};
use rustc_hash::FxHashMap;

/// What binds a local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A parameter of a schema, rule or lambda.
    Parameter,
    /// A variable of a lambda.
    Variable,
    /// A variable of a comprehension or quantifier.
    LoopVariable,
    /// A key of a config literal that a later entry reads.
    Key,
}

/// A local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: Name,
    /// What binds it.
    pub kind: DefinitionKind,
    /// Where it is bound.
    pub at: Span,
}

/// What a use refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseTarget {
    /// A local name, by its number in [`UnitUses::definitions`].
    Local(usize),
    /// A global of the file's package, by its number.
    Global(u32),
    /// An imported package.
    Package(PackageId),
    /// A system module.
    System(ModuleId),
    /// A plugin.
    Plugin,
    /// A built-in function.
    Builtin(FunctionId),
    /// Nothing that is known without the schema's attributes.
    Unknown,
}

/// One use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name, where it is written.
    pub ident: Ident,
    /// The identifier, schema expression or config key; `None` for a target of an assignment.
    pub expr: Option<ExprId>,
    /// Whether an attribute of the schema around it wins over `targets`, if there is one.
    pub may_be_attribute: bool,
    /// What it refers to: the first that has a value when the program runs.
    pub targets: Vec<UseTarget>,
}

/// The definitions and uses of a unit, in the order of the walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitUses {
    /// Local names.
    pub definitions: Vec<Definition>,
    /// Uses of names of all kinds; a key that is read counts as a use of itself, and so does a
    /// variable of a lambda where it is set.
    pub uses: Vec<Use>,
}

/// Finds the definitions and uses of a top-level statement or schema.
pub fn uses(program: &Program, file: FileId, stmt: StmtId) -> UnitUses {
    let mut collector = Collector {
        module: &program.file(file).module,
        found: UnitUses::default(),
        alternatives: Vec::new(),
        frames: Vec::new(),
    };
    resolve_unit(program, file, stmt, &mut collector);
    collector.found
}

/// The name in an identifier, schema expression or config key.
pub(super) fn written_name(module: &Module, expr: ExprId) -> Option<Ident> {
    match &module[expr].kind {
        Expr::String(text) => Some(Ident { name: Name::new(&text.value), span: module[expr].span }),
        Expr::Subscript(subscript) => {
            expr_path(&module[subscript.value].kind)?.names.first().copied()
        }
        kind => expr_path(kind)?.names.first().copied(),
    }
}

struct Collector<'p> {
    module: &'p Module,
    found: UnitUses,
    alternatives: Vec<Meaning>,
    /// The definitions of the slots of open frames, the outermost first.
    frames: Vec<FxHashMap<u32, usize>>,
}

impl Collector<'_> {
    fn frame(&mut self, depth: usize) -> &mut FxHashMap<u32, usize> {
        while self.frames.len() <= depth {
            self.frames.push(FxHashMap::default());
        }
        &mut self.frames[depth]
    }

    /// Notes a use at a target of an assignment.
    fn use_target(&mut self, stmt: StmtId, at: u32, meaning: Meaning) {
        if let Some(ident) = target_name(self.module, stmt, at) {
            let (may_be_attribute, targets) = self.targets(meaning);
            self.found.uses.push(Use { ident, expr: None, may_be_attribute, targets });
        }
    }

    /// What a meaning stands for, in the innermost frame.
    fn targets(&self, meaning: Meaning) -> (bool, Vec<UseTarget>) {
        let mut may_be_attribute = false;
        let mut targets = Vec::new();
        let mut next = Some(meaning);
        while let Some(meaning) = next.take() {
            let slot = |slot| self.frames.last().and_then(|frame| frame.get(&slot).copied());
            match meaning {
                Meaning::Local(at) => targets.extend(slot(at).map(UseTarget::Local)),
                Meaning::LocalOr(at, alternative) => {
                    let local = slot(at);
                    targets.extend(local.map(UseTarget::Local));
                    let kind = local.map(|number| self.found.definitions[number].kind);
                    // These have a value wherever they can be named.
                    let is_set = matches!(
                        kind,
                        Some(DefinitionKind::Parameter | DefinitionKind::LoopVariable)
                    );
                    if !is_set {
                        next = self.alternatives.get(alternative as usize).copied();
                    }
                }
                Meaning::Attr(alternative) => {
                    may_be_attribute = true;
                    next = self.alternatives.get(alternative as usize).copied();
                }
                Meaning::Global(at) => targets.push(UseTarget::Global(at)),
                Meaning::Package(package) => targets.push(UseTarget::Package(package)),
                Meaning::System(module) => targets.push(UseTarget::System(module)),
                Meaning::Plugin(_) => targets.push(UseTarget::Plugin),
                Meaning::Builtin(function) => targets.push(UseTarget::Builtin(function)),
                Meaning::Missing => targets.push(UseTarget::Unknown),
            }
        }
        (may_be_attribute, targets)
    }
}

impl Sink for Collector<'_> {
    fn meaning(&mut self, expr: ExprId, meaning: Meaning) {
        // Comprehensions have slots, but no names.
        if let Some(ident) = written_name(self.module, expr) {
            let (may_be_attribute, targets) = self.targets(meaning);
            self.found.uses.push(Use { ident, expr: Some(expr), may_be_attribute, targets });
        }
    }

    fn alternative(&mut self, meaning: Meaning) -> u32 {
        self.alternatives.push(meaning);
        self.alternatives.len() as u32 - 1
    }

    fn target(&mut self, stmt: StmtId, at: u32, slot: u32) {
        self.use_target(stmt, at, Meaning::Local(slot));
    }

    fn target_start(&mut self, stmt: StmtId, at: u32, meaning: Meaning) {
        self.use_target(stmt, at, meaning);
    }

    fn reset(&mut self, _: ExprId, _: u32) {}

    fn enter_lambda(&mut self) {
        if self.frames.is_empty() {
            self.frames.push(FxHashMap::default());
        }
        self.frames.push(FxHashMap::default());
    }

    fn lambda(&mut self, _: ExprId, _: &Lambda, _: u32, _: Vec<(u32, u32)>) {
        self.frames.pop();
    }

    fn bound(&mut self, depth: usize, slot: u32, name: Name, kind: DefinitionKind, at: Span) {
        let number = self.found.definitions.len();
        self.found.definitions.push(Definition { name, kind, at });
        self.frame(depth).insert(slot, number);
    }

    fn captured(&mut self, depth: usize, slot: u32, outer: u32) {
        let captured =
            depth.checked_sub(1).and_then(|at| self.frames.get(at)?.get(&outer).copied());
        if let Some(number) = captured {
            self.frame(depth).insert(slot, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, LoadOptions, PackageMap, load, resolve_entries};
    use base_system::MemorySystem;
    use std::path::Path;

    /// Lists the uses of a one-line program's last statement as `name -> targets`.
    fn check(text: &str, want: &[&str]) {
        let system = MemorySystem::new()
            .with_file("/w/kcl.mod", "")
            .with_file("/w/lib/lib.k", "schema App:\n    a: int\n")
            .with_file("/w/main.k", text);
        let entries = resolve_entries(
            &system,
            &[Input::path("/w/main.k")],
            Path::new("/w"),
            &PackageMap::default(),
        )
        .expect("the input exists");
        let program =
            load(&system, &entries, &LoadOptions::default()).expect("the input is read").value;
        let file = program.packages[0].files[0];
        let source = program.file(file);
        let stmt = *source.module.body.last().expect("there is a statement");
        let found = uses(&program, file, stmt);
        let name_of = |target: &UseTarget| match target {
            UseTarget::Local(at) => {
                let definition = found.definitions[*at];
                let line = source.line_col(definition.at.start);
                format!("{:?} {}:{}", definition.kind, line.line, line.col)
            }
            UseTarget::Global(at) => {
                format!(
                    "global {}",
                    program.packages[0]
                        .globals
                        .get_index(*at as usize)
                        .map_or("", |it| it.0.as_str())
                )
            }
            UseTarget::Package(_) => "package".into(),
            UseTarget::System(module) => format!("module {}", module.name()),
            UseTarget::Builtin(function) => format!("function {}", function.name()),
            UseTarget::Plugin => "plugin".into(),
            UseTarget::Unknown => "unknown".into(),
        };
        let lines: Vec<String> = found
            .uses
            .iter()
            .filter_map(|it| {
                let span = source.module[it.expr?].span;
                let word: String = source.text[span.start as usize..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
                    .collect();
                let attribute = if it.may_be_attribute { "attribute or " } else { "" };
                let targets: Vec<String> = it.targets.iter().map(name_of).collect();
                Some(format!("{word} -> {attribute}{}", targets.join(" or ")))
            })
            .collect();
        assert_eq!(lines, want);
    }

    #[test]
    fn globals_imports_and_functions_are_told_apart() {
        check(
            "import math\nimport lib\nb = 1\na = [b, math.pi, len, lib.App, nope]\n",
            &[
                "b -> global b",
                "math.pi -> module math",
                "len -> function len",
                "lib.App -> package",
                "nope -> unknown",
            ],
        );
    }

    #[test]
    fn locals_lead_to_where_they_are_bound() {
        check(
            "f = lambda x { [x + i for i in [1]] }\n",
            &["x -> Parameter 1:12", "i -> LoopVariable 1:27"],
        );
        check("f = lambda x { lambda { x } }\n", &["x -> Parameter 1:12"]);
        check("f = lambda { t = 1; t }\n", &["t -> Variable 1:14"]);
        check("c = {k = 1, l = k}\n", &["k -> Key 1:6", "k -> Key 1:6"]);
    }

    #[test]
    fn attributes_of_the_schema_come_first() {
        check(
            "a = 1\nschema S[p]:\n    x: int = a + p\n",
            &["a -> attribute or global a", "p -> attribute or Parameter 2:10"],
        );
    }
}
