//! A temporary folder to run `kcl` in.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its folder has failed")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder with files; removed at the end.
pub(crate) struct Sandbox {
    root: PathBuf,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Sandbox {
    /// Makes a folder with some files in it.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("kcl-cli-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        let sandbox = Self { root: root.canonicalize().unwrap() };
        for (path, text) in files {
            let path = sandbox.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        sandbox
    }

    /// The text of a file in the folder.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Writes a file in the folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.root.join(path), text).unwrap();
    }

    /// The full path of a file in the folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Runs `kcl` with words that are separated by spaces.
    pub(crate) fn kcl(&self, line: &str) -> Ended {
        self.kcl_in(".", line, "")
    }

    /// Runs `kcl` in a sub-folder, with some standard input.
    pub(crate) fn kcl_in(&self, folder: &str, line: &str, input: &str) -> Ended {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.kcl_words(Path::new(folder), &words, input)
    }

    /// Prepares `kcl` in the folder.
    pub(crate) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcl"));
        command
            .args(words)
            .current_dir(&self.root)
            .env_remove("KCL_PKG_PATH")
            .env("HOME", &self.root);
        command
    }

    fn kcl_words(&self, folder: &Path, words: &[&str], input: &str) -> Ended {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let mut child = self
            .command(&words)
            .current_dir(self.root.join(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(self.root.to_str().unwrap(), "${DIR}")
        };
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// What a command says if all is well.
pub(crate) fn done(stdout: &str) -> Ended {
    Ended { code: 0, stdout: stdout.to_owned(), stderr: String::new() }
}
