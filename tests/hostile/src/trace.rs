//! Reads what strace wrote, and says what is outside of what is allowed.

use std::path::Path;

/// One system call that could run, read, write or reach something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// A program was started.
    Run(String),
    /// A file was opened for reading.
    Read(String),
    /// A file was created, opened for writing, renamed or deleted.
    Write(String),
    /// A connection was made.
    Reach(String),
}

/// The calls of a process and of its children that succeeded, or could have.
#[derive(Debug, Default)]
pub struct Trace {
    /// In the order of the log.
    pub accesses: Vec<Access>,
}

impl Trace {
    /// Reads the log of `strace -ff -y -o`, with calls of `execve`, `connect` and those on paths:
    /// each thread has a file of its own, so that no call is told in two parts.
    pub fn parse(log: &str) -> Self {
        let mut accesses = Vec::new();
        for line in log.lines() {
            let Some((name, rest)) = line.split_once('(') else { continue };
            let has_failed = ["ENOENT", "ENOTDIR", "ELOOP"].iter().any(|it| rest.contains(it));
            if has_failed && name != "connect" {
                continue;
            }
            match name {
                "execve" => accesses.push(Access::Run(quoted(rest))),
                "connect" => accesses.push(Access::Reach(rest.to_owned())),
                "open" | "openat" | "creat" => accesses.push(opened(name, rest)),
                "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2" | "mkdir"
                | "mkdirat" | "link" | "linkat" | "symlink" | "symlinkat" => {
                    let paths: Vec<String> = all_quoted(rest);
                    accesses.extend(paths.iter().map(|it| Access::Write(absolute(rest, it))));
                }
                _ => {}
            }
        }
        Self { accesses }
    }

    /// Returns the accesses that are not allowed: programs other than `program`, connections other
    /// than to `port` on the loopback address, files written outside `writable`, and files read
    /// outside `readable` and `writable`. Folders end with `/`.
    pub fn outside(
        &self,
        program: &str,
        port: u16,
        readable: &[String],
        writable: &[String],
    ) -> Vec<&Access> {
        let below = |path: &str, roots: &[String]| {
            roots.iter().any(|root| path.starts_with(root.as_str()) || *root == format!("{path}/"))
        };
        let is_allowed = |access: &Access| match access {
            Access::Run(path) => path == program,
            Access::Read(path) => below(path, readable) || below(path, writable),
            Access::Write(path) => below(path, writable),
            Access::Reach(text) => {
                text.contains(&format!("htons({port})")) && text.contains("127.0.0.1")
            }
        };
        self.accesses.iter().filter(|it| !is_allowed(it)).collect()
    }
}

/// An opened file. The path that the system found, if the call returned one, counts.
fn opened(name: &str, rest: &str) -> Access {
    let is_write =
        name == "creat" || ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|it| rest.contains(it));
    let result = rest.rsplit_once(" = ").map_or("", |(_, result)| result);
    let path = match result.split_once('<').and_then(|(_, path)| path.rsplit_once('>')) {
        Some((path, _)) => path.to_owned(),
        None => absolute(rest, &quoted(rest)),
    };
    if is_write { Access::Write(path) } else { Access::Read(path) }
}

/// A path as an absolute one: relative to the folder that the call names before it.
fn absolute(rest: &str, path: &str) -> String {
    let folder = rest.split_once('<').and_then(|(_, it)| it.split_once('>')).map(|it| it.0);
    match folder {
        Some(folder) if !path.starts_with('/') => {
            Path::new(folder).join(path).display().to_string()
        }
        _ => path.to_owned(),
    }
}

fn quoted(rest: &str) -> String {
    all_quoted(rest).into_iter().next().unwrap_or_default()
}

fn all_quoted(rest: &str) -> Vec<String> {
    rest.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
