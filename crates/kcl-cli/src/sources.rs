//! The source files that words of a command line name.

use base_system::{FileKind, System};
use std::path::{Path, PathBuf};

/// How deep folders are searched.
const MAX_DEPTH: usize = 64;

/// Returns the source files that `words` name, sorted and once each: files as they are, and all
/// `.k` files below folders, apart from those that match a pattern of `exclude`. `folder/...` is the
/// same as `folder`. Symbolic links and hidden folders below a folder are passed.
///
/// The error is a message for the user.
pub(crate) fn find(
    system: &dyn System,
    words: &[String],
    exclude: &[String],
) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for word in words {
        let word = word.strip_suffix("...").unwrap_or(word);
        let path = Path::new(if word.is_empty() { "." } else { word });
        let facts = system
            .metadata(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        match facts.kind {
            FileKind::File if !is_excluded(path, exclude) => found.push(path.to_path_buf()),
            FileKind::File => {}
            FileKind::Directory => walk(system, path, exclude, MAX_DEPTH, &mut found)?,
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(
    system: &dyn System,
    folder: &Path,
    exclude: &[String],
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let entries = system
        .read_dir(folder)
        .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    for entry in entries {
        // A file that was deleted meanwhile is no failure.
        let Ok(Some(facts)) = system.link_metadata(&entry) else { continue };
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned());
        let is_hidden = name.is_some_and(|name| name.starts_with('.'));
        if is_excluded(&entry, exclude) || is_hidden {
            continue;
        }
        match facts.kind {
            FileKind::Directory if depth > 0 => walk(system, &entry, exclude, depth - 1, found)?,
            FileKind::File if entry.extension().is_some_and(|it| it == "k") => found.push(entry),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a path matches a pattern: a pattern with `/` is compared with the whole path, one without
/// with each of its parts.
fn is_excluded(path: &Path, exclude: &[String]) -> bool {
    let whole = path.to_string_lossy();
    let whole = whole.strip_prefix("./").unwrap_or(&whole);
    exclude.iter().any(|pattern| {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        if pattern.contains('/') {
            // A pattern that matches a folder is meant for all below it.
            let ends = whole.match_indices('/').map(|(at, _)| at).chain([whole.len()]);
            ends.into_iter().any(|end| matches(pattern.as_bytes(), &whole.as_bytes()[..end]))
        } else {
            whole.split('/').any(|part| matches(pattern.as_bytes(), part.as_bytes()))
        }
    })
}

/// Whether a text matches a pattern: `*` stands for any bytes but `/`, `**` for any, `?` for one.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // The last `*` and where it was tried: going back there alone is enough.
    let (mut at_pattern, mut at_text) = (0, 0);
    let mut star: Option<(usize, usize, bool)> = None;
    loop {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                let is_double = pattern.get(at_pattern + 1) == Some(&b'*');
                at_pattern += 1 + usize::from(is_double);
                star = Some((at_pattern, at_text, is_double));
                continue;
            }
            Some(byte)
                if at_text < text.len()
                    && (*byte == text[at_text] || *byte == b'?' && text[at_text] != b'/') =>
            {
                at_pattern += 1;
                at_text += 1;
                continue;
            }
            None if at_text == text.len() => return true,
            _ => {}
        }
        match star {
            Some((behind, tried, is_double))
                if tried < text.len() && (is_double || text[tried] != b'/') =>
            {
                star = Some((behind, tried + 1, is_double));
                (at_pattern, at_text) = (behind, tried + 1);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let excluded = |path: &str, pattern: &str| is_excluded(Path::new(path), &[pattern.into()]);
        for (path, pattern) in [
            ("a/vendor/b.k", "vendor"),
            ("./a/b_test.k", "*_test.k"),
            ("a/b/c.k", "a/*/c.k"),
            ("a/b/c/d.k", "a/**"),
            ("a/b/c.k", "a/b"),
            ("a/b/c.k", "./a/b/"),
            ("ab.k", "a?.k"),
        ] {
            assert!(excluded(path, pattern), "{path} {pattern}");
        }
        for (path, pattern) in
            [("a/vendored/b.k", "vendor"), ("a/b/c/d.k", "a/*/d.k"), ("a/b.k", "b"), ("a/b.k", "")]
        {
            assert!(!excluded(path, pattern), "{path} {pattern}");
        }
        assert!(!matches(&b"*a".repeat(40), &b"a".repeat(39)));
    }
}
