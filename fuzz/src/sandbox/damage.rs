//! Damaged texts and targets.

use testkit::Rng;

/// Pieces that matter to readers of JSON, YAML, paths and queries.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "1e999",
    "-",
    "0x1",
    "&a ",
    "*a",
    "|\n",
    "- ",
    "? ",
    "!!str ",
    "#",
    "%00",
    "%zz",
    "/",
    "..",
    "//",
    "?",
    "&",
    "=",
    "\u{7f}",
    "\n",
    "\t",
    "é",
    "9223372036854775808",
];

/// Damages a text in up to three places.
pub(super) fn text(rng: &mut Rng, mut text: String) -> String {
    for _ in 0..=rng.below(3) {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (a, b) = (*rng.pick(&places), *rng.pick(&places));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 20));
        let end = places[places.partition_point(|at| *at <= end) - 1].max(start);
        match rng.below(4) {
            0 => text.replace_range(start..end, ""),
            1 => {
                let copy = text[start..end].repeat(1 + rng.below(30));
                text.insert_str(start, &copy);
            }
            _ => {
                let piece = *rng.pick(PIECES);
                text.insert_str(start, piece);
            }
        }
    }
    text
}

/// Nests a text in brackets.
pub(super) fn nested(rng: &mut Rng, text: &str) -> String {
    let depth = *rng.pick(&[3, 120, 130, 499, 501, 5000]);
    match rng.below(3) {
        0 => format!("{}{text}{}", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("{}{text}{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
        _ => format!("{}{text}", "- ".repeat(depth)),
    }
}
