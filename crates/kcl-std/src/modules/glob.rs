//! Finding files by patterns.

use super::file::Files;
use glob::{Pattern, PatternError};

/// Folders nested deeper than this are not searched.
const MAX_DEPTH: usize = 64;

/// The paths that match a pattern, folder by folder in the order of names.
pub(super) fn find(files: &Files<'_>, pattern: &str) -> Result<Vec<String>, PatternError> {
    Pattern::new(pattern)?;
    let mut parts = Vec::new();
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        parts.push(match part {
            "**" => Part::Folders,
            part if part.contains(['*', '?', '[']) => Part::Pattern(Pattern::new(part)?),
            part => Part::Name(part.to_owned()),
        });
    }
    let start = if pattern.starts_with('/') { "/" } else { "" };
    let mut search = Search { files, found: Vec::new() };
    search.walk(start, &parts, 0);
    Ok(search.found)
}

enum Part {
    Name(String),
    Pattern(Pattern),
    /// Any number of folders.
    Folders,
}

impl Part {
    fn matches(&self, name: &str) -> bool {
        match self {
            Part::Name(own) => own == name,
            Part::Pattern(pattern) => pattern.matches(name),
            Part::Folders => true,
        }
    }
}

struct Search<'s> {
    files: &'s Files<'s>,
    found: Vec<String>,
}

impl Search<'_> {
    /// Looks in a folder for what matches the parts.
    fn walk(&mut self, folder: &str, parts: &[Part], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match parts {
            [] => {}
            [Part::Name(name), rest @ ..] => {
                let path = join(folder, name);
                if self.files.exists(&path) {
                    self.matched(path, rest, depth);
                }
            }
            [Part::Folders, rest @ ..] => self.walk_folders(folder, rest, depth),
            [pattern @ Part::Pattern(_), rest @ ..] => {
                for name in self.names(folder) {
                    if pattern.matches(&name) {
                        self.matched(join(folder, &name), rest, depth);
                    }
                }
            }
        }
    }

    /// Looks in a folder and all folders below it.
    fn walk_folders(&mut self, folder: &str, rest: &[Part], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for name in self.names(folder) {
            let path = join(folder, &name);
            let is_folder = self.files.is_dir(&path);
            match rest {
                [] if is_folder => self.found.push(path.clone()),
                [first, rest @ ..] if first.matches(&name) => {
                    self.matched(path.clone(), rest, depth);
                }
                _ => {}
            }
            if is_folder {
                self.walk_folders(&path, rest, depth + 1);
            }
        }
    }

    fn matched(&mut self, path: String, rest: &[Part], depth: usize) {
        if rest.is_empty() {
            self.found.push(path);
        } else if self.files.is_dir(&path) {
            self.walk(&path, rest, depth + 1);
        }
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let folder = if folder.is_empty() { "." } else { folder };
        let entries = self.files.entries(folder);
        entries
            .iter()
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') {
        format!("{folder}{name}")
    } else {
        format!("{folder}/{name}")
    }
}
