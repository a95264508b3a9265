//! Gives a symbol another name.

use base_diag::Edit;
use base_text::{FileSpan, Name};
use kcl_hir::names::{Meaning, Symbol, references, visit_definitions};
use kcl_hir::{PackageId, Program};
use kcl_syntax::ast::{Expr, Stmt};
use kcl_types::ty::{SchemaId, Type};
use kcl_types::{TypeTable, check_with_types};
use thiserror::Error;

/// Why a symbol cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RenameError {
    /// There is no such symbol. In the words of the reference.
    #[error("get symbol from symbol path failed, {0}")]
    Unknown(String),
    /// The new name is no identifier.
    #[error("invalid name `{0}`: expected letters, digits and `_`, and no keyword")]
    Name(String),
    /// The new name means something else already.
    #[error("cannot rename to `{0}`: the name is in use")]
    Taken(String),
}

/// Finds the edits that rename a symbol of the main package in all files of the program: a global
/// (`app`), or an attribute of a schema (`App.image`).
///
/// # Errors
/// See [`RenameError`].
pub fn rename(program: &Program, symbol: &str, new: &str) -> Result<Vec<Edit>, RenameError> {
    if !is_identifier(new) {
        return Err(RenameError::Name(new.to_owned()));
    }
    let symbol_path = symbol;
    let unknown = || RenameError::Unknown(symbol_path.to_owned());
    let symbol = find_symbol(program, symbol_path).ok_or_else(unknown)?;
    let old = symbol_path.rsplit('.').next().unwrap_or(symbol_path);
    let mut places = references(program, symbol);
    let is_taken = match symbol {
        Symbol::Attribute { file, schema, .. } => {
            let schema_name = symbol_path.split('.').next().unwrap_or("");
            places.extend(members(program, schema_name, old));
            has_attribute(program, (file, schema), new)
        }
        _ => program
            .main_package()
            .into_iter()
            .flat_map(|package| &package.files)
            .any(|file| program.global_meaning(*file, Name::new(new)) != Meaning::Missing),
    };
    if is_taken {
        return Err(RenameError::Taken(new.to_owned()));
    }
    places.sort();
    places.dedup();
    let edits = places.into_iter().map(|at| Edit { at, text: written(program, at, old, new) });
    Ok(edits.collect())
}

/// The new name as it is written at a place: in quotes if the old one is.
fn written(program: &Program, at: FileSpan, old: &str, new: &str) -> String {
    let text = at.span.slice(&program.file(at.file).text);
    if text.len() > old.len() && text.contains(['"', '\'']) {
        text.replace(old, new)
    } else {
        new.to_owned()
    }
}

fn is_identifier(name: &str) -> bool {
    let parsed = kcl_syntax::parse(&format!("{name} = 1\n"));
    let is_one_word = !name.contains(|c: char| !(c.is_alphanumeric() || c == '_'));
    is_one_word && !name.is_empty() && parsed.diagnostics.is_empty()
}

/// Finds a symbol by its path: a global of the main package (`app`), or an attribute of a schema
/// there (`App.image`).
pub fn find_symbol(program: &Program, path: &str) -> Option<Symbol> {
    let globals = &program.main_package()?.globals;
    match path.split('.').collect::<Vec<_>>().as_slice() {
        [name] => {
            let number = globals.get_index_of(&Name::new(name))? as u32;
            Some(Symbol::Global { package: PackageId(0), number })
        }
        [schema, name] => {
            let sites = &globals.get(&Name::new(schema))?.definitions;
            sites.iter().find_map(|&(file, schema)| {
                let name_there = has_attribute(program, (file, schema), name);
                name_there.then(|| Symbol::Attribute { file, schema, name: Name::new(name) })
            })
        }
        _ => None,
    }
}

fn has_attribute(
    program: &Program,
    (file, stmt): (base_text::FileId, kcl_syntax::ast::StmtId),
    name: &str,
) -> bool {
    let module = &program.file(file).module;
    let Stmt::Schema(schema) = &module[stmt].kind else { return false };
    let mut is_there = false;
    for inner in &schema.body {
        visit_definitions(module, *inner, &mut |it| {
            is_there |= it.ident.name.as_str() == name;
        });
    }
    is_there
}

/// Where an attribute is read from a value: `app.image`. Only types can tell.
fn members(program: &Program, schema: &str, attribute: &str) -> Vec<FileSpan> {
    let types = check_with_types(program).types;
    let Some(id) = schema_id(&types, schema) else { return Vec::new() };
    let mut places = Vec::new();
    for (number, file) in program.files.iter().enumerate() {
        let file_id = base_text::FileId(number as u32);
        for node in &file.module.exprs {
            let (mut ty, names) = match &node.kind {
                Expr::Ident(path) => {
                    let Some((first, rest)) = path.names.split_first() else { continue };
                    let global = types.globals(file.package).find(|(name, _)| *name == first.name);
                    (global.map(|(_, ty)| ty.clone()), rest)
                }
                Expr::Selector { value, attr, .. } => {
                    (types.expr(file_id, *value).cloned(), attr.names.as_slice())
                }
                _ => continue,
            };
            for name in names {
                let Some(Type::Schema(reference)) = &ty else { break };
                if derives(&types, reference.id, id) && name.name.as_str() == attribute {
                    places.push(FileSpan { file: file_id, span: name.span });
                }
                ty = member_type(&types, reference.id, name.name);
            }
        }
    }
    places
}

fn schema_id(types: &TypeTable, name: &str) -> Option<SchemaId> {
    let mut globals = types.globals(PackageId(0));
    globals.find_map(|(known, ty)| match ty {
        Type::Schema(reference) if known.as_str() == name => Some(reference.id),
        _ => None,
    })
}

/// How many bases are followed.
const MAX_BASES: usize = 100;

/// A schema and its bases.
fn lineage(types: &TypeTable, id: SchemaId) -> impl Iterator<Item = SchemaId> {
    let base = |id: &SchemaId| types.schema(*id).and_then(|schema| schema.base);
    std::iter::successors(Some(id), base).take(MAX_BASES)
}

fn derives(types: &TypeTable, id: SchemaId, from: SchemaId) -> bool {
    lineage(types, id).any(|it| it == from)
}

fn member_type(types: &TypeTable, id: SchemaId, name: Name) -> Option<Type> {
    let attr = lineage(types, id).find_map(|it| types.schema(it)?.attrs.get(name));
    attr.map(|attr| attr.ty.clone())
}
