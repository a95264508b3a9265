//! The checker gives names the types of the definitions that the evaluator reads; and tools find
//! all places of a name.

use base_diag::{Edit, apply_edits};
use base_system::{MemorySystem, System};
use base_text::{FileSpan, Name};
use kcl_hir::names::{
    DefinitionKind, Symbol, definitions, occurrence_at, occurrences, references, uses,
};
use kcl_hir::{
    GlobalKind, Input, LoadOptions, PackageId, PackageMap, Program, load, resolve_entries,
};
use kcl_syntax::ast::{Expr, Stmt};
use language::{Case, Topic, answer};
use std::path::Path;
use std::process::ExitCode;
use testkit::{Fixture, Suite};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add("types_are_those_of_the_definitions", types_are_those_of_the_definitions);
    suite.add("renamed_names_change_nothing", renamed_names_change_nothing);
    suite.add("unfinished_programs_have_names", unfinished_programs_have_names);
    suite.run()
}

fn program(text: &str) -> Option<Program> {
    let mut system = MemorySystem::new().with_current_dir("/fixture");
    for file in Fixture::parse(text).files {
        system = system.with_file(file.path, file.text);
    }
    load_program(&system, &[Input::path("main.k")], Path::new("/fixture"))
}

/// Loads a program; `None` if it has errors before type checking.
fn load_program(system: &dyn System, inputs: &[Input], folder: &Path) -> Option<Program> {
    let entries = resolve_entries(system, inputs, folder, &PackageMap::default()).ok()?;
    let loaded = load(system, &entries, &LoadOptions::default()).ok()?;
    (!loaded.has_errors()).then_some(loaded.value)
}

