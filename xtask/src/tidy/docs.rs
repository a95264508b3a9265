//! The documents must keep up with the code.

use super::manifest::Manifest;
use super::{Finding, Report};
use crate::tree::Tree;

const MAP: &str = "docs/architecture.md";

/// Checks that the code map names every crate.
pub(super) fn check(tree: &Tree, manifests: &[Manifest], report: &mut Report) {
    let text = tree.file(MAP).map_or("", |file| file.text.as_str());
    for manifest in manifests {
        if !text.contains(&format!("`{}`", manifest.name)) {
            let message = format!("say in the code map what crate `{}` is for", manifest.name);
            report.findings.push(Finding::new(MAP, 1, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    #[test]
    fn a_crate_that_the_map_leaves_out_is_found() {
        let map = File { path: MAP.into(), text: "- `kcl-value`: values".into() };
        let manifest = |name: &str| Manifest {
            path: String::new(),
            name: name.into(),
            inherits_lints: true,
            dependencies: Vec::new(),
        };
        let mut report = Report::default();
        let manifests = [manifest("kcl-value"), manifest("kcl-std")];
        check(&Tree { files: vec![map] }, &manifests, &mut report);
        assert_eq!(report.findings.len(), 1);
        assert!(report.findings[0].message.contains("`kcl-std`"));
    }
}
