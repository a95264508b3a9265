//! Packages from registries, Git repositories and folders, on servers of this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

mod commands;
mod from_git;
mod from_registry;
mod git;
pub(crate) mod registry;
mod server;

use crate::sandbox::{Ended, Sandbox};
use registry::{Login, Registry};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A registry and a folder with modules: `lib`, which is pushed as `lib:0.1.0`, and `app`.
struct World {
    sandbox: Sandbox,
    registry: Registry,
}

impl World {
    fn new() -> Self {
        Self::with_login(Login::Open)
    }

    fn with_login(login: Login) -> Self {
        let sandbox = Sandbox::new(&[
            ("lib/kcl.mod", "[package]\nname = \"lib\"\nversion = \"0.1.0\"\n"),
            ("lib/lib.k", "greeting = \"hello\"\n"),
            ("lib/data/more.k", "number = 7\n"),
            ("app/kcl.mod", "[package]\nname = \"app\"\nversion = \"0.0.1\"\n"),
            ("app/main.k", "import lib\n\na = lib.greeting\n"),
        ]);
        Self { sandbox, registry: Registry::start(login) }
    }

    /// With `lib:0.1.0` in the registry and in `kcl.mod` of `app`.
    fn with_lib() -> Self {
        let world = Self::new();
        world.push();
        world.well("app", "mod add lib:0.1.0");
        world
    }

    fn push(&self) {
        let url = format!("oci://{}/kcl-lang/lib", self.registry.host);
        self.well("lib", &format!("mod push {url}"));
    }

    fn path(&self, path: &str) -> PathBuf {
        self.sandbox.path(path)
    }

    fn read(&self, path: &str) -> String {
        self.sandbox.read(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, folder: &str, line: &str) -> Command {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut command = self.sandbox.command(&words);
        command.current_dir(self.path(folder)).env("KPM_REG", &self.registry.host);
        for name in ["KPM_REPO", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command.env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    fn kcl(&self, folder: &str, line: &str) -> Ended {
        self.end(self.command(folder, line))
    }

    fn end(&self, mut command: Command) -> Ended {
        let output = command.output().unwrap();
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap().replace(root, "${DIR}");
            text.replace(&self.registry.host, "${HOST}")
        };
        let code = output.status.code().unwrap_or(-1);
        Ended { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs a command that must succeed; returns what it prints.
    fn well(&self, folder: &str, line: &str) -> String {
        let ended = self.kcl(folder, line);
        assert_eq!(ended.code, 0, "{line}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Runs a command that must fail; returns its message.
    fn fails(&self, folder: &str, line: &str) -> String {
        let ended = self.kcl(folder, line);
        assert_eq!(ended.code, 1, "{line}: {}{}", ended.stdout, ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended.stderr
    }

    /// Removes everything that was downloaded.
    fn forget_downloads(&self) {
        let _ = fs::remove_dir_all(self.path(".kcl"));
    }

    /// Returns the folders of downloaded packages.
    fn stored(&self) -> Vec<PathBuf> {
        entries(&self.path(".kcl/kpm/.store/packages"))
    }

    /// Checks that no download was left half done.
    fn assert_nothing_is_left(&self) {
        assert_eq!(entries(&self.path(".kcl/kpm/.store/tmp")), Vec::<PathBuf>::new());
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.sort();
    paths
}
