//! The index of golden files: which command of a tool is in which file.

use crate::golden;
use anyhow::{Context as _, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Checks that every command of a tool has golden files.
pub struct Index<'a> {
    /// Name of the tool, as the files have it.
    pub tool: &'a str,
    /// Folder of the golden files, `NAME.txt`, and of the index, `README.md`.
    pub folder: &'a Path,
    /// Names of the golden files that tests check.
    pub names: &'a [&'a str],
    /// Commands that need what golden files cannot have, so that other tests show their success.
    pub elsewhere: &'a [&'a str],
    /// Returns what the tool prints for some arguments.
    pub stdout: &'a dyn Fn(&[String]) -> String,
}

/// The files in which a command succeeds, those in which it fails, and those with its help.
#[derive(Default)]
struct Found {
    succeeds: BTreeSet<String>,
    fails: BTreeSet<String>,
    help: BTreeSet<String>,
}

impl Index<'_> {
    /// Compares the index with the file `README.md`, or rewrites that when `UPDATE=1` is set.
    ///
    /// # Errors
    ///
    /// When a command that `--help` lists has no golden file in which it succeeds, in which it
    /// fails or in which its help is; when a file is checked by no test; when the index differs.
    pub fn check(&self) -> anyhow::Result<()> {
        self.all_are_checked()?;
        let commands = self.commands(&[]);
        let found = self.find(&commands)?;
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let mut text = introduction(self.tool);
        let mut missing = Vec::new();
        for command in &commands {
            let none = Found::default();
            let entry = found.get(command.as_str()).unwrap_or(&none);
            let sets = [&entry.succeeds, &entry.fails, &entry.help];
            // What prints a constant cannot fail.
            let can_fail = command != "version";
            let is_missing = |&(place, set): &(usize, &&BTreeSet<String>)| {
                let is_shown = match place {
                    0 => self.elsewhere.contains(&command.as_str()),
                    _ => !can_fail,
                };
                set.is_empty() && !is_shown
            };
            if sets.iter().enumerate().any(|it| is_missing(&it)) {
                missing.push(command.as_str());
            }
            let [succeeds, fails, help] = sets.map(list);
            let tool = self.tool;
            let _ = writeln!(text, "| `{tool} {command}` | {succeeds} | {fails} | {help} |");
        }
        ensure!(
            missing.is_empty(),
            "no golden file of success, failure or help: {}",
            missing.join(", ")
        );
        golden::check(&self.folder.join("README.md"), &text)
    }

    fn all_are_checked(&self) -> anyhow::Result<()> {
        for entry in std::fs::read_dir(self.folder)? {
            let file = entry?.file_name().to_string_lossy().into_owned();
            let is_checked = file.strip_suffix(".txt").is_none_or(|it| self.names.contains(&it));
            ensure!(is_checked, "`{file}` is checked by no test");
        }
        Ok(())
    }

    /// Returns all commands that have no commands below them, such as `release list`.
    fn commands(&self, path: &[String]) -> Vec<String> {
        let help = (self.stdout)(&[path, &["--help".to_owned()]].concat());
        let below = help.split("Commands:\n").nth(1).unwrap_or_default();
        let lines = below.lines().take_while(|line| line.starts_with("  "));
        // Deeper lines go on with what a command does.
        let names = lines.filter(|line| !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        let names: Vec<&str> = names.filter(|name| *name != "help").collect();
        if names.is_empty() {
            return vec![path.join(" ")];
        }
        let below = |name: &str| self.commands(&[path, &[name.to_owned()]].concat());
        names.into_iter().flat_map(below).collect()
    }

    fn find<'c>(&self, commands: &'c [String]) -> anyhow::Result<BTreeMap<&'c str, Found>> {
        let mut found: BTreeMap<&str, Found> = BTreeMap::new();
        for name in self.names {
            let path = self.folder.join(format!("{name}.txt"));
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let mut lines = text.lines();
            while let Some(line) = lines.next() {
                let called = line.strip_prefix("$ ").and_then(|it| it.strip_prefix(self.tool));
                let Some(words) = called.map(str::trim) else { continue };
                let is_called = |it: &&String| format!("{words} ").starts_with(&format!("{it} "));
                let Some(command) = commands.iter().find(is_called) else { continue };
                let entry = found.entry(command).or_default();
                let set = match lines.next() {
                    _ if words.ends_with(" --help") => &mut entry.help,
                    Some("exit 0") => &mut entry.succeeds,
                    _ => &mut entry.fails,
                };
                set.insert(format!("[{name}]({name}.txt)"));
            }
        }
        Ok(found)
    }
}

fn introduction(tool: &str) -> String {
    format!(
        "# What the commands of {tool} print\n
Each file is a session: commands, and what they print without a terminal and with `COLUMNS=80`.
Colours are in `colour.txt` (`\\e` is the escape character). `[TIME]`, `[PORT]` and the like stand
for what differs between two runs. The commands of a file run one after the other in a
folder of their own, which starts as a copy of `fixture`. To add one, write its line
(`$ {tool} …`) and run `UPDATE=1 cargo test -p {tool}-cli snapshots` twice: the second run writes
this index. Read the difference before you commit it.

| command | succeeds | fails | help |
|---|---|---|---|
"
    )
}
