//! Alignment of two sequences: which items of both are the same, in order.
//!
//! Equal ends are cut off first. Items that occur once on both sides then divide the rest into
//! blocks, and small blocks are aligned exactly. Work is limited: what is left when the limit is
//! reached counts as different. So the cost is O(n log n), also for hostile input.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Maximum number of comparisons of exact alignments, over all blocks.
const MAX_WORK: usize = 4_000_000;
/// Maximum number of comparisons of the exact alignment of one block.
const MAX_BLOCK: usize = 1_000_000;
/// Maximum depth of divisions.
const MAX_DEPTH: usize = 6;

/// Returns pairs of equal items, by their indexes; both indexes increase.
pub fn align<T: Eq + Hash>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let mut alignment = Alignment { a, b, pairs: Vec::new(), work: MAX_WORK };
    alignment.block(0..a.len(), 0..b.len(), 0);
    alignment.pairs
}

struct Alignment<'a, T> {
    a: &'a [T],
    b: &'a [T],
    pairs: Vec<(usize, usize)>,
    /// Comparisons that are left.
    work: usize,
}

impl<T: Eq + Hash> Alignment<'_, T> {
    fn block(&mut self, mut a: Range<usize>, mut b: Range<usize>, depth: usize) {
        while !a.is_empty() && !b.is_empty() && self.a[a.start] == self.b[b.start] {
            self.pairs.push((a.start, b.start));
            a.start += 1;
            b.start += 1;
        }
        let mut tail = Vec::new();
        while !a.is_empty() && !b.is_empty() && self.a[a.end - 1] == self.b[b.end - 1] {
            a.end -= 1;
            b.end -= 1;
            tail.push((a.end, b.end));
        }
        if !a.is_empty() && !b.is_empty() {
            self.middle(a, b, depth);
        }
        self.pairs.extend(tail.into_iter().rev());
    }

    fn middle(&mut self, a: Range<usize>, b: Range<usize>, depth: usize) {
        let cost = a.len().saturating_mul(b.len());
        if cost <= MAX_BLOCK && cost <= self.work {
            self.work -= cost;
            self.exact(a, b);
            return;
        }
        if depth == MAX_DEPTH {
            return;
        }
        let anchors = self.anchors(&a, &b);
        if anchors.is_empty() {
            return;
        }
        let (mut at_a, mut at_b) = (a.start, b.start);
        for (x, y) in anchors {
            self.block(at_a..x, at_b..y, depth + 1);
            self.pairs.push((x, y));
            (at_a, at_b) = (x + 1, y + 1);
        }
        self.block(at_a..a.end, at_b..b.end, depth + 1);
    }

    /// Returns the longest series of items that occur once on both sides.
    fn anchors(&self, a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
        // The keys are not trusted, so the hash is seeded.
        let mut seen: HashMap<&T, (usize, usize, usize, usize)> = HashMap::new();
        for at in a.clone() {
            let entry = seen.entry(&self.a[at]).or_default();
            (entry.0, entry.1) = (entry.0 + 1, at);
        }
        for at in b.clone() {
            if let Some(entry) = seen.get_mut(&self.b[at]) {
                (entry.2, entry.3) = (entry.2 + 1, at);
            }
        }
        let mut unique: Vec<(usize, usize)> = seen
            .into_values()
            .filter(|it| it.0 == 1 && it.2 == 1)
            .map(|(_, x, _, y)| (x, y))
            .collect();
        unique.sort_unstable();
        longest_increasing(&unique)
    }

    /// Aligns a small block by its longest common subsequence.
    fn exact(&mut self, a: Range<usize>, b: Range<usize>) {
        let width = b.len() + 1;
        let mut lengths = vec![0_u32; (a.len() + 1) * width];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                lengths[i * width + j] = if self.a[a.start + i] == self.b[b.start + j] {
                    lengths[(i + 1) * width + j + 1] + 1
                } else {
                    lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if self.a[a.start + i] == self.b[b.start + j] {
                self.pairs.push((a.start + i, b.start + j));
                i += 1;
                j += 1;
            } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
}

/// Returns the longest part of pairs, sorted by their first index, whose second indexes increase.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best series of each length, and the pair before each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, y)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < *y);
        before.push(length.checked_sub(1).map(|it| ends[it]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut series = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        series.push(pairs[at]);
        next = before[at];
    }
    series.reverse();
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(a: &str, b: &str) -> Vec<(usize, usize)> {
        align(a.as_bytes(), b.as_bytes())
    }

    #[test]
    fn equal_items_are_paired_in_order() {
        assert_eq!(pairs("abc", "abc"), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(pairs("abc", "xabc"), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(pairs("abcd", "abxd"), [(0, 0), (1, 1), (3, 3)]);
        assert_eq!(pairs("ab", "ba").len(), 1);
        assert_eq!(pairs("", "abc"), []);
    }

    #[test]
    fn large_sequences_are_divided_at_unique_items() {
        let a: Vec<usize> = (0..5_000).collect();
        let b: Vec<usize> = (0..5_000).filter(|it| it % 7 != 0).chain([9_999]).collect();
        let b: Vec<usize> = std::iter::once(8_888).chain(b).collect();
        let found = align(&a, &b);
        assert_eq!(found.len(), b.len() - 2);
        assert!(found.iter().all(|(x, y)| a[*x] == b[*y]));
        assert!(found.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
    }

    #[test]
    fn hostile_sequences_end_early() {
        // No item is unique, and almost all differ: an exact alignment would take 10^13 steps.
        let a: Vec<u32> = (0..3_000_000).map(|it| it % 1_000).collect();
        let b: Vec<u32> = (0..3_000_000).map(|it| 999 - it % 1_000).collect();
        let mut alignment = Alignment { a: &a, b: &b, pairs: Vec::new(), work: MAX_WORK };
        alignment.block(0..a.len(), 0..b.len(), 0);
        assert!(alignment.pairs.is_empty());
        assert_eq!(alignment.work, MAX_WORK);
    }
}
