//! Damaged programs: bytes and tokens of real ones, cut, copied, swapped and replaced.

use testkit::Rng;

/// Pieces that matter to the lexer and the parser.
const TOKENS: &[&str] = &[
    "schema ",
    "mixin ",
    "protocol ",
    "rule ",
    "check:",
    "lambda ",
    "import ",
    "assert ",
    "if ",
    "elif ",
    "else:",
    "for ",
    "in ",
    "not ",
    "and ",
    "or ",
    "is ",
    "as ",
    "all ",
    "any ",
    "map ",
    "filter ",
    "type ",
    "None",
    "Undefined",
    "True",
    "False",
    "int",
    "str",
    "float",
    "bool",
    "any",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{{",
    "}}",
    "${",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "r\"",
    "\\",
    "\n",
    "\n    ",
    "\n\t",
    "\r\n",
    "  ",
    ",",
    ":",
    ":\n",
    ";",
    ".",
    "..",
    "...",
    "?.",
    "?[",
    "?:",
    "->",
    "=",
    "==",
    "!=",
    "+=",
    "-=",
    "**=",
    "|=",
    "<",
    "<=",
    ">>",
    "<<",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "%",
    "&",
    "|",
    "^",
    "~",
    "@",
    "@deprecated(",
    "#",
    "# c\n",
    "!",
    "$",
    "`",
    "0",
    "1",
    "0x",
    "0b1",
    "0o7",
    "1_000",
    "1e5",
    "1.5",
    "1Ki",
    "1m",
    "9223372036854775808",
    "a",
    "_a",
    "$if",
    "[...str]:",
    "[a: int]",
    "-> int",
    "\\x41",
    "\\u{1F600}",
    "\u{e9}",
    "\u{1F600}",
    "\u{0}",
    "\u{feff}",
    "\u{2028}",
    "${1: #json}",
    "**{",
    "*[",
    "for a, b in ",
    "(A)",
    "(a=1)",
];

/// Nesting that a parser must survive: what opens, what stands inside, what closes.
const NESTS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "", "]"),
    ("{a=", "1", "}"),
    ("{", "", "}"),
    ("not ", "True", ""),
    ("-", "1", ""),
    ("~", "1", ""),
    ("lambda { ", "1", " }"),
    ("f(", "", ")"),
    ("a[", "0", "]"),
    ("a.", "b", ""),
    ("a?.", "b", ""),
    ("1 if a else ", "1", ""),
    ("1 + ", "1", ""),
    ("1 ** ", "1", ""),
    ("a | ", "a", ""),
    ("a == ", "a", ""),
    ("\"${", "1", "}\""),
    ("[x for x in ", "a", "]"),
    ("all x in ", "a", " { x }"),
    ("A {b: ", "1", "}"),
    ("*", "a", ""),
];

/// Makes a damaged program.
pub(crate) fn program(rng: &mut Rng, seeds: &[String]) -> String {
    if rng.one_in(200) {
        return nest(rng);
    }
    let mut text: Vec<u8> = if rng.one_in(20) || seeds.is_empty() {
        soup(rng).into_bytes()
    } else {
        {
            let seed = rng.pick(seeds);
            window(rng, seed)
        }
        .into_bytes()
    };
    for _ in 0..=rng.below(4) {
        mutate(rng, &mut text, seeds);
    }
    text.truncate(4096);
    String::from_utf8_lossy(&text).into_owned()
}

/// Replaces, removes or adds a few tokens of a program.
pub(crate) fn tokens(rng: &mut Rng, text: String) -> String {
    let mut text = text.into_bytes();
    for _ in 0..=rng.below(3) {
        mutate(rng, &mut text, &[]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A few neighbouring lines of a seed: small inputs run fast and nest just as well.
fn window(rng: &mut Rng, seed: &str) -> String {
    let n_lines = seed.lines().count();
    let first = rng.below(n_lines);
    let n = 1 + rng.below(30);
    seed.split_inclusive('\n').skip(first).take(n).collect()
}

/// Tokens in any order.
fn soup(rng: &mut Rng) -> String {
    (0..=rng.below(40)).map(|_| *rng.pick(TOKENS)).collect()
}

fn nest(rng: &mut Rng) -> String {
    let depth = 1 << rng.below(14);
    let (open, inside, close) = *rng.pick(NESTS);
    let unclosed = rng.one_in(4);
    let close = if unclosed { "" } else { close };
    let inside = if rng.one_in(4) { "" } else { inside };
    match rng.below(4) {
        0 => format!("{}{inside}{}\n", open.repeat(depth), close.repeat(depth)),
        1 => format!("x: {}{inside}{}\n", open.repeat(depth), close.repeat(depth)),
        2 => format!("schema A:\n    a: {}int{} = 1\n", "[".repeat(depth), "]".repeat(depth)),
        _ => format!("x = {}{inside}{}\n", open.repeat(depth), close.repeat(depth)),
    }
}

fn mutate(rng: &mut Rng, text: &mut Vec<u8>, seeds: &[String]) {
    let at = rng.below(text.len() + 1);
    let end = (at + 1 + rng.below(8)).min(text.len());
    match rng.below(9) {
        0 if at < text.len() => text[at] = rng.bits() as u8,
        1 if at < text.len() => text[at] ^= 1 << rng.below(8),
        2 => drop(text.drain(at..end)),
        3 => {
            let piece = text[at..end].to_vec();
            let to = rng.below(text.len() + 1);
            text.splice(to..to, piece);
        }
        4 => text.truncate(at),
        5 => {
            let long = (at + 1 + rng.below(80)).min(text.len());
            text.drain(at..long);
        }
        6 if !seeds.is_empty() => {
            let other = {
                let seed = rng.pick(seeds);
                window(rng, seed)
            };
            text.splice(at..at, other.into_bytes());
        }
        7 => {
            let token = rng.pick(TOKENS).as_bytes().to_vec();
            text.splice(at..end, token);
        }
        _ => {
            let token = rng.pick(TOKENS).as_bytes().to_vec();
            text.splice(at..at, token);
        }
    }
}
