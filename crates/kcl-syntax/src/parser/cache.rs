//! Names met lately.

use base_text::Name;

const SIZE: usize = 256;

/// Gives names without asking the table of the process each time: most words of a file
/// stand in it more than once.
pub(super) struct NameCache {
    slots: Vec<Option<Name>>,
}

impl Default for NameCache {
    fn default() -> Self {
        Self { slots: vec![None; SIZE] }
    }
}

impl NameCache {
    /// The name with this text.
    pub(super) fn get(&mut self, text: &str) -> Name {
        let slot = &mut self.slots[slot(text)];
        match slot {
            Some(name) if name.as_str() == text => *name,
            _ => *slot.insert(Name::new(text)),
        }
    }
}

/// The slot of a text: its length and some of its bytes tell words apart well enough.
fn slot(text: &str) -> usize {
    let bytes = text.as_bytes();
    let len = bytes.len();
    let at = |index: usize| usize::from(bytes.get(index).copied().unwrap_or(0));
    let sum = at(0)
        + at(len / 2).wrapping_mul(31)
        + at(len.wrapping_sub(2)).wrapping_mul(7)
        + at(len.wrapping_sub(1)).wrapping_mul(61)
        + len.wrapping_mul(17);
    sum % SIZE
}
