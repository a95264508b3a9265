//! Patterns without anything special, which are most patterns of checks: `^[a-z]([-a-z]*)?$`.
//!
//! Making a general regular expression costs more than a whole small program. A pattern of
//! literals, classes, groups, `|`, `?`, `*` and `+`, with `^` and `$` at its ends only,
//! becomes an automaton whose states are the characters of the pattern, one bit each. It
//! tells whether there is a match, in one pass. Every other pattern is left to the general
//! engine.

/// A pattern as an automaton.
#[derive(Debug)]
pub(super) struct Simple {
    classes: Vec<Class>,
    /// The characters of the pattern that can follow each one.
    follow: Vec<u64>,
    whole: Fragment,
    at_start: bool,
    at_end: bool,
}

/// The characters that one place of the pattern admits.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    ascii: u128,
    others: bool,
}

impl Class {
    fn of(byte: u8) -> Self {
        Self { ascii: 1 << byte, others: false }
    }

    fn has(self, char: char) -> bool {
        if char.is_ascii() { (self.ascii >> (char as u32)) & 1 == 1 } else { self.others }
    }
}

/// A part of a pattern: whether it matches nothing at all, and where a match starts and ends.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    is_nullable: bool,
    first: u64,
    last: u64,
}

/// How many characters a pattern may have: one bit each.
const MAX_CHARS: usize = 64;
/// How deep groups may nest.
const MAX_DEPTH: u32 = 16;

impl Simple {
    /// Reads a pattern; none if it is not simple.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        if !pattern.is_ascii() {
            return None;
        }
        let rest = pattern.as_bytes();
        let (rest, at_start) = match rest.strip_prefix(b"^") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (rest, at_end) = match rest.strip_suffix(b"$") {
            Some(rest) if !rest.ends_with(b"\\") => (rest, true),
            _ => (rest, false),
        };
        let mut parser = Parser { rest, classes: Vec::new(), follow: Vec::new() };
        // An anchor binds closer than `|` outside of groups.
        let whole = parser.sequence(MAX_DEPTH)?;
        parser.rest.is_empty().then_some(Self {
            classes: parser.classes,
            follow: parser.follow,
            whole,
            at_start,
            at_end,
        })
    }

    /// Whether the pattern matches anywhere in a text.
    pub(super) fn is_match(&self, text: &str) -> bool {
        if self.whole.is_nullable && (!(self.at_start && self.at_end) || text.is_empty()) {
            return true;
        }
        let mut states = 0u64;
        for (at, char) in text.char_indices() {
            let mut open = if at == 0 || !self.at_start { self.whole.first } else { 0 };
            each(states, |state| open |= self.follow[state]);
            states = 0;
            each(open, |state| {
                if self.classes[state].has(char) {
                    states |= 1 << state;
                }
            });
            if !self.at_end && states & self.whole.last != 0 {
                return true;
            }
            if states == 0 && self.at_start {
                return false;
            }
        }
        self.at_end && states & self.whole.last != 0
    }
}

