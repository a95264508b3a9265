//! All commands with their help, from which manual pages, completions and `docs/kcl-cli.md` are
//! made.

use crate::{clean, completion, doc, export, help, import, man, module, registry, test, vet};

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its words behind `kcl`: `run`, `mod add`; empty for `kcl` itself.
    pub(crate) words: &'static str,
    /// What `--help` says.
    pub(crate) help: &'static str,
}

/// All commands in the order of the overview; a command stands before those below it.
pub(crate) fn entries() -> Vec<Entry> {
    let at_root = [
        ("", help::OVERVIEW),
        ("run", help::RUN),
        ("batch", help::BATCH),
        ("fmt", help::FMT),
        ("lint", help::LINT),
        ("explain", help::EXPLAIN),
        ("vet", vet::HELP),
        ("test", test::HELP),
        ("query", help::QUERY),
        ("set", help::SET),
        ("rename", help::RENAME),
        ("doc", doc::HELP),
        ("export", export::HELP),
        ("import", import::HELP),
        ("mod", module::MOD),
        ("registry", registry::HELP),
        ("clean", clean::HELP),
        ("completion", completion::HELP),
        ("man", man::HELP),
    ];
    let below = |words: &'static [&'static str], text: fn(&str) -> Option<&'static str>| {
        words.iter().filter_map(move |words| {
            let (_, command) = words.split_once(' ')?;
            Some(Entry { words, help: text(command)? })
        })
    };
    let mut entries = Vec::new();
    for (words, help) in at_root {
        entries.push(Entry { words, help });
        match words {
            "mod" => entries.extend(below(MOD_COMMANDS, module::help_text)),
            "registry" => entries.extend(below(REGISTRY_COMMANDS, registry::help_text)),
            _ => {}
        }
    }
    entries
}

const MOD_COMMANDS: &[&str] = &[
    "mod init",
    "mod add",
    "mod remove",
    "mod update",
    "mod tree",
    "mod graph",
    "mod metadata",
    "mod vendor",
    "mod pull",
    "mod push",
    "mod pkg",
];

const REGISTRY_COMMANDS: &[&str] = &["registry login", "registry logout"];

/// A part of a help text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// `Usage: …`, a line for each form.
    Usage(Vec<&'t str>),
    /// The title of a list: `Options:`.
    Heading(&'t str),
    /// An option or command and what it does.
    Item(&'t str, String),
    /// A paragraph.
    Paragraph(&'t str),
    /// Lines whose layout counts.
    Verbatim(&'t str),
}

impl Entry {
    /// The first sentence of the help, without its full stop.
    pub(crate) fn title(&self) -> &'static str {
        self.help.lines().next().unwrap_or_default().trim_end_matches('.')
    }

    /// The name of the manual page: `kcl-mod-add`.
    pub(crate) fn page(&self) -> String {
        format!("kcl {}", self.words).trim_end().replace(' ', "-")
    }

    /// What follows the title.
    pub(crate) fn parts(&self) -> Vec<Part<'static>> {
        let mut parts = Vec::new();
        for block in self.help.split("\n\n").skip(1) {
            let block = block.trim_end_matches('\n');
            if let Some(usage) = block.strip_prefix("Usage: ") {
                parts.push(Part::Usage(usage.lines().map(str::trim).collect()));
                continue;
            }
            let (first, rest) = block.split_once('\n').unwrap_or((block, ""));
            if let Some(heading) = first.strip_suffix(':')
                && !first.starts_with(' ')
                && rest.starts_with(' ')
            {
                parts.push(Part::Heading(heading));
                parts.extend(items(rest));
            } else if block.starts_with(' ') && item(first).is_some() {
                parts.extend(items(block));
            } else if block.starts_with(' ') {
                parts.push(Part::Verbatim(block));
            } else {
                parts.push(Part::Paragraph(block));
            }
        }
        parts
    }

    /// The options and what they do; options that stand for the same are one.
    pub(crate) fn options(&self) -> Vec<CommandOption<'static>> {
        let parts = self.parts();
        let mut options = Vec::new();
        for part in parts {
            let Part::Item(spec, about) = part else { continue };
            if let Some(option) = CommandOption::parse(spec, about) {
                options.push(option);
            }
        }
        options
    }

    /// The commands directly below, with their titles, and other words that it expects.
    pub(crate) fn commands(&self) -> Vec<(&'static str, String)> {
        let is_command = |spec: &str| spec.chars().all(|c| c.is_ascii_lowercase());
        let parts = self.parts();
        let items = parts.into_iter().filter_map(|part| match part {
            Part::Item(spec, about) if is_command(spec) => Some((spec, about)),
            _ => None,
        });
        items.collect()
    }
}

/// An option as completions know it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandOption<'t> {
    /// `x` of `-x`.
    pub(crate) short: Option<char>,
    /// `name` of `--name`.
    pub(crate) long: &'t str,
    /// Whether a value follows.
    pub(crate) has_value: bool,
    /// What it does.
    pub(crate) about: String,
}

