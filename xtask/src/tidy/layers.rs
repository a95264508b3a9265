//! Which crate may use which.

use super::manifest::Manifest;
use super::{Finding, Report};

/// The layers, lowest first. A crate may use its own row and those before it.
const LAYERS: &[&[&str]] = &[
    &["base-text", "base-diag", "base-system", "base-cache", "base-plugin", "base-trust"],
    &[
        "kcl-value",
        "kcl-syntax",
        "kcl-names",
        "kusion-cells",
        "kusion-cty",
        "kusion-model",
        "kusion-k8s-schema",
    ],
    &["kcl-data", "kcl-fmt", "kusion-k8s-merge"],
    &["kcl-hir"],
    &["kcl-types"],
    // Above the checker: all that it needs of the library is in kcl-names.
    &["kcl-std"],
    &["kcl-eval", "kcl-lint", "kcl-query"],
    &["kcl-pkg", "kcl-edit", "kcl-ide"],
    &["kcl-driver", "kcl-fetch"],
    &["kcl-doc", "kcl-import", "kcl-test", "kcl-vet"],
    &["kcl-lsp", "kcl-service", "kcl-ffi"],
    &["kusion-store", "kusion-secret", "kusion-module"],
    &["kusion-generate", "kusion-plan", "kusion-policy", "kusion-runtime", "kusion-sandbox"],
    &[
        "kusion-runtime-k8s",
        "kusion-runtime-terraform",
        "kusion-runtime-host",
        "kusion-runtime-program",
        "kusion-runtime-fake",
    ],
    &["kusion-engine"],
    &["kusion-app"],
    &["kusion-server", "kusion-cli", "kcl-cli"],
    // Never shipped: helpers of tests, checks and measurements.
    &[
        "testkit",
        "store-servers",
        "terraform-suite",
        "host-suite",
        "conformance",
        "k8s-suite",
        "k8s-replay",
        "language",
        "properties",
        "kcl-fuzz",
        "hostile",
        "kusion-crash",
        "kcl-bench",
        "xtask",
    ],
];

/// The only crate through which the engine may use the language.
const LANGUAGE_DOOR: (&str, &str) = ("kusion-generate", "kcl-driver");

/// Checks that every crate has a layer and no dependency points upwards.
pub(super) fn check(manifests: &[Manifest], report: &mut Report) {
    for manifest in manifests {
        if !manifest.inherits_lints {
            let message = "add `[lints] workspace = true`, so that the house lints hold here too";
            report.findings.push(Finding::new(&manifest.path, 1, message));
        }
        let Some(own) = layer_of(&manifest.name) else {
            let message = format!(
                "crate `{}` has no layer: add it to a row of LAYERS in xtask/src/tidy/layers.rs",
                manifest.name
            );
            report.findings.push(Finding::new(&manifest.path, 1, message));
            continue;
        };
        for used in &manifest.dependencies {
            let Some(layer) = layer_of(&used.name) else { continue };
            // Tests may lean on the test helpers, wherever these stand.
            if used.dev && used.name == "testkit" {
                continue;
            }
            if let Some(reason) = forbidden(&manifest.name, own, &used.name, layer) {
                let message = format!("`{}` must not use `{}`: {reason}", manifest.name, used.name);
                report.findings.push(Finding::new(&manifest.path, used.line, message));
            }
        }
    }
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&name))
}

fn forbidden(user: &str, own: usize, used: &str, layer: usize) -> Option<String> {
    if own < layer {
        return Some(format!(
            "it lies {} layer(s) higher; move the shared part down or turn the edge round",
            layer - own
        ));
    }
    if user.starts_with("kusion-") && used.starts_with("kcl-") && (user, used) != LANGUAGE_DOOR {
        return Some("the engine meets the language only in kusion-generate, by kcl-driver".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::manifest::Dependency;

    fn findings(user: &str, used: &str, dev: bool) -> Vec<Finding> {
        let manifest = Manifest {
            path: "Cargo.toml".into(),
            name: user.into(),
            inherits_lints: true,
            dependencies: vec![Dependency { name: used.into(), dev, line: 7 }],
        };
        let mut report = Report::default();
        check(&[manifest], &mut report);
        report.findings
    }

    #[test]
    fn downward_edges_pass() {
        assert_eq!(findings("kcl-eval", "kcl-value", false), []);
        assert_eq!(findings("kcl-eval", "indexmap", false), []);
        assert_eq!(findings("kcl-value", "testkit", true), []);
    }

    #[test]
    fn upward_edges_fail() {
        let found = findings("kcl-syntax", "kcl-types", false);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 7);
        assert!(found[0].message.contains("3 layer(s) higher"), "{}", found[0]);
        assert_eq!(findings("kcl-value", "testkit", false).len(), 1);
    }

    #[test]
    fn a_crate_without_a_layer_fails() {
        assert!(findings("utils", "kcl-value", false)[0].message.contains("no layer"));
    }

    #[test]
    fn the_engine_knows_the_language_by_one_door() {
        assert_eq!(findings("kusion-generate", "kcl-driver", false), []);
        assert_eq!(findings("kusion-engine", "kcl-driver", false).len(), 1);
    }
}