/// Renames each private or local name of each fixture of one file wherever `references` finds it.
fn renamed_names_change_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let (mut n_renamed, mut wrong) = (0, Vec::new());
    for topic in Topic::read_all(&folder).expect("the fixtures can be read") {
        for case in topic.cases.iter().filter(|case| case.answer.starts_with("--- output")) {
            let Some(program) = program(&case.program) else { continue };
            let [source] = program.files.as_slice() else { continue };
            if *source.text != case.program {
                continue;
            }
            for Renaming { symbol, from, to } in renamings(&program) {
                let places = references(&program, symbol).into_iter();
                let edits: Vec<Edit> = places.map(|at| Edit { at, text: to.into() }).collect();
                let renamed = apply_edits(&source.text, &edits).expect("places do not overlap");
                let case = Case { program: renamed, ..case.clone() };
                n_renamed += 1;
                let answer = answer(&case).expect("the arguments are known");
                if answer.replace(to, from.as_str()) != case.answer {
                    wrong.push(format!("{} {}\n{}", topic.name, case.name, case.program));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_renamed > 300, "only {n_renamed} names were changed");
}

struct Renaming {
    symbol: Symbol,
    from: Name,
    to: &'static str,
}

/// What can be renamed in a program with one file without a change of its result.
fn renamings(program: &Program) -> Vec<Renaming> {
    let package = PackageId(0);
    let (file, source) = (program.package(package).files[0], &program.files[0]);
    let mut found = Vec::new();
    for (number, (&from, global)) in program.package(package).globals.iter().enumerate() {
        let to = match global.kind {
            GlobalKind::Variable if from.is_private() => "_renamed",
            GlobalKind::Variable => continue,
            _ if from.as_str().ends_with("Mixin") => "RenamedMixin",
            _ if from.as_str().ends_with("Protocol") => "RenamedProtocol",
            _ => "Renamed",
        };
        let symbol = Symbol::Global { package, number: number as u32 };
        found.push(Renaming { symbol, from, to });
    }
    for &unit in &source.module.body {
        let lends_params = match &source.module[unit].kind {
            Stmt::Rule(_) => true,
            Stmt::Schema(schema) => !schema.mixins.is_empty(),
            _ => false,
        };
        for (number, it) in uses(program, file, unit).definitions.iter().enumerate() {
            // Calls name parameters, base rules and mixins read those of what uses them, keys are
            // output.
            let is_fixed = match it.kind {
                DefinitionKind::Variable | DefinitionKind::LoopVariable => false,
                DefinitionKind::Parameter => {
                    lends_params || source.text.contains(&format!("{}=", it.name))
                }
                DefinitionKind::Key => true,
            };
            if !is_fixed {
                let symbol = Symbol::Local { file, unit, number: number as u32 };
                found.push(Renaming { symbol, from: it.name, to: "renamed" });
            }
        }
    }
    found
}

/// Cuts each fixture off in the middle, as if it was being typed, and asks about every name.
fn unfinished_programs_have_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut n_names = 0;
    for topic in Topic::read_all(&folder).expect("the fixtures can be read") {
        for case in &topic.cases {
            let middle = case.program.char_indices().nth(case.program.chars().count() * 2 / 3);
            let text = &case.program[..middle.map_or(0, |(at, _)| at)];
            let system = MemorySystem::new().with_file("/fixture/main.k", text);
            let (inputs, folder) = ([Input::path("main.k")], Path::new("/fixture"));
            let entries = resolve_entries(&system, &inputs, folder, &PackageMap::default());
            let entries = entries.expect("the file exists");
            let loaded = load(&system, &entries, &LoadOptions::default());
            let program = loaded.expect("the file can be read").value;
            n_names += ask_about_all(&program);
        }
    }
    assert!(n_names > 2000, "only {n_names} names were found");
}

/// Asks about every name of the main package; returns how many there are.
fn ask_about_all(program: &Program) -> usize {
    let mut n_names = 0;
    for &file in &program.package(PackageId(0)).files {
        let source = program.file(file);
        for it in source.module.body.iter().flat_map(|unit| occurrences(program, file, *unit)) {
            let written = it.at.slice(&source.text);
            let again = occurrence_at(program, file, it.at.start);
            assert!(again.is_some_and(|again| again.at == it.at), "{written} {:?}", it.at);
            for symbol in it.symbols {
                let places = references(program, symbol);
                assert!(places.contains(&FileSpan { file, span: it.at }), "{written} {symbol:?}");
                let is_built_in = matches!(symbol, Symbol::Member { .. } | Symbol::Function(_));
                assert_eq!(definitions(program, symbol).is_empty(), is_built_in, "{symbol:?}");
            }
            n_names += 1;
        }
    }
    n_names
}

/// A walk of blocks, statement by statement, would see another definition in each of these cases.
fn types_are_those_of_the_definitions() {
    // What it is about, the program, the last use of a name, its type.
    let cases = [
        (
            "parameters come before attributes",
            "schema S:\n    x: int = 1\n    f = lambda x: str { x }\n",
            "x",
            "str",
        ),
        (
            "a value is read before its name is set",
            "x = 1\nf = lambda {\n    x = x\n}\n",
            "x",
            "int",
        ),
        ("a path sets no name", "x = \"\"\nf = lambda {\n    x.a = 1\n    x\n}\n", "x", "str"),
        ("defaults see parameters", "x = 1\nf = lambda x: str = x -> int { 1 }\n", "x", "str"),
        (
            "keys of an if may be set",
            "k = \"\"\nc = {\n    if True:\n        k = 2\n    l = k\n}\n",
            "k",
            "any",
        ),
        (
            "a loop variable comes before a key",
            "a = [{t = 1, r = t} for t in [\"a\"]]\n",
            "t",
            "str",
        ),
        (
            "a loop variable is seen in the whole loop",
            "schema S:\n    i: str = \"\"\n    a = [[j for j in [1]] + [i] for i in [2]]\n",
            "i",
            "int",
        ),
        (
            "variables of lambdas are no attributes",
            "schema S:\n    t: str\n    f = lambda {\n        t = 1\n        t\n    }\n",
            "t",
            "int",
        ),
        (
            "attributes without a type are attributes",
            "x = 1\nschema S:\n    x: any\n    y = x\n",
            "x",
            "any",
        ),
        (
            "attributes are known before they are set",
            "x = 1\nschema S:\n    y = x\n    x = \"\"\n",
            "x",
            "any",
        ),
        (
            "imports come before attributes",
            "import units\nschema S:\n    units: {str:str} = {}\n    a = units.Ki\n",
            "units",
            "int",
        ),
        (
            "configs of one name are one scope of keys",
            "schema S:\n    k: int\n    l: int\nk = \"\"\ns: S {k = 1}\ns: S {l = k}\n",
            "k",
            "int(1)",
        ),
    ];
    for (about, text, name, want) in cases {
        let program = program(text).expect("the program can be loaded");
        let types = kcl_types::check_with_types(&program).types;
        let file = program.package(PackageId(0)).files[0];
        let module = &program.file(file).module;
        let all = module.body.iter().flat_map(|unit| uses(&program, file, *unit).uses);
        let mut exprs: Vec<_> = all
            .filter(|it| it.ident.name.as_str() == name)
            .filter_map(|it| it.expr.filter(|expr| matches!(module[*expr].kind, Expr::Ident(_))))
            .filter_map(|expr| Some((module[expr].span.start, types.expr(file, expr)?.to_string())))
            .collect();
        exprs.sort();
        assert_eq!(exprs.last().map(|(_, ty)| ty.as_str()), Some(want), "{about}");
    }
}
