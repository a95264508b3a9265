//! Making an index from trees.

use super::{ALL, N_COUNTS, WIDTHS, name_hash};
use crate::names::{expr_path, first_byte, stmt_paths, type_path, visit_definitions};
use crate::program::{GlobalKind, ImportTarget, Package, Program, SourceFile};
use base_text::{Name, Span};
use kcl_syntax::ast::{Module, Path, Stmt, StmtId};
use rustc_hash::FxHashMap;

/// Makes the index of a package whose files have no syntax errors.
///
/// `None` for a package that can't be taken apart into statements.
pub(crate) fn build(program: &Program, package: &Package) -> Option<Vec<u8>> {
    let mut builder = Builder::default();
    let mut files = Vec::with_capacity(package.files.len());
    for id in &package.files {
        let file = program.file(*id);
        let places = places(file)?;
        builder.add_file(files.len() as u32, file, &places)?;
        files.push((file, places));
    }
    builder.files.extend([builder.imports.len() as u32 / 3, builder.n_stmts]);
    for (at, (file, places)) in files.iter().enumerate() {
        builder.add_needs(at as u32, file, places)?;
    }
    builder.end_stmt(0, Span::default());
    builder.finish()
}

/// A top-level statement and the lines it stands on.
type Placed = (StmtId, Span);

#[derive(Default)]
struct Builder {
    files: Vec<u32>,
    imports: Vec<u32>,
    slots: Vec<u32>,
    stmts: Vec<u32>,
    always: Vec<u32>,
    inside: Vec<u32>,
    outside: Vec<u32>,
    texts: Vec<u8>,
    n_stmts: u32,
    /// The statements by the names that they declare.
    declared: FxHashMap<Name, u32>,
    slot_numbers: FxHashMap<(Name, Box<str>, bool), u32>,
    /// The slots that lead to packages, by name.
    by_name: FxHashMap<Name, Vec<u32>>,
}

/// The statements of a file; each takes the lines up to the next one.
fn places(file: &SourceFile) -> Option<Vec<Placed>> {
    let module = &*file.module;
    let mut places: Vec<Placed> = Vec::with_capacity(module.body.len());
    for &stmt in &module.body {
        let start = line_start(&file.text, first_byte(module, stmt));
        if let Some((_, last)) = places.last_mut() {
            if start <= last.start {
                return None;
            }
            last.end = start;
        }
        places.push((stmt, Span::new(start, start)));
    }
    if let Some((_, last)) = places.last_mut() {
        last.end = file.text.len() as u32;
    }
    let is_whole = |(stmt, lines): &Placed| {
        let span = module[*stmt].span;
        let first = file.text.as_bytes().get(lines.start as usize);
        lines.start <= span.start && span.end <= lines.end && !matches!(first, Some(b' ' | b'\t'))
    };
    places.iter().all(is_whole).then_some(places)
}

fn line_start(text: &str, at: u32) -> u32 {
    let before = text.as_bytes().get(..at as usize).unwrap_or_default();
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline as u32 + 1)
}

/// The name that a statement declares, if that is all it does.
fn declared_name(module: &Module, stmt: StmtId) -> Option<Name> {
    let mut name = None;
    visit_definitions(module, stmt, &mut |defined| match defined.kind {
        Some(GlobalKind::Schema | GlobalKind::Rule | GlobalKind::TypeAlias)
            if defined.stmt == stmt =>
        {
            name = Some(defined.ident.name);
        }
        _ => {}
    });
    name
}

impl Builder {
    fn add_file(&mut self, at: u32, file: &SourceFile, places: &[Placed]) -> Option<()> {
        self.files.extend([self.imports.len() as u32 / 3, self.n_stmts]);
        debug_assert_eq!(self.files.len(), at as usize * 2 + 2);
        for import in &file.imports {
            let Stmt::Import(stmt) = &file.module[import.stmt].kind else { return None };
            let is_package = matches!(import.target, ImportTarget::Package(_));
            if !is_package && import.target != ImportTarget::System {
                return None;
            }
            let key = (import.name, stmt.path.value.clone(), stmt.asname.is_some());
            let slot = match self.slot_numbers.get(&key) {
                Some(slot) => *slot,
                None => self.add_slot(key, import.is_used, is_package),
            };
            let span = file.module[import.stmt].span;
            self.imports.extend([slot, span.start, span.end]);
        }
        for (stmt, _) in places {
            if matches!(file.module[*stmt].kind, Stmt::Import(_)) {
                continue;
            }
            match declared_name(&file.module, *stmt) {
                Some(name) => {
                    if self.declared.insert(name, self.n_stmts).is_some() {
                        return None;
                    }
                }
                None => self.always.push(self.n_stmts),
            }
            self.n_stmts += 1;
        }
        Some(())
    }

