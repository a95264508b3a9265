//! Which crates may talk to the operating system.
//!
//! The `clippy.toml` of the root bans files, environment and clocks. A folder with a `clippy.toml`
//! of its own is exempt: clippy takes the nearest file only.

use super::{Finding, Report};
use crate::tree::Tree;

/// The folders that are exempt: shells, crates whose task is the outside world, and what is never
/// shipped.
const EXEMPT: &[&str] = &[
    "bench",
    "crates/base-plugin",
    "crates/kcl-cli",
    "crates/kcl-fetch",
    "crates/kusion-cli",
    "crates/kusion-runtime-fake",
    "crates/kusion-runtime-host",
    "crates/kusion-runtime-k8s",
    "crates/kusion-runtime-program",
    "crates/kusion-runtime-terraform",
    "crates/kusion-sandbox",
    "crates/kusion-store",
    "crates/testkit",
    "fuzz",
    "tests",
    "xtask",
];

const ROOT: &str = "clippy.toml";

/// Where the bans begin in the file of the root.
const BANS: &str = "\n# Core crates ";

/// Checks that only these folders are exempt, and that nothing but the bans differs there.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let root = tree.file(ROOT).map_or("", |file| file.text.as_str());
    let Some((common, _)) = root.split_once(BANS) else {
        let message = "the bans of files, environment and clocks are missing: put them back";
        report.findings.push(Finding::new(ROOT, 1, message));
        return;
    };
    for file in &tree.files {
        let Some(folder) = file.path.strip_suffix("/clippy.toml") else { continue };
        if !EXEMPT.contains(&folder) {
            let message = "only folders in EXEMPT of xtask/src/tidy/lints.rs are exempt from the \
                           bans of the root's clippy.toml: delete this file";
            report.findings.push(Finding::new(&file.path, 1, message));
        } else if file.text != common {
            let message = "must be the clippy.toml of the root without the bans";
            report.findings.push(Finding::new(&file.path, 1, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let mut report = Report::default();
        check(&Tree { files: files.iter().map(file).collect() }, &mut report);
        report.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_some_folders_are_exempt() {
        let root = ("clippy.toml", "a = 1\n\n# Core crates use this.\nbans = []\n");
        assert_eq!(findings(&[root, ("crates/testkit/clippy.toml", "a = 1\n")]), [""; 0]);
        let other = findings(&[root, ("crates/testkit/clippy.toml", "a = 2\n")]);
        assert!(other[0].contains("must be the clippy.toml of the root"), "{other:?}");
        let core = findings(&[root, ("crates/kcl-eval/clippy.toml", "a = 1\n")]);
        assert!(core[0].contains("delete this file"), "{core:?}");
        assert_eq!(findings(&[("clippy.toml", "a = 1\n")]).len(), 1);
    }
}
