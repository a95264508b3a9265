//! Git repositories for tests, also over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its repository has failed")]

use super::server::{Answer, Request, serve};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs git in a folder; returns what it prints.
pub(super) fn git(folder: &Path, line: &str) -> String {
    let mut command = Command::new("git");
    let identity =
        ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "tag.gpgSign=false"];
    command.args(identity).args(line.split_whitespace()).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {line}: {errors}");
    text
}

/// Commits all files of a folder; returns the commit.
pub(super) fn commit(folder: &Path) -> String {
    if !folder.join(".git").exists() {
        git(folder, "init -q -b main");
    }
    git(folder, "add -A");
    git(folder, "commit -q --no-gpg-sign --allow-empty -m change");
    git(folder, "rev-parse HEAD")
}

/// Serves the repositories of a folder over HTTP; returns the port.
pub(super) fn serve_git(root: PathBuf) -> u16 {
    serve(move |request| backend(&root, request).unwrap_or_else(|| Answer::new(500, "")))
}

/// Runs the program of git that serves repositories, which is a CGI program.
fn backend(root: &Path, request: &Request) -> Option<Answer> {
    let mut command = Command::new("git");
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("REQUEST_METHOD", &request.method)
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("REMOTE_ADDR", "127.0.0.1");
    for (header, name) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = request.header(header) {
            command.env(name, value);
        }
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(&request.body).ok()?;
    let output = child.wait_with_output().ok()?.stdout;
    let end = output.windows(4).position(|it| it == b"\r\n\r\n")?;
    let mut answer = Answer::new(200, &output[end + 4..]);
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let (name, value) = line.split_once(": ")?;
        if name == "Status" {
            answer.status = value.split(' ').next()?.parse().ok()?;
        } else {
            answer = answer.with(name, value);
        }
    }
    Some(answer)
}
