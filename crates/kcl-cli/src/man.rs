//! `kcl man`: manual pages, for packagers.

use crate::catalog::{Entry, Part, entries};
use crate::{Exit, help, terminal};
use base_system::{OsSystem, System as _};
use std::fmt::Write as _;
use std::path::Path;

/// What `kcl man --help` says.
pub(crate) const HELP: &str = "\
Write manual pages, one for each command.

Usage: kcl man <folder>

Options:
  -h, --help  Print this text
";

/// Runs `kcl man` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let folder = match words {
        [word] if word == "-h" || word == "--help" => return terminal::write_out(HELP),
        [word] if !word.starts_with('-') => Path::new(word),
        _ => return terminal::usage("expected one folder: kcl man <folder>"),
    };
    let entries = entries();
    for entry in &entries {
        let path = folder.join(format!("{}.1", entry.page()));
        let written = OsSystem
            .create_dir_all(folder)
            .and_then(|()| OsSystem.write(&path, &page(entry, &entries)));
        if let Err(error) = written {
            return terminal::fail(&format!("cannot write {}: {error}", path.display()));
        }
    }
    terminal::write_out(&format!("wrote {} pages to {}\n", entries.len(), folder.display()))
}

/// The manual page of a command.
fn page(entry: &Entry, all: &[Entry]) -> String {
    let name = plain(&entry.page());
    let version = plain(help::VERSION.trim_end());
    let mut text =
        format!(".TH {name} 1 \"\" \"{version}\"\n.SH NAME\n{name} \\- {}\n", plain(entry.title()));
    let mut is_described = false;
    for part in entry.parts() {
        if matches!(part, Part::Paragraph(_) | Part::Verbatim(_)) && !is_described {
            is_described = true;
            text.push_str(".SH DESCRIPTION\n");
        }
        let _ = match part {
            Part::Usage(forms) => {
                let forms: Vec<String> = forms.into_iter().map(plain).collect();
                writeln!(text, ".SH SYNOPSIS\n.nf\n{}\n.fi", forms.join("\n"))
            }
            Part::Heading(heading) => {
                is_described = true;
                writeln!(text, ".SH {}", plain(&heading.to_uppercase()))
            }
            Part::Item(spec, about) => {
                writeln!(text, ".TP\n.B {}\n{}", plain(spec), plain(&about))
            }
            Part::Paragraph(paragraph) => writeln!(text, ".PP\n{}", lines(paragraph)),
            Part::Verbatim(verbatim) => writeln!(text, ".PP\n.nf\n{}\n.fi", lines(verbatim)),
        };
    }
    let others = all
        .iter()
        .filter(|it| is_near(entry, it))
        .map(|it| format!(".BR {} (1)", plain(&it.page())));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        let _ = writeln!(text, ".SH SEE ALSO\n{}", others.join(",\n"));
    }
    text
}

/// Whether a command is directly above or below another.
fn is_near(entry: &Entry, other: &Entry) -> bool {
    let parent = |it: &Entry| it.words.rsplit_once(' ').map_or("", |(above, _)| above);
    entry.words != other.words
        && ((!entry.words.is_empty() && parent(entry) == other.words)
            || (!other.words.is_empty() && parent(other) == entry.words))
}

fn lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(plain).collect();
    lines.join("\n")
}

/// A line as text: nothing of it is a request.
fn plain(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_sections_of_its_help() {
        let entries = entries();
        let entry = entries.iter().find(|it| it.words == "mod add").expect("mod add is there");
        let page = page(entry, &entries);
        let sections: Vec<&str> = page.lines().filter_map(|it| it.strip_prefix(".SH ")).collect();
        let wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "SEE ALSO"];
        assert_eq!(sections, wanted, "{page}");
        assert!(page.contains(".TP\n.B \\-t, \\-\\-tag <tag>\nTag of the repository\n"), "{page}");
        assert!(page.ends_with(".BR kcl\\-mod (1)\n"), "{page}");
    }

    #[test]
    fn lines_are_not_requests() {
        assert_eq!(lines(".x \\n\n'y\n--z"), "\\&.x \\en\n\\&'y\n\\-\\-z");
    }
}
