//! The command line as it was typed: words that other tools use for the same thing, and hints that
//! can be copied as they are.

use crate::arguments::quoted;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _};
use std::ffi::OsString;
use std::fmt::Write as _;

/// Words of other tools, and the command that does the same.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("plan", &["preview"]),
    ("rollback", &["release", "rollback"]),
    ("history", &["release", "list"]),
];

/// Words of other tools that no command does, and what to run instead.
const POINTERS: &[(&[&str], &str)] = &[
    (
        &["logs"],
        "kusion does not print the logs of containers: run `kubectl logs`; `kusion release log \
         REV DIR` shows the steps of a release, `kusion sandbox logs` the log of a sandbox",
    ),
    (
        &["get"],
        "run `kusion status DIR` to show the resources of a stack and their health, `kusion stack \
         list` to list the stacks of a state store, or `kubectl get`",
    ),
    (&["describe"], "run `kusion status DIR`, or `kubectl describe`"),
    (&["state", "list"], "run `kusion stack list`, or `kusion stack show PROJECT/STACK`"),
    (&["state", "show"], "run `kusion stack show PROJECT/STACK`, or `kusion status DIR`"),
    (&["state", "remove"], "run `kusion state rm ID DIR`"),
    (&["state", "move"], "run `kusion state mv ID ID DIR`"),
    (&["sandbox", "stop"], "run `kusion sandbox down`"),
    (&["sandbox", "start"], "run `kusion sandbox up`"),
    (&["sandbox", "delete"], "run `kusion sandbox down`"),
    (&["up"], "run `kusion apply DIR`, or `kusion sandbox up` to start a sandbox"),
    (&["down"], "run `kusion destroy DIR`, or `kusion sandbox down` to stop a sandbox"),
    (&["create"], "run `kusion init` to create a project, or `kusion apply DIR` to deploy a stack"),
    (&["validate"], "run `kusion compile DIR`, or `kusion preview DIR` to ask the cluster, too"),
];

/// Options whose values may be private, by their ids.
const PRIVATE: &[&str] = &["arguments", "overrides", "secret_input", "backend"];

/// Options that say where a stack is, by their ids, and how they are written.
const SITE: &[(&str, &str)] = &[
    ("workdir", "-w"),
    ("sandbox", "--sandbox"),
    ("kubeconfig", "--kubeconfig"),
    ("context", "--context"),
    ("place", "--place"),
    ("trust", "--trust"),
];

/// Returns the words of this process, with the names that commands have here.
pub(crate) fn words() -> Vec<OsString> {
    renamed(std::env::args_os().collect())
}

/// Replaces words of other tools, and turns `kusion release help list` into `kusion help release
/// list`.
fn renamed(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = words.get(1).and_then(|it| it.to_str()) else { return words };
    let root = crate::Args::command();
    let is_group = root.get_subcommands().any(|it| it.get_name() == first && it.has_subcommands());
    let second = words.get(2).and_then(|it| it.to_str()).unwrap_or_default();
    if is_group && second == "help" {
        words.swap(1, 2);
        return words;
    }
    // `kusion plan show FILE` and `kusion plan approve FILE` are about a saved plan.
    let is_other = first == "plan" && matches!(second, "show" | "approve");
    let found = SYNONYMS.iter().find(|(word, _)| *word == first && !is_other);
    if let Some((_, command)) = found {
        words.splice(1..2, command.iter().map(OsString::from));
    }
    words
}

/// Returns what to run instead of a command that does not exist.
pub(crate) fn pointer(words: &[OsString]) -> Option<&'static str> {
    let starts = |(command, _): &&(&[&str], &str)| {
        let typed = words.iter().skip(1).map(OsString::as_os_str);
        typed.take(command.len()).eq(command.iter().copied())
    };
    POINTERS.iter().find(starts).map(|(_, text)| *text)
}

/// A command line.
pub(crate) struct Typed {
    words: Vec<String>,
    /// The parsed options of the command.
    matches: ArgMatches,
}

