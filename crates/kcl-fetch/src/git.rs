//! Git repositories, through the user's own git program.
//!
//! Nothing of a repository is run: there is no checkout, so no hooks, filters or submodules. Objects
//! are fetched into a bare repository and read one by one.

use crate::archive::{MAX_ENTRIES, MAX_SIZE, Writer};
use crate::error::FetchError;
use crate::http::is_loopback;
use crate::progress::Progress;
use kcl_pkg::GitReference;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a fetch may take, and how large the repository may get, in bytes.
const TIMEOUT: Duration = Duration::from_mins(15);
const MAX_REPOSITORY: u64 = 2 << 30;
/// How many bytes of messages are kept.
const MAX_MESSAGES: u64 = 64 << 10;
/// Variables that would make git use another repository than the one it is given.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_EXTERNAL_DIFF",
];
/// Settings that keep git from starting other programs.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];
/// The name of the fetched commit in the temporary repository.
const FETCHED: &str = "refs/kcl/fetched";

/// A point of a repository.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GitSource<'s> {
    pub(crate) url: &'s str,
    pub(crate) reference: Option<&'s GitReference>,
    /// The commit that the lock file records.
    pub(crate) locked: Option<&'s str>,
}

impl GitSource<'_> {
    fn shown(&self) -> String {
        let url = crate::http::shown(self.url);
        match self.reference {
            Some(GitReference::Tag(word)) => format!("{url} tag {word}"),
            Some(GitReference::Branch(word)) => format!("{url} branch {word}"),
            Some(GitReference::Commit(word)) => format!("{url} commit {word}"),
            None => url,
        }
    }
}

/// Returns the URL that git is called with; refuses transports that could start programs or send
/// data in plain text over the network. The error says what was expected.
pub(crate) fn check_url(url: &str) -> Result<String, String> {
    let refuse = |why: &str| Err(why.to_owned());
    if url.starts_with('-') || url.chars().any(|c| c.is_control() || c == ' ') {
        return refuse("the URL is not valid");
    }
    // The reference reads git://HOST as a repository that is served by https.
    let url =
        url.strip_prefix("git://").map_or_else(|| url.to_owned(), |it| format!("https://{it}"));
    let Some((scheme, rest)) = url.split_once("://") else {
        // user@host:path
        let (host, path) = url.split_once(':').unwrap_or((&url, ""));
        let (user, host) = host.split_once('@').unwrap_or(("", host));
        let is_name = |it: &str| {
            it.starts_with(|c: char| c.is_ascii_alphanumeric())
                && it.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        };
        if is_name(user) && is_name(host) && !path.is_empty() && !path.starts_with(':') {
            return Ok(url);
        }
        return refuse("expected a URL with https, ssh or file, or user@host:path");
    };
    let host = rest.split('/').next().unwrap_or_default().rsplit('@').next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    match scheme {
        "file" => {}
        _ if host.is_empty() || host.starts_with('-') => {
            return refuse("the URL has no valid host");
        }
        "https" | "ssh" => {}
        "http" if is_loopback(name) || host.starts_with("[::1]") => {}
        "http" => return refuse("plain HTTP is only used on this machine"),
        _ => return refuse("expected a URL with https, ssh or file"),
    }
    Ok(url)
}

/// Returns whether a tag, branch or commit may be part of the command line of git.
fn is_reference(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '+');
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.len() <= 200
        && word.chars().all(fits)
        && !word.contains("..")
}

/// Fetches a repository into a temporary folder and writes the files of one commit to another.
/// Returns the commit.
pub(crate) fn fetch(
    source: &GitSource<'_>,
    repository: &Path,
    target: &Path,
    progress: &dyn Progress,
) -> Result<String, FetchError> {
    let url = check_url(source.url).map_err(|why| FetchError::refused(source.shown(), why))?;
    if source.reference.is_some_and(|it| !is_reference(it.word())) {
        return Err(FetchError::refused(source.shown(), "the tag, branch or commit is not valid"));
    }
    let git = Git { repository, source, url: &url };
    let path = repository.display().to_string();
    git.run(&["init", "-q", "--bare", "--template=", "--", &path], None)?;
    progress.start(&source.shown());
    let fetched = git.fetch(progress);
    progress.end();
    fetched?;
    let commit =
        git.run(&["rev-parse", "--verify", "-q", &format!("{FETCHED}^{{commit}}")], None)?;
    let commit = commit.trim().to_owned();
    git.write(&commit, target)?;
    Ok(commit)
}

