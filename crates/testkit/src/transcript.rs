//! Sessions of a command line tool as golden files.
//!
//! ```text
//! # A program with an error.
//! $ write main.k
//!     a = 1 +
//!
//! $ kcl run main.k
//! exit 1
//! stderr:
//!     error[E1001]: InvalidSyntax
//! ```
//!
//! A file holds commands, each with what it is expected to print; comments start with `#`. The
//! commands run one after the other in one folder, and the file must be what they leave behind.
//! To add a command, write its line and run the test with `UPDATE=1`.
//!
//! | command | meaning |
//! |---|---|
//! | `$ TOOL WORD…` | Runs the tool; `'a b'` is one word, `< FILE` at the end is its input |
//! | `$ silent TOOL WORD…` | Runs the tool, which must succeed; what it prints does not count |
//! | `$ write FILE` | Writes the indented text below into a file |
//! | `$ replace FILE OLD NEW` | Replaces a text in a file |
//! | `$ patch FILE OFFSET BYTE` | Replaces a byte of a file |
//! | `$ remove FILE` | Removes a file or a folder |
//! | `$ show FILE` | Prints a file |
//! | `$ list FOLDER` | Prints the paths of all files below a folder |

mod index;

use crate::golden;
use anyhow::{Context as _, bail, ensure};
pub use index::Index;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const INDENT: &str = "    ";

/// Runs the commands of golden files.
pub struct Transcript<'a> {
    /// Name of the tool, as the files have it.
    pub tool: &'a str,
    /// Folder in which commands run.
    pub folder: &'a Path,
    /// Prepares the tool with some arguments.
    pub command: &'a dyn Fn(&[String]) -> Command,
    /// Replaces what differs between two runs by placeholders such as `[TIME]`.
    pub redact: &'a dyn Fn(&str) -> String,
}

impl Transcript<'_> {
    /// Runs the commands in the file at `path` and compares what they print, or rewrites the file
    /// when `UPDATE=1` is set.
    ///
    /// # Errors
    ///
    /// When the file is not valid, or what is printed differs.
    pub fn check(&self, path: &Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let mut blocks: Vec<String> = Vec::new();
        let mut comment = String::new();
        for block in split(&text) {
            match block {
                Block::Comment(line) => {
                    comment.push_str(line);
                    comment.push('\n');
                }
                Block::Command(line, body) => {
                    let result = self.run(line, &body);
                    let result = result.with_context(|| format!("{}: {line}", path.display()))?;
                    blocks.push(format!("{}$ {line}\n{result}", std::mem::take(&mut comment)));
                }
            }
        }
        golden::check(path, &(blocks.join("\n") + &comment))
    }

    /// Runs one command and returns what belongs below it.
    fn run(&self, line: &str, body: &str) -> anyhow::Result<String> {
        let words = words(line)?;
        let [name, rest @ ..] = &words[..] else { bail!("a command is missing") };
        if name == self.tool {
            return self.run_tool(rest);
        }
        if let ("silent", [tool, rest @ ..]) = (name.as_str(), rest)
            && tool == self.tool
        {
            let output = (self.command)(rest).current_dir(self.folder).output()?;
            ensure!(output.status.success(), "failed:\n{}", self.describe(&output));
            return Ok(String::new());
        }
        let file = self.folder.join(rest.first().context("a path is missing")?);
        match (name.as_str(), rest) {
            ("write", [_]) => {
                std::fs::create_dir_all(file.parent().unwrap_or(self.folder))?;
                std::fs::write(&file, body)?;
                Ok(indent(body))
            }
            ("patch", [_, offset, byte]) => {
                let mut bytes = std::fs::read(&file)?;
                let at = bytes.get_mut(offset.parse::<usize>()?).context("the file is shorter")?;
                *at = byte.parse()?;
                std::fs::write(&file, bytes)?;
                Ok(String::new())
            }
            ("replace", [_, old, new]) => {
                let text = std::fs::read_to_string(&file)?;
                ensure!(text.contains(old.as_str()), "the file does not contain `{old}`");
                std::fs::write(&file, text.replace(old.as_str(), new))?;
                Ok(String::new())
            }
            ("remove", [_]) if file.is_dir() => {
                std::fs::remove_dir_all(&file)?;
                Ok(String::new())
            }
            ("remove", [_]) => {
                std::fs::remove_file(&file)?;
                Ok(String::new())
            }
            ("show", [_]) => Ok(indent(&(self.redact)(&std::fs::read_to_string(&file)?))),
            ("list", [_]) => {
                let mut paths = Vec::new();
                list(&file, "", &mut paths)?;
                paths.sort();
                Ok(indent(&paths.concat()))
            }
            _ => bail!("unknown command"),
        }
    }

    fn run_tool(&self, words: &[String]) -> anyhow::Result<String> {
        let (words, input) = match words {
            [words @ .., sign, file] if sign == "<" => {
                (words, Stdio::from(std::fs::File::open(self.folder.join(file))?))
            }
            _ => (words, Stdio::null()),
        };
        let mut command = (self.command)(words);
        let output = command.current_dir(self.folder).stdin(input).output()?;
        Ok(self.describe(&output))
    }

    fn describe(&self, output: &Output) -> String {
        let mut text = match output.status.code() {
            Some(code) => format!("exit {code}\n"),
            None => format!("{}\n", output.status),
        };
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let shown = (self.redact)(&String::from_utf8_lossy(bytes)).replace('\u{1b}', "\\e");
            if !shown.is_empty() {
                let _ = write!(text, "{name}:\n{}", indent(&shown));
            }
            if !shown.is_empty() && !shown.ends_with('\n') {
                text.push_str("(no line break at the end)\n");
            }
        }
        text
    }
}

