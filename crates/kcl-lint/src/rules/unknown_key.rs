//! `L1006`: keys that a schema accepts, and that are nearly the name of an attribute.

use super::Context;
use base_diag::{Diagnostic, Fix};
use base_text::{FileId, Name, nearest};
use kcl_hir::Program;
use kcl_hir::names::visit_definitions;
use kcl_syntax::ast::{ConfigEntry, Expr, Schema, Stmt, StmtId};

const CODE: (&str, &str) = ("L1006", "UnknownKey");

/// How many bases are followed.
const MAX_BASES: usize = 100;

/// Finds keys of instances of schemas with an index signature, which accept any key.
pub(crate) fn unknown_key(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    for expr in &module.exprs {
        let Expr::Schema(instance) = &expr.kind else { continue };
        let Expr::Config(entries) = &module[instance.config].kind else { continue };
        let Some((package, name)) = context.program.declared(context.file, &instance.name) else {
            continue;
        };
        let Some(site) = schema_site(context.program, package, name) else { continue };
        let Some(attributes) = relaxed(context.program, site) else { continue };
        for entry in entries {
            key(context, entry, &attributes, found);
        }
    }
}

fn key(
    context: &Context<'_>,
    entry: &ConfigEntry,
    attributes: &[Name],
    found: &mut Vec<Diagnostic>,
) {
    let module = context.module();
    let Some(Expr::Ident(path)) = entry.key.map(|key| &module[key].kind) else { return };
    let [key] = path.names.as_slice() else { return };
    if attributes.contains(&key.name) {
        return;
    }
    let names = attributes.iter().map(|name| name.as_str());
    if let Some(better) = nearest(key.name.as_str(), names) {
        let message = format!("key `{}` is no attribute of the schema", key.name);
        let title = format!("replace `{}` with `{better}`", key.name);
        let fix = Fix::suggestion(title).edit(context.at(key.span), better);
        let note = format!("did you mean `{better}`?");
        found.push(context.warning(CODE, key.span, message).note(note).fix(fix));
    }
}

fn schema_site(
    program: &Program,
    package: kcl_hir::PackageId,
    name: Name,
) -> Option<(FileId, StmtId)> {
    let global = program.package(package).globals.get(&name)?;
    global.definitions.iter().copied().find(|site| schema_at(program, *site).is_some())
}

fn schema_at(program: &Program, site: (FileId, StmtId)) -> Option<&Schema> {
    match &program.file(site.0).module[site.1].kind {
        Stmt::Schema(schema) => Some(schema),
        _ => None,
    }
}

/// The attributes of a schema and its bases, if one of them has an index signature.
fn relaxed(program: &Program, site: (FileId, StmtId)) -> Option<Vec<Name>> {
    let (mut attributes, mut is_relaxed) = (Vec::new(), false);
    let mut open = vec![site];
    for _ in 0..MAX_BASES {
        let Some(site) = open.pop() else { break };
        let Some(schema) = schema_at(program, site) else { continue };
        is_relaxed |= schema.index_signature.is_some();
        let module = &program.file(site.0).module;
        for stmt in &schema.body {
            visit_definitions(module, *stmt, &mut |defined| attributes.push(defined.ident.name));
        }
        for base in schema.parent.iter().chain(&schema.mixins) {
            let declared = program.declared(site.0, base);
            open.extend(declared.and_then(|(package, name)| schema_site(program, package, name)));
        }
    }
    is_relaxed.then_some(attributes)
}