struct Git<'g> {
    repository: &'g Path,
    source: &'g GitSource<'g>,
    url: &'g str,
}

/// One file of a commit.
struct TreeEntry {
    is_link: bool,
    object: String,
    size: u64,
    name: String,
}

impl Git<'_> {
    /// Fetches the one commit, or, if its hash is not complete, all of the history.
    fn fetch(&self, progress: &dyn Progress) -> Result<(), FetchError> {
        let is_whole = |word: &str| word.len() == 40 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let moves = !matches!(self.source.reference, Some(GitReference::Tag(_)));
        let locked = self.source.locked.filter(|it| moves && is_whole(it));
        let from = match (locked, self.source.reference) {
            (Some(commit), _) => commit.to_owned(),
            (_, Some(GitReference::Tag(tag))) => format!("refs/tags/{tag}"),
            (_, Some(GitReference::Branch(branch))) => format!("refs/heads/{branch}"),
            (_, Some(GitReference::Commit(commit))) if is_whole(commit) => commit.clone(),
            (_, Some(GitReference::Commit(commit))) => return self.fetch_all(commit, progress),
            (_, None) => "HEAD".to_owned(),
        };
        let refspec = format!("+{from}:{FETCHED}");
        let one = self.run(&fetch_words(&["--depth=1"], self.url, &[&refspec]), Some(progress));
        match one {
            // Some servers give commits only as part of the history.
            Err(_) if is_whole(&from) => self.fetch_all(&from, progress),
            result => result.map(drop),
        }
    }

    fn fetch_all(&self, commit: &str, progress: &dyn Progress) -> Result<(), FetchError> {
        let refspecs = ["+refs/heads/*:refs/kcl/heads/*", "+refs/tags/*:refs/kcl/tags/*"];
        self.run(&fetch_words(&[], self.url, &refspecs), Some(progress))?;
        let name = format!("{commit}^{{commit}}");
        let found = self.run(&["rev-parse", "--verify", "-q", &name], None);
        let found = found.map_err(|_| self.failed("it has no such commit"))?;
        self.run(&["update-ref", FETCHED, found.trim()], None).map(drop)
    }

    /// Writes all files of a commit.
    fn write(&self, commit: &str, target: &Path) -> Result<(), FetchError> {
        let list = self.run(&["ls-tree", "-r", "-z", "--long", "--full-tree", commit], None)?;
        let entries: Vec<TreeEntry> = list.split('\0').filter_map(read_entry).collect();
        let size = entries.iter().fold(0_u64, |sum, it| sum.saturating_add(it.size));
        if entries.len() > MAX_ENTRIES || size > MAX_SIZE {
            let why = format!("it has more than {MAX_ENTRIES} files or {MAX_SIZE} bytes");
            return Err(FetchError::refused(self.source.shown(), why));
        }
        let mut child = self
            .command(&["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| self.failed(&error.to_string()))?;
        let written = self.write_objects(&mut child, &entries, target);
        if written.is_err() {
            let _ = child.kill();
        }
        let _ = child.wait();
        written
    }

    fn write_objects(
        &self,
        child: &mut Child,
        entries: &[TreeEntry],
        target: &Path,
    ) -> Result<(), FetchError> {
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((mut input, output)) = pipes else { return Err(self.failed("it has no pipes")) };
        let names: Vec<&str> = entries.iter().map(|it| it.object.as_str()).collect();
        let names = names.join("\n") + "\n";
        // Git stops reading while its output is full: write beside.
        let feeder = thread::spawn(move || input.write_all(names.as_bytes()));
        let mut output = BufReader::new(output);
        let shown = self.source.shown();
        let mut writer = Writer::new(target, &shown);
        let broken = || self.failed("its objects cannot be read");
        for entry in entries {
            let mut head = String::new();
            output.read_line(&mut head).map_err(|_| broken())?;
            if head.trim_end() != format!("{} blob {}", entry.object, entry.size) {
                return Err(broken());
            }
            if entry.is_link {
                let mut link = String::new();
                let mut content = (&mut output).take(entry.size);
                content.read_to_string(&mut link).map_err(|_| broken())?;
                writer.link(&entry.name, &link)?;
            } else {
                writer.file(&entry.name, entry.size, &mut output)?;
            }
            output.read_exact(&mut [0]).map_err(|_| broken())?;
        }
        let _ = feeder.join();
        writer.finish()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        for name in REMOVED {
            command.env_remove(name);
        }
        let protocols = if self.url.starts_with("http://") { "http" } else { "https:ssh:file" };
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", protocols)
            .env("GIT_LFS_SKIP_SMUDGE", "1")
            .env("LC_ALL", "C")
            .env("GIT_DIR", self.repository);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(words);
        command
    }

    /// Runs git and returns what it prints.
    fn run(&self, words: &[&str], progress: Option<&dyn Progress>) -> Result<String, FetchError> {
        let mut child = self
            .command(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.failed(&format!("cannot start git: {error}")))?;
        let output = child.stdout.take().map(|it| read_beside(it, 64 << 20));
        let messages = child.stderr.take().map(|it| read_beside(it, MAX_MESSAGES));
        let ended = self.wait(&mut child, progress);
        let text = |reader: Option<thread::JoinHandle<String>>| {
            reader.and_then(|it| it.join().ok()).unwrap_or_default()
        };
        let (output, messages) = (text(output), text(messages));
        if ended? {
            return Ok(output);
        }
        let lines: Vec<&str> = messages.lines().filter(|it| !it.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].join("\n");
        let clean: String = last.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        Err(self.failed(if clean.is_empty() { "it failed without a message" } else { &clean }))
    }

    /// Waits until git has ended, within limits; returns whether it succeeded.
    fn wait(&self, child: &mut Child, progress: Option<&dyn Progress>) -> Result<bool, FetchError> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) => {}
                Err(error) => return Err(self.failed(&error.to_string())),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
            let size = progress.map_or(0, |_| size_of(self.repository));
            if let Some(progress) = progress {
                progress.advance(size, None);
            }
            let is_late = start.elapsed() > TIMEOUT;
            if is_late || size > MAX_REPOSITORY {
                let _ = child.kill();
                let _ = child.wait();
                return Err(self.failed(&if is_late {
                    format!("it timed out after {} s", TIMEOUT.as_secs())
                } else {
                    format!("the repository has more than {MAX_REPOSITORY} bytes")
                }));
            }
        }
    }

    fn failed(&self, why: &str) -> FetchError {
        FetchError::Git { what: self.source.shown(), why: why.to_owned() }
    }
}

