//! Keys of `project.yaml` and `stack.yaml` that have no effect.

use crate::files::{BackendSetting, Extension, ProjectFile, StackFile};
use base_text::nearest;
use serde_json::{Map, Value};

const PROJECT: &[&str] = &[
    "name",
    "id",
    "tenant",
    "description",
    "labels",
    "backend",
    "secretInputs",
    "generator",
    "secret_stores",
    "extensions",
    "layers",
];
/// Keys of the forms of 2022–23 that have no effect here.
const OLD_PROJECT: &[&str] = &["path", "prometheus", "stacks"];

const STACK: &[&str] = &[
    "name",
    "description",
    "labels",
    "kubeConfig",
    "context",
    "hosts",
    "backend",
    "secretInputs",
    "workspace",
    "confirm",
    "ignoreFields",
    "allowDelete",
    "cluster",
    "timeouts",
    "attempts",
    "moved",
    "adopt",
    "cells",
    "clusters",
    "extensions",
];
/// Keys of the forms of 2022–23 that have no effect here.
const OLD_STACK: &[&str] = &["path"];

const BACKEND: &[&str] = &["storageType", "config"];
const GENERATOR: &[&str] = &["type", "configs"];
const EXTENSION: &[&str] = &["kind", "kubernetesNamespace", "kubernetesMetadata"];
const NAMESPACE: &[&str] = &["namespace"];
const METADATA: &[&str] = &["labels", "annotations"];
const CLUSTER: &[&str] = &["context", "id"];
const TIMEOUTS: &[&str] = &["step", "ready", "lock"];

impl ProjectFile {
    /// Returns what has no effect: unknown keys, each with the known key that it is similar to.
    pub fn warnings(&self) -> Vec<String> {
        let mut found = Unknown::default();
        found.check("", &self.rest, PROJECT, OLD_PROJECT);
        found.backend(self.backend.as_ref());
        if let Some(generator) = &self.generator {
            found.check("generator.", &generator.rest, GENERATOR, &[]);
        }
        found.extensions(self.extensions.as_deref().unwrap_or_default());
        found.warnings
    }
}

impl StackFile {
    /// Returns what has no effect: unknown keys, each with the known key that it is similar to.
    pub fn warnings(&self) -> Vec<String> {
        let mut found = Unknown::default();
        found.check("", &self.rest, STACK, OLD_STACK);
        found.check("cluster.", &self.cluster.rest, CLUSTER, &[]);
        found.check("timeouts.", &self.timeouts.rest, TIMEOUTS, &[]);
        found.backend(self.backend.as_ref());
        found.extensions(self.extensions.as_deref().unwrap_or_default());
        found.warnings
    }
}

#[derive(Default)]
struct Unknown {
    warnings: Vec<String>,
}

impl Unknown {
    /// Adds the unknown keys of a map. `path` is the path to the map, with a dot at the end.
    fn check(&mut self, path: &str, rest: &Map<String, Value>, known: &[&str], old: &[&str]) {
        for key in rest.keys().filter(|key| !old.contains(&key.as_str())) {
            let hint = nearest(key, known.iter().copied());
            let hint = hint.map_or_else(String::new, |it| format!("; did you mean `{path}{it}`?"));
            self.warnings.push(format!("unknown key `{path}{key}`{hint}"));
        }
    }

    fn backend(&mut self, backend: Option<&BackendSetting>) {
        if let Some(BackendSetting::Storage { rest, .. }) = backend {
            self.check("backend.", rest, BACKEND, &[]);
        }
    }

    fn extensions(&mut self, extensions: &[Extension]) {
        for (at, extension) in extensions.iter().enumerate() {
            let path = format!("extensions[{at}].");
            self.check(&path, &extension.rest, EXTENSION, &[]);
            if !EXTENSION[1..].contains(&extension.kind.as_str()) {
                let hint = nearest(&extension.kind, EXTENSION[1..].iter().copied());
                let hint = hint.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                let kind = &extension.kind;
                self.warnings.push(format!("unknown extension `{kind}` in `{path}kind`{hint}"));
            }
            if let Some(namespace) = &extension.kubernetes_namespace {
                self.check(&format!("{path}kubernetesNamespace."), &namespace.rest, NAMESPACE, &[]);
            }
            if let Some(metadata) = &extension.kubernetes_metadata {
                self.check(&format!("{path}kubernetesMetadata."), &metadata.rest, METADATA, &[]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_named_with_similar_ones() {
        let text = "name: a\nlables: {a: b}\nowner: me\nprometheus: {}\nbackend: {storageType: \
                    local, confg: {}}\ngenerator: {type: KCL, x: 1}\nextensions:\n- kind: \
                    kubernetesMetadata\n  kubernetesMetadata: {label: {a: b}}\n- kind: \
                    kubernetesNamespaces\n  kubernetesNamespace: {namespace: a}\n";
        let file = ProjectFile::parse(text).expect("the file is good");
        assert_eq!(
            file.warnings(),
            [
                "unknown key `lables`; did you mean `labels`?",
                "unknown key `owner`",
                "unknown key `backend.confg`; did you mean `backend.config`?",
                "unknown key `generator.x`",
                "unknown key `extensions[0].kubernetesMetadata.label`; did you mean \
                 `extensions[0].kubernetesMetadata.labels`?",
                "unknown extension `kubernetesNamespaces` in `extensions[1].kind`; did you mean \
                 `kubernetesNamespace`?",
            ]
        );
        let file = StackFile::parse("name: a\nkubeconfig: x\npath: y\n").expect("good");
        assert_eq!(file.warnings(), ["unknown key `kubeconfig`; did you mean `kubeConfig`?"]);
    }
}
