//! The options that a program reads: calls of `option()`.

use kcl_fmt::{Style, print_expr};
use kcl_hir::Program;
use kcl_syntax::ast::{Call, Constant, Expr, ExprId, Module};

/// One option that a program reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionInfo {
    /// The name.
    pub name: String,
    /// The type it is converted to; empty if none is named.
    pub ty: String,
    /// Whether it must be given.
    pub required: bool,
    /// The source of its default; empty without one.
    pub default: String,
    /// What it is for.
    pub help: String,
}

/// Lists the options that the main package reads with literal names, once each, in the order of
/// files and places.
pub fn list_options(program: &Program) -> Vec<OptionInfo> {
    let Some(package) = program.main_package() else { return Vec::new() };
    let mut found: Vec<(u32, OptionInfo)> = Vec::new();
    let mut options: Vec<OptionInfo> = Vec::new();
    for &file in &package.files {
        let source = program.file(file);
        for node in &source.module.exprs {
            if let Expr::Call(call) = &node.kind
                && let Some(option) = option(&source.module, &source.text, call)
            {
                found.push((node.span.start, option));
            }
        }
        found.sort_by_key(|(start, _)| *start);
        for (_, option) in found.drain(..) {
            if !options.iter().any(|known| known.name == option.name) {
                options.push(option);
            }
        }
    }
    options
}

fn option(module: &Module, text: &str, call: &Call) -> Option<OptionInfo> {
    let Expr::Ident(path) = &module[call.func].kind else { return None };
    let [name] = path.names.as_slice() else { return None };
    if name.name.as_str() != "option" {
        return None;
    }
    let argument = |at: usize, name: &str| {
        let named = call.kwargs.iter().find(|it| it.arg.names[0].name.as_str() == name);
        named.map_or_else(|| call.args.get(at).copied(), |it| it.value)
    };
    let string = |expr: Option<ExprId>| match &module[expr?].kind {
        Expr::String(text) => Some(text.value.to_string()),
        _ => None,
    };
    let source = |expr: ExprId| print_expr(module, text, expr, Style::default());
    Some(OptionInfo {
        name: string(argument(0, "key"))?,
        ty: string(argument(1, "type")).unwrap_or_default(),
        required: argument(2, "required")
            .is_some_and(|it| matches!(module[it].kind, Expr::Constant(Constant::True))),
        default: argument(3, "default").map(source).unwrap_or_default(),
        help: string(argument(4, "help")).unwrap_or_default(),
    })
}