enum Block<'t> {
    Comment(&'t str),
    /// A command line, and the indented text below it without the indent.
    Command(&'t str, String),
}

fn split(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            blocks.push(Block::Command(command, String::new()));
        } else if line.starts_with('#') {
            blocks.push(Block::Comment(line));
        } else if let Some(Block::Command(_, body)) = blocks.last_mut() {
            body.push_str(line.strip_prefix(INDENT).unwrap_or(line));
            body.push('\n');
        }
    }
    for block in &mut blocks {
        // The empty line before the next command is layout.
        if let Block::Command(_, body) = block
            && body.ends_with("\n\n")
        {
            body.pop();
        }
    }
    blocks
}

fn indent(text: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("{INDENT}{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Splits a command line into words; quotes hold words together.
fn words(line: &str) -> anyhow::Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for char in line.chars() {
        match (char, quote) {
            (_, Some(mark)) if char == mark => quote = None,
            ('\'' | '"', None) => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    ensure!(quote.is_none(), "a quote is not closed");
    words.extend(word);
    Ok(words)
}

/// Copies a folder with all that is in it.
///
/// # Errors
///
/// When a file cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn list(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), paths)?;
        } else {
            paths.push(format!("{name}\n"));
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces_outside_of_quotes() {
        assert_eq!(words("a 'b c' d\"e f\"  ''").unwrap(), ["a", "b c", "de f", ""]);
        assert!(words("a 'b").is_err());
    }

    #[test]
    fn commands_run_in_one_folder_and_must_print_what_the_file_says() {
        let folder =
            std::env::temp_dir().join(format!("testkit-transcript-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let transcript = Transcript {
            tool: "sh",
            folder: &folder,
            command: &|words| {
                let mut command = Command::new("sh");
                command.args(words);
                command
            },
            redact: &|text| text.replace(&std::process::id().to_string(), "[PID]"),
        };
        let path = folder.join("golden.txt");
        let text = format!(
            "# Files.\n$ write in/a.txt\n    one\n\n    two\n\n$ replace in/a.txt two three\n\n\
             $ list in\n    a.txt\n\n$ show in/a.txt\n    one\n\n    three\n\n# Tools.\n\
             $ sh -c 'cat; echo {} >&2; exit 3' < in/a.txt\nexit 3\nstdout:\n    one\n\n    \
             three\nstderr:\n    [PID]\n\n$ sh -c 'printf x'\nexit 0\nstdout:\n    x\n\
             (no line break at the end)\n\n$ remove in\n",
            std::process::id()
        );
        std::fs::write(&path, &text).unwrap();
        let good = transcript.check(&path);
        std::fs::write(&path, text.replace("exit 3\n", "exit 4\n")).unwrap();
        let bad = transcript.check(&path);
        std::fs::remove_dir_all(&folder).unwrap();
        good.unwrap();
        if std::env::var_os("UPDATE").is_none() {
            assert!(bad.unwrap_err().to_string().contains("differs"));
        }
    }
}
