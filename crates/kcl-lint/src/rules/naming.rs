//! `L1004`: names of schemas and types.

use super::Context;
use base_diag::{Diagnostic, Fix};
use base_text::Name;
use kcl_hir::names::{Meaning, Symbol, references};
use kcl_syntax::ast::{Ident, Stmt};

const CODE: (&str, &str) = ("L1004", "Naming");

/// Finds schemas, rules and type aliases whose names do not start with a capital letter.
pub(crate) fn naming(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    for &stmt in &module.body {
        let (name, what) = match &module[stmt].kind {
            Stmt::Schema(schema) => (schema.name, "schema"),
            Stmt::Rule(rule) => (rule.name, "rule"),
            Stmt::TypeAlias(alias) => (alias.name, "type"),
            _ => continue,
        };
        let word = name.name.as_str().trim_start_matches('_');
        if !word.starts_with(|c: char| c.is_lowercase()) && !word.contains('_') {
            continue;
        }
        let better = upper_camel(name.name.as_str());
        let message = format!("the name of {what} `{}` should be `{better}`", name.name);
        let mut finding = context.warning(CODE, name.span, message);
        finding.fixes.extend(rename(context, name, &better));
        found.push(finding);
    }
}

/// `my_app` as `MyApp`; a `_` in front stays.
fn upper_camel(name: &str) -> String {
    let word = name.trim_start_matches('_');
    let mut out = name[..name.len() - word.len()].to_owned();
    for part in word.split('_') {
        let mut chars = part.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

fn rename(context: &Context<'_>, name: Ident, better: &str) -> Option<Fix> {
    let program = context.program;
    let package = context.source().package;
    let number = program.package(package).globals.get_index_of(&name.name)? as u32;
    if program.global_meaning(context.file, Name::new(better)) != Meaning::Missing {
        return None;
    }
    let places = references(program, Symbol::Global { package, number });
    let fix = Fix::suggestion(format!("rename `{}` to `{better}`", name.name));
    Some(places.into_iter().fold(fix, |fix, at| fix.edit(at, better)))
}

#[cfg(test)]
mod tests {
    use super::upper_camel;

    #[test]
    fn better_names() {
        assert_eq!(upper_camel("app"), "App");
        assert_eq!(upper_camel("_my_app"), "_MyApp");
        assert_eq!(upper_camel("App_v1"), "AppV1");
    }
}
