//! The summary for a terminal.

use super::{Coverage, PartKind, Tally};
use std::fmt::Write as _;

/// How many places that no test reached are listed.
const MAX_MISSING: usize = 20;

/// How wide the column of files may be, so that a line fits in 80 columns.
const MAX_PATH: usize = 32;

impl Coverage {
    /// A table of files, and the places that no test reached.
    pub fn to_text(&self) -> String {
        if self.files.is_empty() {
            return "coverage: there are no schemas, lambdas, branches or rules\n".to_owned();
        }
        let widest = self.files.iter().map(|file| file.path.chars().count()).max().unwrap_or(0);
        let width = widest.clamp(8, MAX_PATH);
        let mut text = format!("{:width$}", "coverage");
        for kind in PartKind::ALL {
            let _ = write!(text, " {:>9}", kind.plural());
        }
        text.push_str("     all\n");
        for file in &self.files {
            let path = shortened(&file.path, width);
            row(&mut text, &path, width, &|kind| file.tally(kind));
        }
        row(&mut text, "total", width, &|kind| self.tally(kind));
        self.write_missing(&mut text);
        text
    }

    fn write_missing(&self, text: &mut String) {
        let mut missing = self.files.iter().flat_map(|file| {
            file.missing().map(|(line, message)| format!("  {}:{line}: {message}", file.path))
        });
        for (at, line) in missing.by_ref().take(MAX_MISSING).enumerate() {
            if at == 0 {
                text.push_str("\nnot covered:\n");
            }
            let _ = writeln!(text, "{line}");
        }
        match missing.count() {
            0 => {}
            n => {
                let _ = writeln!(text, "  and {n} more; run with --html FOLDER to see all");
            }
        }
    }
}

fn row(text: &mut String, name: &str, width: usize, tally: &dyn Fn(Option<PartKind>) -> Tally) {
    let _ = write!(text, "{name:width$}");
    for kind in PartKind::ALL {
        let Tally { covered, total } = tally(Some(kind));
        let cell = if total == 0 { "-".to_owned() } else { format!("{covered}/{total}") };
        let _ = write!(text, " {cell:>9}");
    }
    let _ = writeln!(text, " {:>7}", tally(None).percent());
}

/// A path that is too long loses its front.
fn shortened(path: &str, width: usize) -> String {
    let n_chars = path.chars().count();
    if n_chars <= width {
        return path.to_owned();
    }
    let end: String = path.chars().skip(n_chars + 1 - width).collect();
    format!("…{end}")
}
