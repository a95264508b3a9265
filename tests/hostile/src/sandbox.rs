//! One sandbox for all cases, under the same limit of memory as they are.

use crate::{Place, ask, shell};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// A running sandbox with plain HTTP; it is stopped with the value.
pub struct Sandbox {
    place: Place,
    binaries: PathBuf,
    /// Its port.
    pub port: u16,
    /// Path of its kubeconfig.
    pub kubeconfig: String,
}

impl Sandbox {
    /// Starts a sandbox for the tests of this name.
    pub fn start(name: &str, binaries: &Path) -> Result<Self> {
        let place = Place::new(&format!("sandbox-{name}"))?;
        let up = shell(&place, binaries, "kusion sandbox up --plain", &[])?;
        if up.code != Some(0) {
            bail!("the sandbox does not start: {up:?}");
        }
        let path = shell(&place, binaries, "kusion sandbox kubeconfig --path", &[])?.text;
        let kubeconfig = path.trim().to_owned();
        let text = fs::read_to_string(&kubeconfig)?;
        let port = text.split("127.0.0.1:").nth(1).unwrap_or_default();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        let port = port.parse().context("no port in the kubeconfig")?;
        Ok(Self { place, binaries: binaries.to_owned(), port, kubeconfig })
    }

    /// Checks that it still answers, and that no handler panicked; returns the most memory that it
    /// had, in bytes.
    pub fn check(&self) -> Result<u64> {
        let answer = ask(self.port, "GET /readyz", &[], b"")?;
        if answer.code != Some(200) {
            bail!("the sandbox does not answer: {answer:?}");
        }
        let log = shell(&self.place, &self.binaries, "kusion sandbox logs", &[])?.text;
        if log.contains("panicked") {
            bail!("a handler of the sandbox panicked: {log}");
        }
        let state = self.place.folder.join("home/kusion/sandbox/default/state.json");
        let state = fs::read_to_string(&state).context("no state of the sandbox")?;
        let pid = state.split("\"pid\":").nth(1).unwrap_or_default().trim_start();
        let pid: String = pid.chars().take_while(char::is_ascii_digit).collect();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Ok(peak.unwrap_or(0) * 1024)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = shell(&self.place, &self.binaries, "kusion sandbox down", &[]);
    }
}