impl Typed {
    /// Returns the command line of this process; `None` if it is not valid.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&words())
    }

    fn parse(words: &[OsString]) -> Option<Self> {
        let mut matches = crate::Args::command().try_get_matches_from(words).ok()?;
        while let Some((_, inner)) = matches.remove_subcommand() {
            matches = inner;
        }
        let words = words.iter().skip(1).map(|it| it.to_str().map(str::to_owned));
        Some(Self { words: words.collect::<Option<_>>()?, matches })
    }

    /// Returns the same command with an option; `None` if the command does not have it, or if its
    /// options may be private.
    pub(crate) fn with(&self, option: &str) -> Option<String> {
        let id = option.trim_start_matches('-').split(' ').next()?.replace('-', "_");
        let accepts = self.matches.try_contains_id(&id).is_ok();
        if !accepts || PRIVATE.iter().any(|id| self.is_typed(id)) {
            return None;
        }
        let words: Vec<String> = self.words.iter().map(|it| quoted(it)).collect();
        Some(format!("kusion {} {option}", words.join(" ")))
    }

    /// Returns a command for the same stack: with its folder, and with the options that say where
    /// it is deployed. `None` if several folders were typed.
    pub(crate) fn for_stack(&self, command: &str) -> Option<String> {
        let folders = self.values("folders");
        if folders.len() > 1 {
            return None;
        }
        let folder = folders.first().map(|it| format!(" {}", quoted(it))).unwrap_or_default();
        Some(format!("kusion {command}{folder}{}", self.site()))
    }

    /// Returns a command for the files of the same stack. `None` if several folders were typed.
    pub(crate) fn for_folder(&self, command: &str) -> Option<String> {
        let folders = self.values("folders");
        if folders.len() > 1 {
            return None;
        }
        let folder = folders.first().map(|it| format!(" {}", quoted(it))).unwrap_or_default();
        let base = self.values("workdir").first().map(|it| format!(" -w {}", quoted(it)));
        Some(format!("kusion {command}{folder}{}", base.unwrap_or_default()))
    }

    /// Returns a command on the same state store.
    pub(crate) fn for_store(&self, command: &str) -> String {
        format!("kusion {command}{}", self.backend())
    }

    /// Returns the options that say where a stack is deployed, as they are typed.
    pub(crate) fn site(&self) -> String {
        let mut text = String::new();
        for (id, option) in SITE.iter().filter(|(id, _)| self.is_typed(id)) {
            // Writing to a string does not fail.
            let _ = match (*id, self.values(id).first()) {
                ("trust", _) => write!(text, " {option}"),
                ("sandbox", Some(name)) if name == "default" => write!(text, " {option}"),
                ("sandbox", Some(name)) => write!(text, " {option}={}", quoted(name)),
                (_, Some(value)) => write!(text, " {option} {}", quoted(value)),
                (_, None) => Ok(()),
            };
        }
        text + &self.backend()
    }

    /// Returns whether the command line has an option.
    pub(crate) fn is_typed(&self, id: &str) -> bool {
        matches!(self.matches.try_contains_id(id), Ok(true))
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Returns whether a word was typed after `--sandbox`, with a space: it was read as a folder.
    pub(crate) fn is_after_sandbox(&self, word: &str) -> bool {
        self.words.windows(2).any(|it| it[0] == "--sandbox" && it[1] == word)
    }

    fn backend(&self) -> String {
        match self.values("backend").first() {
            Some(url) if !self.is_typed("backend") || url.is_empty() => String::new(),
            // It may contain a password.
            Some(url) if url.contains("://") => " --backend URL".to_owned(),
            Some(url) => format!(" --backend {}", quoted(url)),
            None => String::new(),
        }
    }

    fn values(&self, id: &str) -> Vec<String> {
        let values = self.matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        values.map(|it| it.to_string_lossy().into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        std::iter::once("kusion").chain(text.split(' ')).map(OsString::from).collect()
    }

    fn typed(text: &str) -> Typed {
        Typed::parse(&renamed(line(text))).expect("a valid command line")
    }

    #[test]
    fn words_of_other_tools_lead_to_commands() {
        for (word, command) in [
            ("plan shop/dev", "preview shop/dev"),
            ("plan", "preview"),
            ("plan show a.json", "plan show a.json"),
            ("plan approve a.json", "plan approve a.json"),
            ("rollback 3 dev", "release rollback 3 dev"),
            ("release help list", "help release list"),
            ("apply plan", "apply plan"),
        ] {
            assert_eq!(renamed(line(word)), line(command), "{word}");
        }
    }

    #[test]
    fn commands_in_pointers_exist() {
        for (words, text) in POINTERS {
            let typed = words.join(" ");
            assert!(pointer(&line(&typed)).is_some(), "{typed}");
            assert!(Typed::parse(&line(&typed)).is_none(), "`{typed}` is a command");
            for command in text.split("`kusion ").skip(1) {
                let command = command.split('`').next().unwrap_or_default().replace("REV", "3");
                assert!(Typed::parse(&line(&command)).is_some(), "{command}");
            }
        }
        assert_eq!(pointer(&line("apply logs")), None);
    }

    #[test]
    fn hints_keep_what_was_typed() {
        let it = typed("apply shop/dev --sandbox=a -y");
        assert_eq!(it.with("--all").as_deref(), Some("kusion apply shop/dev --sandbox=a -y --all"));
        let moved = it.for_stack("stack move");
        assert_eq!(moved.as_deref(), Some("kusion stack move shop/dev --sandbox=a"));
        let it = typed("release show 3 a --sandbox -w b --backend sqlite:x.db");
        let list = it.for_stack("release list");
        let expected = "kusion release list a -w b --sandbox --backend sqlite:x.db";
        assert_eq!(list.as_deref(), Some(expected));
        assert_eq!(typed("status").for_stack("apply").as_deref(), Some("kusion apply"));
        assert_eq!(typed("status a b").for_stack("apply"), None);
        assert_eq!(typed("status a").with("--lock-wait 1m"), None, "it has no such option");
        let waiting = typed("apply a").with("--lock-wait 1m");
        assert_eq!(waiting.as_deref(), Some("kusion apply a --lock-wait 1m"));
    }

    #[test]
    fn hints_repeat_nothing_private() {
        assert_eq!(typed("apply -D token=x").with("--yes"), None);
        let it = typed("apply a --backend postgres://me:secret@h/d");
        assert_eq!(it.with("--yes"), None);
        let list = it.for_store("stack list");
        assert_eq!(list, "kusion stack list --backend URL");
    }
}