fn fetch_words<'w>(options: &[&'w str], url: &'w str, refspecs: &[&'w str]) -> Vec<&'w str> {
    let fixed = ["fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    [&fixed[..], options, &["--", url], refspecs].concat()
}

/// Reads the output of a child on a thread, up to a limit; the rest is dropped.
fn read_beside(reader: impl Read + Send + 'static, limit: u64) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut reader = reader;
        // What cannot be read is not there.
        let _ = (&mut reader).take(limit).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Reads `MODE TYPE OBJECT SIZE\tPATH`; `None` for a submodule.
fn read_entry(line: &str) -> Option<TreeEntry> {
    let (facts, name) = line.split_once('\t')?;
    let mut facts = facts.split_whitespace();
    let (mode, kind, object) = (facts.next()?, facts.next()?, facts.next()?);
    let size = facts.next()?.parse().ok()?;
    let (object, name) = (object.to_owned(), name.to_owned());
    (kind == "blob").then(|| TreeEntry { is_link: mode == "120000", object, size, name })
}

fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size_of(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_that_start_programs_are_refused() {
        for url in [
            "https://github.com/a/b",
            "ssh://git@github.com/a/b.git",
            "git@github.com:a/b.git",
            "file:///srv/a.git",
            "http://127.0.0.1:8080/a.git",
        ] {
            assert_eq!(check_url(url).unwrap(), url);
        }
        assert_eq!(check_url("git://github.com/a/b").unwrap(), "https://github.com/a/b");
        for url in [
            "ext::sh -c date",
            "ext::sh",
            "--upload-pack=date",
            "ssh://-oProxyCommand=date/a",
            "http://example.com/a",
            "/srv/a.git",
            "fd::17",
            "a@b",
            "a@-b:c",
            "https:///a",
        ] {
            assert!(check_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn references_are_names() {
        for word in ["v1.0.0", "feature/x", "a29e3db"] {
            assert!(is_reference(word), "{word}");
        }
        for word in ["", "-x", "a..b", "a:b", "a b", "^a"] {
            assert!(!is_reference(word), "{word}");
        }
    }
}
