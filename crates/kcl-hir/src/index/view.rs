//! Reading an index.

use super::{
    ALWAYS, FILES, IMPORTS, INSIDE, N_COUNTS, OUTSIDE, SLOTS, STMTS, TABLE, TEXTS, WIDTHS,
};
use base_cache::Sealed;
use base_text::Span;

/// The index of one package. Every read is `None` where the bytes are damaged.
#[derive(Debug)]
pub(crate) struct Index {
    bytes: Sealed,
    counts: [usize; N_COUNTS],
    /// Where the lists start, in words.
    starts: [usize; N_COUNTS],
}

/// A name that the files of a package import something by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'i> {
    pub(crate) name: &'i str,
    /// The path as written.
    pub(crate) path: &'i str,
    pub(crate) is_used: bool,
    pub(crate) has_alias: bool,
}

/// An import statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedImport {
    pub(crate) slot: u32,
    pub(crate) span: Span,
}

/// What a statement needs of another package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub(crate) slot: u32,
    /// The hash of the name, or [`super::ALL`].
    pub(crate) name: u32,
}

impl Index {
    /// Opens an index; `None` if the bytes are none.
    pub(crate) fn open(bytes: Sealed) -> Option<Self> {
        let mut counts = [0; N_COUNTS];
        let head = bytes.get(0..N_COUNTS * 4)?;
        for (count, word) in counts.iter_mut().zip(head.chunks_exact(4)) {
            *count = u32::from_le_bytes(word.try_into().ok()?) as usize;
        }
        let mut starts = [0; N_COUNTS];
        let mut next = N_COUNTS;
        for list in 0..N_COUNTS {
            starts[list] = next;
            next += counts[list].checked_mul(WIDTHS[list])?;
        }
        let is_whole = bytes.len() == next * 4
            && counts[FILES] > 0
            && counts[STMTS] > 0
            && counts[TABLE].is_power_of_two();
        is_whole.then_some(Self { bytes, counts, starts })
    }

    /// An item of a list.
    fn item<const N: usize>(&self, list: usize, at: usize) -> Option<[u32; N]> {
        if at >= self.counts[list] {
            return None;
        }
        let start = (self.starts[list] + at * N) * 4;
        let mut item = [0; N];
        for (word, bytes) in item.iter_mut().zip(self.bytes.get(start..start + N * 4)?.chunks(4)) {
            *word = u32::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(item)
    }

    fn text(&self, start: u32, len: u32) -> Option<&str> {
        let start = self.starts[TEXTS] * 4 + start as usize;
        std::str::from_utf8(self.bytes.get(start..start.checked_add(len as usize)?)?).ok()
    }

    /// The number of files.
    pub(crate) fn n_files(&self) -> usize {
        self.counts[FILES] - 1
    }

    /// The number of statements.
    pub(crate) fn n_stmts(&self) -> u32 {
        self.counts[STMTS] as u32 - 1
    }

    /// The number of slots.
    pub(crate) fn n_slots(&self) -> u32 {
        self.counts[SLOTS] as u32
    }

    /// A slot by number.
    pub(crate) fn slot(&self, slot: u32) -> Option<Slot<'_>> {
        let [name, name_len, path, path_len, is_used, has_alias] =
            self.item(SLOTS, slot as usize)?;
        Some(Slot {
            name: self.text(name, name_len)?,
            path: self.text(path, path_len)?,
            is_used: is_used != 0,
            has_alias: has_alias != 0,
        })
    }

    /// The imports of a file.
    pub(crate) fn imports(&self, file: usize) -> Option<Vec<IndexedImport>> {
        let [start, _] = self.item(FILES, file)?;
        let [end, _] = self.item(FILES, file + 1)?;
        let import = |at| {
            let [slot, start, end] = self.item(IMPORTS, at as usize)?;
            Some(IndexedImport { slot, span: Span::new(start, end) })
        };
        (start..end).map(import).collect()
    }

    /// The file of a statement and where it stands there.
    pub(crate) fn stmt(&self, stmt: u32) -> Option<(u32, Span)> {
        let [file, start, end, ..] = self.item::<5>(STMTS, stmt as usize)?;
        Some((file, Span::new(start, end)))
    }

    /// The statements that run whenever the package is imported.
    pub(crate) fn always(&self) -> Option<Vec<u32>> {
        (0..self.counts[ALWAYS]).map(|at| self.item::<1>(ALWAYS, at).map(|[stmt]| stmt)).collect()
    }

    /// Calls `found` with the declarations of a name.
    pub(crate) fn declared(&self, hash: u32, mut found: impl FnMut(u32)) -> Option<()> {
        let mask = self.counts[TABLE] - 1;
        let mut at = hash as usize & mask;
        for _ in 0..=mask {
            let [known, stmt] = self.item(TABLE, at)?;
            if stmt == 0 {
                break;
            }
            if known == hash {
                found(stmt - 1);
            }
            at = (at + 1) & mask;
        }
        Some(())
    }

    /// Calls `inside` and `outside` with what a statement needs.
    pub(crate) fn needs(
        &self,
        stmt: u32,
        mut inside: impl FnMut(u32),
        mut outside: impl FnMut(Outside),
    ) -> Option<()> {
        let [_, _, _, first_inside, first_outside] = self.item(STMTS, stmt as usize)?;
        let [_, _, _, end_inside, end_outside] = self.item(STMTS, stmt as usize + 1)?;
        for at in first_inside..end_inside {
            let [other] = self.item(INSIDE, at as usize)?;
            inside(other);
        }
        for at in first_outside..end_outside {
            let [slot, name] = self.item(OUTSIDE, at as usize)?;
            outside(Outside { slot, name });
        }
        Some(())
    }
}