impl<'t> CommandOption<'t> {
    /// Reads `-o, --output <file>`.
    fn parse(spec: &'t str, about: String) -> Option<Self> {
        let (names, value) = match spec.split_once(" <") {
            Some((names, _)) => (names, true),
            None => (spec, false),
        };
        let (short, long) = match names.split_once(", ") {
            Some((short, long)) => (short.strip_prefix('-')?.chars().next(), long),
            None => (None, names),
        };
        Some(Self { short, long: long.strip_prefix("--")?, has_value: value, about })
    }
}

/// Splits an item of a list at the spaces before what it says.
fn item(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (spec, about) = line.split_once("  ").or_else(|| line.split_once("> "))?;
    let end = spec.len() + usize::from(line[spec.len()..].starts_with('>'));
    Some((&line[..end], about.trim_start()))
}

fn items(text: &'static str) -> Vec<Part<'static>> {
    let mut parts: Vec<Part<'static>> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        // What an item says goes on in its own column.
        if indent > 8
            && let Some(Part::Item(_, about)) = parts.last_mut()
        {
            about.push(' ');
            about.push_str(line.trim_start());
            continue;
        }
        parts.push(match item(line) {
            Some((spec, about)) => Part::Item(spec, about.to_owned()),
            None => Part::Verbatim(line),
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// The reference of all commands.
    fn reference() -> String {
        let mut text = String::from(
            "# The command line of kcl\n\n<!-- Written by `UPDATE=1 cargo test -p kcl-cli \
             reference` from the help of the commands. -->\n\n\
             Results go to standard output; errors, warnings and progress go to standard error.\n\
             Options of the reference can be written with `_` or `-`: `--disable_none` is\n\
             `--disable-none`. What the commands do is in [tools.md](tools.md),\n\
             [kcl-tools.md](kcl-tools.md), [packages.md](packages.md) and [batch.md](batch.md).\n\n\
             | exit code | meaning |\n|---|---|\n| 0 | success |\n| 1 | the input is not valid, or a \
             check failed |\n| 2 | the command line is not valid |\n| 101 | a bug of `kcl` |\n",
        );
        for entry in entries() {
            let name = format!("kcl {}", entry.words);
            let _ = write!(text, "\n## {}\n\n```text\n{}```\n", name.trim_end(), entry.help);
        }
        text
    }

    #[test]
    fn the_reference_is_that_of_the_commands() {
        let path = testkit::repository().join("docs/kcl-cli.md");
        testkit::golden::check(&path, &reference()).expect("docs/kcl-cli.md is up to date");
    }

    #[test]
    fn the_overview_lists_all_commands() {
        let all = entries();
        for entry in &all {
            let listed = entry.commands();
            let below: Vec<&str> = all
                .iter()
                .filter_map(|it| match entry.words {
                    "" => Some(it.words).filter(|it| !it.is_empty() && !it.contains(' ')),
                    words => it.words.strip_prefix(words)?.strip_prefix(' '),
                })
                .collect();
            for command in below {
                assert!(listed.iter().any(|(name, _)| *name == command), "{command}");
            }
        }
    }

    #[test]
    fn help_fits_in_a_terminal() {
        for Entry { words, help } in entries() {
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "kcl {words}: {line}");
            }
            assert!(help.contains("\nUsage: kcl"), "kcl {words}");
        }
    }

    #[test]
    fn options_are_read_from_help() {
        let run = entries().into_iter().find(|it| it.words == "run").expect("run is there");
        let options = run.options();
        let find = |long: &str| options.iter().find(|it| it.long == long);
        let output = find("output").expect("--output is there");
        assert_eq!((output.short, output.has_value), (Some('o'), true));
        assert_eq!(output.about, "Write the result to a file");
        let partial = find("partial").expect("--partial is there");
        assert!(partial.about.ends_with("nothing is required, no checks"), "{}", partial.about);
        let lint = entries().into_iter().find(|it| it.words == "lint").expect("lint is there");
        assert!(lint.options().iter().any(|it| it.long == "external" && it.has_value));
    }
}
