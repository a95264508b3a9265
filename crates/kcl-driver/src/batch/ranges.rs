//! Lists of numbers as text: what follows one after the other is written as a range.

use super::manifest::push_hex;

/// Ranges of numbers, both ends counted, read from a text such as `3 12-2a 34bb`. What can't be
/// read stands for a number that nothing has.
#[derive(Clone, Debug)]
pub(super) struct Ranges<'t> {
    rest: &'t [u8],
}

impl<'t> Ranges<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        Self { rest: text.as_bytes() }
    }

    fn number(&mut self) -> u32 {
        let mut number: Option<u32> = Some(0);
        while let Some((&byte, rest)) = self.rest.split_first() {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b' ' | b'-' => break,
                _ => u8::MAX,
            };
            number =
                number.filter(|n| digit < 16 && *n < 1 << 28).map(|n| n << 4 | u32::from(digit));
            self.rest = rest;
        }
        number.unwrap_or(u32::MAX - 1)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

impl Iterator for Ranges<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        if self.rest.is_empty() {
            return None;
        }
        let first = self.number();
        let last = if self.skip(b'-') { self.number() } else { first };
        if !self.skip(b' ') {
            // A stray dash.
            let is_whole = self.rest.is_empty();
            self.rest = &[];
            if !is_whole {
                return Some((first, u32::MAX - 1));
            }
        }
        Some((first, last))
    }
}

/// Adds sorted numbers.
pub(super) fn push_ranges(text: &mut String, numbers: &[u32]) {
    let mut at = 0;
    while let Some(&first) = numbers.get(at) {
        let mut last = first;
        at += 1;
        while let Some(&next) = numbers.get(at)
            && next <= last + 1
        {
            last = next;
            at += 1;
        }
        push_hex(text, u64::from(first));
        if last > first {
            text.push('-');
            push_hex(text, u64::from(last));
        }
        if at < numbers.len() {
            text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for numbers in [&[] as &[u32], &[0], &[3, 4, 9, 10, 11, 0x34bb], &[0, 1, 2, 0x0fff_ffff]] {
            let mut text = String::new();
            push_ranges(&mut text, numbers);
            let read: Vec<u32> =
                Ranges::parse(&text).flat_map(|(first, last)| first..=last).collect();
            assert_eq!(read, numbers, "{text}");
        }
        let mut text = String::new();
        push_ranges(&mut text, &[3, 4, 9, 10, 11, 0x34bb]);
        assert_eq!(text, "3-4 9-b 34bb");
    }

    #[test]
    fn damage_is_out_of_range() {
        for text in ["x", "3 -4-5", "3-", "1-2-3", "fffffffff"] {
            let worst = Ranges::parse(text).map(|(_, last)| last).max();
            assert!(worst == Some(u32::MAX - 1) || text == "3-", "{text}");
        }
    }
}
