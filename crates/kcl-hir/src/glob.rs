//! Patterns in input paths: `*`, `?`, `[abc]` and `**`.

use base_system::System;
use std::path::{Path, PathBuf};

/// How deep `**` looks.
const MAX_DEPTH: usize = 64;

/// Whether a path holds a pattern.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The files and folders that match a pattern, sorted.
pub(crate) fn expand(system: &dyn System, work_dir: &Path, pattern: &str) -> Vec<PathBuf> {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { work_dir.to_path_buf() };
    let parts: Vec<&str> =
        pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut found = Vec::new();
    walk(system, &start, &parts, MAX_DEPTH, &mut found);
    found.sort();
    found.dedup();
    found
}

fn walk(
    system: &dyn System,
    folder: &Path,
    parts: &[&str],
    depth: usize,
    found: &mut Vec<PathBuf>,
) {
    let Some((first, rest)) = parts.split_first() else {
        found.push(folder.to_path_buf());
        return;
    };
    if *first == "**" {
        walk(system, folder, rest, depth, found);
        if depth == 0 {
            return;
        }
        for entry in system.read_dir(folder).unwrap_or_default() {
            if system.is_dir(&entry) {
                walk(system, &entry, parts, depth - 1, found);
            }
        }
        return;
    }
    if !is_pattern(first) {
        let next = folder.join(first);
        if system.exists(&next) {
            walk(system, &next, rest, depth, found);
        }
        return;
    }
    let pattern: Vec<char> = first.chars().collect();
    for entry in system.read_dir(folder).unwrap_or_default() {
        let name: Vec<char> = crate::entry::file_name(&entry).chars().collect();
        // A layer is meant only if the pattern says so.
        let is_meant = name.first() != Some(&'@') || pattern.first() == Some(&'@');
        if is_meant && matches(&pattern, &name) && (rest.is_empty() || system.is_dir(&entry)) {
            walk(system, &entry, rest, depth, found);
        }
    }
}

/// Matches one name against one pattern, going back to the last `*` where needed.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => class(&pattern[p..], name[n]),
            Some(c) => (*c == name[n]).then_some(1),
            None => None,
        };
        match (step, retry) {
            (Some(width), _) => {
                p += width;
                n += 1;
            }
            (None, Some((star, from))) => {
                p = star + 1;
                n = from + 1;
                retry = Some((star, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Matches `[abc]`, `[a-z]`, `[!a]`; gives the width of the class in the pattern.
fn class(pattern: &[char], c: char) -> Option<usize> {
    let close = pattern.iter().skip(2).position(|c| *c == ']')? + 2;
    let (negated, body) = match pattern.get(1) {
        Some('!') => (true, &pattern[2..close]),
        _ => (false, &pattern[1..close]),
    };
    let mut inside = false;
    let mut i = 0;
    while i < body.len() {
        if i + 2 < body.len() && body[i + 1] == '-' {
            inside |= (body[i]..=body[i + 2]).contains(&c);
            i += 3;
        } else {
            inside |= body[i] == c;
            i += 1;
        }
    }
    (inside != negated).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    #[test]
    fn patterns_find_files() {
        let system = MemorySystem::new()
            .with_file("/w/a.k", "")
            .with_file("/w/b1.k", "")
            .with_file("/w/@b=1.k", "")
            .with_file("/w/d/e/c.k", "")
            .with_file("/w/x.txt", "");
        let find = |pattern| {
            let found = expand(&system, Path::new("/w"), pattern);
            found.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(find("*.k"), ["/w/a.k", "/w/b1.k"]);
        assert_eq!(find("@*.k"), ["/w/@b=1.k"]);
        assert_eq!(find("**/*.k"), ["/w/a.k", "/w/b1.k", "/w/d/e/c.k"]);
        assert_eq!(find("[a-b]?.k"), ["/w/b1.k"]);
        assert_eq!(find("/w/*/e/*.k"), ["/w/d/e/c.k"]);
        assert!(find("*.z").is_empty());
    }
}