/// Calls `visit` with the number of each bit that is set.
fn each(bits: u64, mut visit: impl FnMut(usize)) {
    let mut left = bits;
    while left != 0 {
        visit(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

struct Parser<'t> {
    rest: &'t [u8],
    classes: Vec<Class>,
    follow: Vec<u64>,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Sequences with `|` between them, up to the end of a group.
    fn choice(&mut self, depth: u32) -> Option<Fragment> {
        let mut choice = self.sequence(depth)?;
        while self.eat(b'|') {
            let next = self.sequence(depth)?;
            choice.is_nullable |= next.is_nullable;
            choice.first |= next.first;
            choice.last |= next.last;
        }
        Some(choice)
    }

    fn sequence(&mut self, depth: u32) -> Option<Fragment> {
        let mut sequence = self.repeated(depth)?;
        while !matches!(self.rest.first(), None | Some(b'|' | b')')) {
            let next = self.repeated(depth)?;
            each(sequence.last, |state| self.follow[state] |= next.first);
            if sequence.is_nullable {
                sequence.first |= next.first;
            }
            sequence.last = next.last | if next.is_nullable { sequence.last } else { 0 };
            sequence.is_nullable &= next.is_nullable;
        }
        Some(sequence)
    }

    /// A single item and how often it may occur.
    fn repeated(&mut self, depth: u32) -> Option<Fragment> {
        let mut item = self.item(depth)?;
        let Some(quantifier @ (b'?' | b'*' | b'+')) = self.rest.first().copied() else {
            return (self.rest.first() != Some(&b'{')).then_some(item);
        };
        self.rest = &self.rest[1..];
        if matches!(self.rest.first(), Some(b'?' | b'*' | b'+' | b'{')) {
            return None;
        }
        if quantifier != b'?' {
            each(item.last, |state| self.follow[state] |= item.first);
        }
        item.is_nullable |= quantifier != b'+';
        Some(item)
    }

    fn item(&mut self, depth: u32) -> Option<Fragment> {
        let class = match self.next()? {
            b'(' => {
                let group = self.choice(depth.checked_sub(1)?)?;
                return self.eat(b')').then_some(group);
            }
            b'[' => self.class()?,
            b'.' => Class { ascii: !(1 << b'\n'), others: true },
            b'\\' => Class::of(self.escaped()?),
            byte if byte.is_ascii_alphanumeric() || b"-_/:@,=%".contains(&byte) => Class::of(byte),
            _ => return None,
        };
        let state = self.classes.len();
        if state == MAX_CHARS {
            return None;
        }
        self.classes.push(class);
        self.follow.push(0);
        Some(Fragment { is_nullable: false, first: 1 << state, last: 1 << state })
    }

    fn escaped(&mut self) -> Option<u8> {
        let byte = self.next()?;
        b".-+*?()[]{}|^$\\/".contains(&byte).then_some(byte)
    }

    /// The rest of a class, behind `[`.
    fn class(&mut self) -> Option<Class> {
        let is_negated = self.eat(b'^');
        let mut class = Class::default();
        let mut is_first = true;
        loop {
            let from = match self.next()? {
                b']' if !is_first => break,
                b'\\' => {
                    class.ascii |= 1 << self.escaped()?;
                    is_first = false;
                    continue;
                }
                b'-' if is_first || self.rest.first() == Some(&b']') => b'-',
                byte if byte.is_ascii_alphanumeric() || b"_./:@,=%+".contains(&byte) => byte,
                _ => return None,
            };
            is_first = false;
            let is_range =
                from != b'-' && self.rest.first() == Some(&b'-') && self.rest.get(1) != Some(&b']');
            if !is_range {
                class.ascii |= 1 << from;
                continue;
            }
            self.rest = &self.rest[1..];
            let to = self.next()?;
            if !to.is_ascii_alphanumeric() || to < from {
                return None;
            }
            for byte in from..=to {
                class.ascii |= 1 << byte;
            }
        }
        if is_negated {
            class = Class { ascii: !class.ascii, others: true };
        }
        Some(class)
    }
}

#[cfg(test)]
mod tests {
    use super::Simple;
    use fancy_regex::Regex;

    const PATTERNS: [&str; 51] = [
        "^[0-9]+m?$",
        "^[0-9]+(Ki|Mi|Gi)$",
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        "a",
        "^a",
        "a$",
        "^a*$",
        "a*",
        "^(a|b)*c$",
        "^.b$",
        "[^a]b",
        "^[^-]+-[^-]+$",
        "^(a+b?)+$",
        "^(ab|a)(c|bcd)$",
        "^a.*b$",
        "^[a-]$",
        "^[-a]+$",
        "^\\.$",
        "^(a?b?)*c$",
        "^a+.?$",
        "x|y",
        "^[a-c]+$",
        "[^a-c]",
        "[0-9]",
        "^[+.]+$",
        "^[a-c-]+$",
        "^[a\\-c]+$",
        "^[\\]a]+$",
        "[]]",
        "^[]a]+$",
        "^[^]]$",
        "^[a_./:@,=%+]$",
        "^a_b-c/d:e@f,g=h%$",
        "^a\\+b$",
        "^\\(\\)\\[\\]\\{\\}\\|\\^\\$\\\\\\/\\*\\?$",
        "(a)",
        "((a)b)c",
        "^(a|b)?c$",
        "^(a|b)+c$",
        "^(a|bc|d)$",
        "^(ab)*$",
        "^(a*)*b$",
        "^(a?)+b$",
        "^a?b?c?$",
        "a?b",
        "b*$",
        "^b*",
        "^$",
        "",
        ".",
    ];

    const TEXTS: [&str; 44] = [
        "",
        "a",
        "b",
        "ab",
        "ba",
        "abc",
        "abcd",
        "aab",
        "aabb",
        "100m",
        "m",
        "100",
        "12Mi",
        "1Ti",
        "web-1",
        "-web",
        "web-",
        "a.b-c.d",
        "é",
        "éb",
        "a\nb",
        "a-b",
        "--",
        "cab",
        "c",
        "ac",
        "bc",
        "abab",
        "aba",
        "]",
        "+",
        ".",
        "_",
        "\n",
        "0",
        "9",
        ":",
        "/",
        "a+b",
        "d",
        "a_b-c/d:e@f,g=h%",
        "()[]{}|^$\\/*?",
        "ccc",
        "-",
    ];

    #[test]
    fn it_agrees_with_the_general_engine() {
        for pattern in PATTERNS {
            let Some(simple) = Simple::new(pattern) else { continue };
            let general = Regex::new(pattern).expect("a valid pattern");
            for text in TEXTS {
                let expected = general.is_match(text).expect("no limit is met");
                assert_eq!(simple.is_match(text), expected, "{pattern} on {text:?}");
            }
        }
        assert!(Simple::new(PATTERNS[2]).is_some());
    }

    #[test]
    fn a_simple_pattern_has_limits() {
        let chars = |n: usize| Simple::new(&"a".repeat(n)).is_some();
        assert_eq!((chars(64), chars(65)), (true, false));
        let nested =
            |n: usize| Simple::new(&format!("{}a{}", "(".repeat(n), ")".repeat(n))).is_some();
        assert_eq!((nested(16), nested(17)), (true, false));
        // All places of a pattern count, also the last one.
        let long = Simple::new(&format!("^{}b$", "a".repeat(63))).expect("it is simple");
        assert!(long.is_match(&format!("{}b", "a".repeat(63))));
        assert!(!long.is_match(&format!("{}b", "a".repeat(62))));
        assert!(!long.is_match(&"a".repeat(64)));
    }

    #[test]
    fn most_patterns_of_checks_are_simple() {
        for pattern in PATTERNS {
            let is_simple = !["x|y", "[]]", "^[]a]+$", "^[^]]$", "^$", ""].contains(&pattern);
            assert_eq!(Simple::new(pattern).is_some(), is_simple, "{pattern}");
        }
    }

    #[test]
    fn what_is_not_simple_is_left_alone() {
        for pattern in
            ["a{2}", "(?i)a", "\\d", "[[:alpha:]]", "a|^b", "a**", "(", "[z-a]", "x|y", "a\\$", "é"]
        {
            let is_simple = Simple::new(pattern).is_some();
            assert_eq!(is_simple, pattern == "a\\$", "{pattern}");
        }
    }
}
