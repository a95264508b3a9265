//! `kusion help`: help for commands, and short guides (topics).

pub(super) mod topics;

use crate::failure::Failure;
use crate::view;
use crate::view::style::one_line;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Arguments of `kusion help`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Command, such as `apply` or `release list`, or topic; `topics` lists the topics
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// Prints the help of a command, a topic, or the list of topics.
pub(crate) fn run(args: &Args, mut root: clap::Command) -> Result<(), Failure> {
    root.build();
    if let [word] = args.words.as_slice() {
        if word == "topics" {
            return view::result(&topics::list());
        }
        if let Some(text) = topics::find(word) {
            return view::result(text);
        }
    }
    let mut command = &root;
    for word in &args.words {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None => unknown(word, command, &root).exit(),
        }
    }
    command.clone().print_long_help().map_err(Failure::Output)
}

/// Returns the usage error for a word that is neither a command nor a topic.
fn unknown(word: &str, above: &clap::Command, root: &clap::Command) -> clap::Error {
    let is_top = above.get_name() == root.get_name();
    let topics: &[&'static str] = if is_top { topics::NAMES } else { &[] };
    let tip = similar(word, above, topics)
        .map(|it| format!("\n\n  tip: a similar name exists: '{it}'"))
        .unwrap_or_default();
    let message = format!("unrecognized command or topic '{}'{tip}", one_line(word));
    above.clone().error(ErrorKind::InvalidSubcommand, message)
}

/// Returns the command or topic whose name is most similar, if one is similar enough.
fn similar(word: &str, above: &clap::Command, topics: &[&'static str]) -> Option<String> {
    // The parser suggests names of commands: topics become commands for it.
    let probe = above.clone().no_binary_name(true);
    let probe = probe.subcommands(topics.iter().map(|it| clap::Command::new(*it)));
    let error = probe.try_get_matches_from([word]).err()?;
    match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::String(name) => Some(name.clone()),
        // The most similar one is the last.
        ContextValue::Strings(names) => names.last().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn no_topic_hides_a_command() {
        let root = crate::Args::command();
        for name in topics::NAMES {
            assert!(root.find_subcommand(name).is_none(), "`{name}` is a command");
        }
    }

    #[test]
    fn commands_in_topics_are_valid() {
        for name in topics::NAMES {
            let text = topics::find(name).expect("a topic has a text");
            for line in text.lines().filter(|it| it.starts_with("    kusion ")) {
                // What the command does stands behind several spaces.
                let command = line.trim_start().split("  ").next().unwrap_or_default();
                let parsed = crate::Args::try_parse_from(command.split(' '));
                assert!(parsed.is_ok(), "{name}: {command}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn topics_fit_a_terminal_and_refer_to_topics_that_exist() {
        for name in topics::NAMES {
            let text = topics::find(name).expect("a topic has a text");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{name}: too long: {line}");
                for rest in line.split("kusion help ").skip(1) {
                    let end = |it: char| !(it.is_ascii_lowercase() || it == '-');
                    let other = rest.split(end).next().unwrap_or_default();
                    assert!(topics::find(other).is_some(), "{name}: no topic `{other}`");
                }
            }
        }
    }

    #[test]
    fn a_similar_name_is_found() {
        let root = crate::Args::command();
        let found = |word| similar(word, &root, topics::NAMES);
        assert_eq!(found("plasn").as_deref(), Some("plans"));
        assert_eq!(found("aply").as_deref(), Some("apply"));
        assert_eq!(found("xyz"), None);
    }
}
