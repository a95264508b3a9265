//! Packages on a real OCI registry, which `.ci/registry` builds and starts. `KUSION_TEST_REGISTRY`
//! names its host and port.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use testkit::{Missing, Suite};

fn main() -> ExitCode {
    let registry = || {
        std::env::var("KUSION_TEST_REGISTRY")
            .map_err(|_| Missing::new("no registry: run .ci/registry, which needs Go"))
    };
    let mut suite = Suite::default();
    suite.add_with("a_package_goes_to_a_real_registry_and_back", registry(), |host| {
        there_and_back(&host);
    });
    suite.run()
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs `kcl`; returns whether it succeeded, and what it printed.
fn kcl(root: &Path, folder: &str, host: &str, line: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kcl"))
        .args(line.split_whitespace())
        .current_dir(root.join(folder))
        .env("HOME", root)
        .env("KPM_REG", host)
        .env_remove("KPM_REPO")
        .env_remove("KCL_PKG_PATH")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn there_and_back(host: &str) {
    let number = std::process::id();
    let folder = Folder(std::env::temp_dir().join(format!("kcl-registry-{number}")));
    let root = folder.0.as_path();
    let name = format!("lib{number}");
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let well = |folder: &str, line: &str| {
        let (is_done, text) = kcl(root, folder, host, line);
        assert!(is_done, "{line}: {text}");
        text
    };
    let publish = |version: &str, greeting: &str| {
        let text = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n");
        write("lib/kcl.mod", &text);
        write("lib/lib.k", &format!("greeting = \"{greeting}\"\n"));
        well("lib", &format!("mod push oci://{host}/kcl-lang/{name}"));
    };
    publish("0.1.0", "first");
    publish("0.2.0", "second");
    write("app/kcl.mod", "[package]\nname = \"app\"\n");
    write("app/main.k", &format!("import {name} as lib\n\na = lib.greeting\n"));
    // Without a version: the newest of the tags that the registry lists.
    assert!(well("app", &format!("mod add {name}")).contains(&format!("added {name} 0.2.0")));
    assert_eq!(well("app", "run -q"), "a: second\n");
    well("app", &format!("mod update {name}:0.1.0"));
    assert_eq!(well("app", "run --offline --locked"), "a: first\n");
    publish("0.1.0", "changed");
    fs::remove_dir_all(root.join(".kcl")).unwrap();
    let (is_done, text) = kcl(root, "app", host, "run");
    assert!(!is_done && text.contains("has changed since kcl.mod.lock was written"), "{text}");
    let (is_done, text) = kcl(root, "app", host, &format!("run oci://{host}/kcl-lang/{name}:9.0"));
    assert!(!is_done && text.contains("does not have it (404)"), "{text}");
}