    fn add_slot(&mut self, key: (Name, Box<str>, bool), is_used: bool, is_package: bool) -> u32 {
        let slot = self.slots.len() as u32 / 6;
        let (name, path, has_alias) = &key;
        for text in [name.as_str(), path] {
            self.slots.extend([self.texts.len() as u32, text.len() as u32]);
            self.texts.extend_from_slice(text.as_bytes());
        }
        self.slots.extend([u32::from(is_used), u32::from(*has_alias)]);
        if is_package {
            self.by_name.entry(*name).or_default().push(slot);
        }
        self.slot_numbers.insert(key, slot);
        slot
    }

    /// Notes what the statements of a file need. Nodes lie in the order of statements.
    fn add_needs(&mut self, at: u32, file: &SourceFile, places: &[Placed]) -> Option<()> {
        let module = &*file.module;
        let mut exprs = module.exprs.iter().peekable();
        let mut types = module.types.iter().peekable();
        let mut stmts = module.stmts.iter().peekable();
        for (stmt, lines) in places {
            let is_import = matches!(module[*stmt].kind, Stmt::Import(_));
            let (first_inside, first_outside) = (self.inside.len(), self.outside.len());
            if !is_import {
                self.end_stmt(at, *lines);
            }
            while let Some(expr) = exprs.next_if(|expr| expr.span.start < lines.end) {
                if expr.span.start < lines.start {
                    return None;
                }
                if let Some(path) = expr_path(&expr.kind) {
                    self.need(path);
                }
            }
            while let Some(ty) = types.next_if(|ty| ty.span.start < lines.end) {
                if ty.span.start < lines.start {
                    return None;
                }
                if let Some(path) = type_path(&ty.kind) {
                    self.need(path);
                }
            }
            while let Some(stmt) = stmts.next_if(|stmt| stmt.span.start < lines.end) {
                if stmt.span.start < lines.start {
                    return None;
                }
                stmt_paths(&stmt.kind, |path| self.need(path));
            }
            self.sort_needs(first_inside, first_outside);
        }
        let is_done = exprs.next().is_none() && types.next().is_none() && stmts.next().is_none();
        is_done.then_some(())
    }

    /// Begins the next statement.
    fn end_stmt(&mut self, file: u32, lines: Span) {
        let needs = [self.inside.len() as u32, self.outside.len() as u32 / 2];
        self.stmts.extend([file, lines.start, lines.end, needs[0], needs[1]]);
    }

    fn need(&mut self, path: &Path) {
        let Some((first, rest)) = path.names.split_first() else { return };
        if let Some(stmt) = self.declared.get(&first.name) {
            self.inside.push(*stmt);
        }
        if let Some(slots) = self.by_name.get(&first.name) {
            let name = rest.first().map_or(ALL, |second| name_hash(second.name.as_str()));
            for slot in slots {
                self.outside.extend([*slot, name]);
            }
        }
    }

    /// Sorts the needs of the last statement and drops repeated ones.
    fn sort_needs(&mut self, first_inside: usize, first_outside: usize) {
        let mut inside = self.inside.split_off(first_inside);
        inside.sort_unstable();
        inside.dedup();
        self.inside.extend(inside);
        if self.outside.len() - first_outside > 2 {
            let outside = self.outside.split_off(first_outside);
            let mut pairs: Vec<[u32; 2]> =
                outside.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            self.outside.extend(pairs.into_iter().flatten());
        }
    }

    fn table(&self) -> Vec<u32> {
        let n_slots = (self.declared.len() * 2).next_power_of_two();
        let mut table = vec![0; n_slots * 2];
        let mut declared: Vec<(u32, u32)> =
            self.declared.iter().map(|(name, stmt)| (*stmt, name_hash(name.as_str()))).collect();
        declared.sort_unstable();
        for (stmt, hash) in declared {
            let mut at = hash as usize & (n_slots - 1);
            while table[at * 2 + 1] != 0 {
                at = (at + 1) & (n_slots - 1);
            }
            table[at * 2] = hash;
            table[at * 2 + 1] = stmt + 1;
        }
        table
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        self.texts.resize(self.texts.len().next_multiple_of(4), 0);
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let texts: Vec<u32> = self.texts.chunks_exact(4).map(word).collect();
        let table = self.table();
        let lists: [&[u32]; N_COUNTS] = [
            &self.files,
            &self.imports,
            &self.slots,
            &self.stmts,
            &self.always,
            &table,
            &self.inside,
            &self.outside,
            &texts,
        ];
        let n_words: usize = lists.iter().map(|list| list.len()).sum();
        let mut bytes = Vec::with_capacity((N_COUNTS + n_words) * 4);
        let counts = lists.iter().zip(WIDTHS).map(|(list, width)| (list.len() / width) as u32);
        let words = counts.chain(lists.iter().flat_map(|list| list.iter().copied()));
        words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        u32::try_from(bytes.len()).ok()?;
        Some(bytes)
    }
}
