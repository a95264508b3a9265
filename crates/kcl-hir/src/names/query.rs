//! Questions of an editor about one place or one symbol.

use super::{Occurrence, Symbol, first_byte, occurrences};
use crate::program::{Program, SourceFile};
use base_text::{FileId, FileSpan};
use kcl_syntax::ast::StmtId;

/// Finds the name at a byte of a file, or the one that ends there. Looks at the declaration
/// around it only.
pub fn occurrence_at(program: &Program, file: FileId, offset: u32) -> Option<Occurrence> {
    let unit = unit_at(program.file(file), offset)?;
    let found = occurrences(program, file, unit);
    let at = found.iter().position(|it| it.at.contains(offset));
    let at = at.or_else(|| found.iter().position(|it| it.at.end == offset))?;
    found.into_iter().nth(at)
}

/// Finds where the name at a byte of a file is defined. There are several places if several
/// statements set it; none if it is built in.
pub fn definition_at(program: &Program, file: FileId, offset: u32) -> Vec<FileSpan> {
    let Some(found) = occurrence_at(program, file, offset) else { return Vec::new() };
    let places = found.symbols.iter().flat_map(|symbol| definitions(program, *symbol));
    let mut places: Vec<FileSpan> = places.collect();
    places.sort();
    places.dedup();
    places
}

/// Finds where a symbol is defined or set, in the order of files.
pub fn definitions(program: &Program, symbol: Symbol) -> Vec<FileSpan> {
    let units: Vec<(FileId, StmtId)> = match symbol {
        Symbol::Local { file, unit, .. } => vec![(file, unit)],
        Symbol::Attribute { file, schema, .. } => vec![(file, schema)],
        Symbol::Import { file, stmt } => vec![(file, stmt)],
        Symbol::Global { package, number } => {
            let global = program.package(package).globals.get_index(number as usize);
            global.map_or(Vec::new(), |(_, global)| global.definitions.clone())
        }
        Symbol::Member { .. } | Symbol::Function(_) => Vec::new(),
    };
    places(program, units, symbol, |it| it.is_definition)
}

/// Finds all places that name a symbol, its definitions included, in the order of files.
pub fn references(program: &Program, symbol: Symbol) -> Vec<FileSpan> {
    if let Symbol::Local { file, unit, .. } = symbol {
        return places(program, [(file, unit)], symbol, |_| true);
    }
    let may_name = |source: &SourceFile| match symbol {
        Symbol::Global { package, .. } => {
            let mut imports = source.imports.iter();
            source.package == package
                || imports.any(|import| import.target.package() == Some(package))
        }
        Symbol::Import { file, .. } => source.package == program.file(file).package,
        _ => true,
    };
    let files = (0..program.files.len() as u32).map(FileId);
    let files = files.filter(|file| may_name(program.file(*file)));
    let units =
        files.flat_map(|file| program.file(file).module.body.iter().map(move |unit| (file, *unit)));
    places(program, units, symbol, |_| true)
}

fn places(
    program: &Program,
    units: impl IntoIterator<Item = (FileId, StmtId)>,
    symbol: Symbol,
    counts: impl Fn(&Occurrence) -> bool,
) -> Vec<FileSpan> {
    let mut places = Vec::new();
    for (file, unit) in units {
        let found = occurrences(program, file, unit);
        let found = found.iter().filter(|it| it.symbols.contains(&symbol) && counts(it));
        places.extend(found.map(|it| FileSpan { file, span: it.at }));
    }
    places
}

/// The top-level statement around a byte, decorators included.
fn unit_at(source: &SourceFile, offset: u32) -> Option<StmtId> {
    let module = &source.module;
    module.body.iter().rev().find(|stmt| first_byte(module, **stmt) <= offset).copied()
}

#[cfg(test)]
mod tests;
