//! The script of `kubectl` commands: exit codes and what must stand in the output.

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// One command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Arguments of kubectl, split at blanks; `'…'` keeps blanks.
    run: String,
    /// Standard input.
    #[serde(default)]
    stdin: String,
    /// Expected exit code.
    #[serde(default)]
    code: i32,
    /// Texts that must stand in the output (standard output and error).
    #[serde(default)]
    has: Vec<String>,
    /// Texts that must not.
    #[serde(default)]
    not: Vec<String>,
    /// Whether only a sandbox can do it: pods of the real test cluster run nothing.
    #[serde(default)]
    sandbox: bool,
}

/// Runs the script against the server of a kubeconfig; returns how many commands passed, and
/// the failures.
pub fn run_script(
    kubectl: &str,
    kubeconfig: &Path,
    script: &Path,
    sandbox: bool,
) -> anyhow::Result<(usize, Vec<String>)> {
    let lines: Vec<Line> = yaml_serde::from_str(&std::fs::read_to_string(script)?)
        .with_context(|| format!("reading {}", script.display()))?;
    let id: String = (0..6).map(|_| fastrand::lowercase()).collect();
    let namespace = format!("kubectl-{id}");
    let mut n_passed = 0;
    let mut failures = Vec::new();
    for line in lines.iter().filter(|line| sandbox || !line.sandbox) {
        let fill = |text: &str| text.replace("$ns", &namespace).replace("$id", &id);
        let words: Vec<String> = words(&line.run).iter().map(|word| fill(word)).collect();
        let mut child = Command::new(kubectl)
            .args(&words)
            .env("KUBECONFIG", kubeconfig)
            .env("KUBECTL_EXTERNAL_DIFF", "diff -u")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {kubectl}"))?;
        let mut input = child.stdin.take().context("standard input is piped")?;
        input.write_all(fill(&line.stdin).as_bytes())?;
        drop(input);
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let missing: Vec<String> =
            line.has.iter().map(|it| fill(it)).filter(|it| !text.contains(it.as_str())).collect();
        let unwanted: Vec<String> =
            line.not.iter().map(|it| fill(it)).filter(|it| text.contains(it.as_str())).collect();
        let code = output.status.code().unwrap_or(-1);
        if code == line.code && missing.is_empty() && unwanted.is_empty() {
            n_passed += 1;
        } else {
            failures.push(format!(
                "kubectl {}\n  code {code}, expected {}; missing {missing:?}; unwanted {unwanted:?}\n  {}",
                words.join(" "),
                line.code,
                text.trim_end().replace('\n', "\n  ")
            ));
        }
    }
    ensure!(n_passed + failures.len() > 0, "the script is empty");
    Ok((n_passed, failures))
}

/// Splits at blanks; single quotes keep blanks.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks() {
        assert_eq!(words("get 'a b'  -o x='{.a b}'"), ["get", "a b", "-o", "x={.a b}"]);
    }
}
