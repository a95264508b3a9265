//! Files that hold what a program is expected to print.

use anyhow::{Context as _, bail};
use std::path::Path;

/// Compares `actual` with the file at `path`, or rewrites it when `UPDATE=1` is set.
///
/// # Errors
///
/// When they differ: the message names the file and the first line that is not the same.
pub fn check(path: &Path, actual: &str) -> anyhow::Result<()> {
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        return std::fs::write(path, actual).with_context(|| format!("writing {}", path.display()));
    }
    let expected = std::fs::read_to_string(path)
        .with_context(|| format!("reading {}; UPDATE=1 makes it", path.display()))?;
    match first_difference(&expected, actual) {
        None => Ok(()),
        Some((line, want, got)) => bail!(
            "{}:{line} differs; look at it, then accept with UPDATE=1\n  expected: {want}\n  actual:   {got}",
            path.display()
        ),
    }
}

/// Finds the first line (from 1) in which two texts differ.
fn first_difference<'t>(want: &'t str, got: &'t str) -> Option<(usize, &'t str, &'t str)> {
    if want == got {
        return None;
    }
    let (mut wants, mut gots) = (want.split('\n'), got.split('\n'));
    for line in 1.. {
        let pair = (wants.next(), gots.next());
        if pair.0 != pair.1 {
            let shown = |side: Option<&'t str>| side.unwrap_or("(end of file)");
            return Some((line, shown(pair.0), shown(pair.1)));
        }
        if pair.0.is_none() {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some((2, "b", "c")));
        assert_eq!(first_difference("a\n", "a"), Some((2, "", "(end of file)")));
    }
}
