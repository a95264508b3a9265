//! `project.yaml` and `stack.yaml`, in the forms of 2022–23 and in the current one.

use crate::cells::CellSetting;
use crate::rules::{ClusterPin, Timeouts};
use kusion_model::{AdoptRule, IgnoreRule, MoveRule};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Contents of `project.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(expecting = "a map with the key `name`")]
pub struct ProjectFile {
    /// The name of the project.
    pub name: String,
    /// Identifies the project in all clones of its repository.
    #[serde(default)]
    pub id: Option<String>,
    /// The tenant that it belongs to.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// Labels, for users and selectors.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
    /// Its state store.
    #[serde(default)]
    pub backend: Option<BackendSetting>,
    /// Names of arguments and environment variables whose values are secret.
    #[serde(default, rename = "secretInputs")]
    pub secret_inputs: Vec<String>,
    /// Its generator.
    #[serde(default)]
    pub generator: Option<GeneratorSetting>,
    /// Secret stores of the form of 2022–23, as written.
    #[serde(default)]
    pub secret_stores: Option<Map<String, Value>>,
    /// Additions to all of its resources.
    #[serde(default)]
    pub extensions: Option<Vec<Extension>>,
    /// Shared folders, relative to that of the project, whose layers apply to its stacks.
    #[serde(default)]
    pub layers: Vec<String>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Contents of `stack.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a map with the key `name`")]
pub struct StackFile {
    /// The name of the stack.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// Labels, for users and selectors.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
    /// The kubeconfig of its cluster, relative to its folder.
    #[serde(default)]
    pub kube_config: Option<String>,
    /// The context of its cluster in the kubeconfig.
    #[serde(default)]
    pub context: Option<String>,
    /// The machines of its resources of type `Host`, as written; null if there are none.
    #[serde(default)]
    pub hosts: Value,
    /// Its state store; by default that of the project.
    #[serde(default)]
    pub backend: Option<BackendSetting>,
    /// Names of arguments and environment variables whose values are secret.
    #[serde(default)]
    pub secret_inputs: Vec<String>,
    /// Its workspace.
    #[serde(default)]
    pub workspace: Option<String>,
    /// How changes of it are confirmed; by default with yes or no.
    #[serde(default)]
    pub confirm: Option<ConfirmSetting>,
    /// Fields that keep their live values, in addition to those of the command line.
    #[serde(default)]
    pub ignore_fields: Vec<IgnoreRule>,
    /// Protected kinds, and patterns of ids, that may be deleted, in addition to those of the
    /// command line.
    #[serde(default)]
    pub allow_delete: Vec<String>,
    /// The only cluster that it is deployed to, besides sandboxes.
    #[serde(default)]
    pub cluster: ClusterPin,
    /// Recorded resources that have another id.
    #[serde(default)]
    pub moved: Vec<MoveRule>,
    /// Objects to take over from other owners.
    #[serde(default)]
    pub adopt: Vec<AdoptRule>,
    /// The cells that it covers: values of each axis. Without it, the stack has no cells.
    #[serde(default)]
    pub cells: Option<BTreeMap<String, CellSetting>>,
    /// The cluster of cells: a selector, and the context or sandbox (`sandbox/NAME`).
    #[serde(default)]
    pub clusters: BTreeMap<String, String>,
    /// How long its operations wait.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Maximum number of attempts of a call that fails with a transient error.
    #[serde(default)]
    pub attempts: Option<u32>,
    /// Additions to all of its resources; takes precedence over the project.
    #[serde(default)]
    pub extensions: Option<Vec<Extension>>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How changes of a stack are confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfirmSetting {
    /// The user types the name of the stack.
    Name,
}

/// A state store.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a URL, or a map with `storageType` and `config`")]
pub enum BackendSetting {
    /// By URL: `sqlite:state.db`, `postgres://…`, `s3://bucket/prefix`.
    Url(String),
    /// By storage type and settings.
    Storage {
        /// The kind: `local`, `db`, `oss`, `s3`, `http`.
        #[serde(rename = "storageType", alias = "type")]
        storage_type: String,
        /// Its settings, as written.
        #[serde(default, alias = "configs")]
        config: Map<String, Value>,
        /// Unused fields, as written.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
}

/// A generator of Specs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct GeneratorSetting {
    /// The generator, `KCL`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its settings, as written.
    #[serde(default, alias = "config")]
    pub configs: Option<Map<String, Value>>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Additions to all resources of a project or stack.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extension {
    /// Which of the fields counts.
    pub kind: String,
    /// The default namespace of objects.
    #[serde(default)]
    pub kubernetes_namespace: Option<NamespaceExtension>,
    /// Labels and annotations of all objects.
    #[serde(default)]
    pub kubernetes_metadata: Option<MetadataExtension>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The default namespace of objects.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NamespaceExtension {
    /// Its name.
    pub namespace: String,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Labels and annotations of all objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct MetadataExtension {
    /// The labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The most bytes of a `project.yaml` or `stack.yaml`.
const MAX_BYTES: usize = 1 << 20;

/// The error of an invalid `project.yaml` or `stack.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The line, from 1, where it is known.
    pub line: Option<u32>,
    /// The problem.
    pub message: String,
}

impl ProjectFile {
    /// Parses the text of a `project.yaml`.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let file: Self = parse(text)?;
        named(&file.name)?;
        if let Some(id) = &file.id
            && (id.is_empty() || id.chars().any(|it| it.is_control() || is_direction(it)))
        {
            let message = "`id` is empty or has a control character".to_owned();
            return Err(FileError { line: None, message });
        }
        Ok(file)
    }
}

impl StackFile {
    /// Parses the text of a `stack.yaml`.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let file: Self = parse(text)?;
        named(&file.name)?;
        Ok(file)
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, at most {MAX_BYTES} are read", text.len());
        return Err(FileError { line: None, message });
    }
    yaml_serde::from_str(text).map_err(|error| {
        let line = error.location().and_then(|at| u32::try_from(at.line()).ok());
        let message = error.to_string();
        // The place is shown with the file.
        let message = match message.rsplit_once(" at line ") {
            Some((message, _)) => message.to_owned(),
            None => message,
        };
        FileError { line, message }
    })
}

fn named(name: &str) -> Result<(), FileError> {
    if name.trim().is_empty() {
        return Err(FileError { line: None, message: "`name` is empty".to_owned() });
    }
    if name.chars().any(|it| it.is_control() || is_direction(it)) {
        let message = "`name` has a control character".to_owned();
        return Err(FileError { line: None, message });
    }
    // Stacks are shown and selected as `project/stack`.
    if matches!(name, "." | "..") || name.contains(['/', '\\']) {
        let message = format!("`name` is `{name}`; it must not be a path");
        return Err(FileError { line: None, message });
    }
    Ok(())
}

/// Whether a character changes the direction of the text after it.
fn is_direction(it: char) -> bool {
    matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_must_be_printable_and_files_small() {
        for name in ["\\e[31mred", "a\\nb", "a\\0b", "a\\u202eb"] {
            let error = StackFile::parse(&format!("name: \"{name}\"\n")).expect_err(name);
            assert_eq!(error.message, "`name` has a control character");
        }
        for name in [".", "..", "a/b", "../x", "a\\b"] {
            let error = StackFile::parse(&format!("name: '{name}'\n")).expect_err(name);
            assert_eq!(error.message, format!("`name` is `{name}`; it must not be a path"));
        }
        let error = ProjectFile::parse("[1]").expect_err("a list");
        assert_eq!(error.message, "invalid type: sequence, expected a map with the key `name`");
        let large = format!("name: dev\n# {}\n", "x".repeat(MAX_BYTES));
        let error = StackFile::parse(&large).expect_err("too large");
        assert!(error.message.contains("at most 1048576"), "{error}");
    }

    #[test]
    fn rules_of_a_stack() {
        let file = StackFile::parse(
            "name: prod\nignoreFields: ['Deployment:spec.replicas']\nallowDelete: [Job]\n\
             cluster: {context: prod, id: a-b}\ntimeouts: {step: 90, ready: 10m}\n",
        )
        .expect("the file is good");
        assert_eq!(file.ignore_fields[0].to_string(), "Deployment:spec.replicas");
        assert_eq!(file.allow_delete, ["Job"]);
        assert_eq!(file.cluster.context.as_deref(), Some("prod"));
        assert_eq!(file.cluster.id.as_deref(), Some("a-b"));
        let timeouts = &file.timeouts;
        assert_eq!(timeouts.step, Some(std::time::Duration::from_secs(90)));
        assert_eq!(timeouts.ready, Some(std::time::Duration::from_mins(10)));
        assert_eq!(timeouts.lock, None);
        let error = |text: &str| {
            let error = StackFile::parse(&format!("name: a\n{text}\n")).expect_err(text);
            (error.line, error.message)
        };
        let (line, message) = error("timeouts: {step: 5x}");
        assert!(message.contains("invalid duration `5x`"), "{message}");
        assert_eq!(line, Some(2));
        let (line, message) = error("ignoreFields: ['a..b']");
        assert!(message.contains("invalid rule for ignored fields `a..b`"), "{message}");
        assert_eq!(line, Some(2));
        assert!(error("cluster: prod").1.contains("a map with the keys `context` and `id`"));
    }

    #[test]
    fn a_project_of_2022() {
        let file = ProjectFile::parse(
            "name: wordpress\ntenant: t1\nbackend:\n  storageType: s3\n  config: {bucket: b}\n\
             generator: {type: KCL, configs: {}}\nsecret_stores:\n  vault: {address: x}\nowner: me\n",
        )
        .expect("the file is good");
        assert_eq!((file.name.as_str(), file.tenant.as_deref()), ("wordpress", Some("t1")));
        let Some(BackendSetting::Storage { storage_type, config, .. }) = file.backend else {
            panic!("no backend")
        };
        assert_eq!((storage_type.as_str(), &config["bucket"]), ("s3", &json!("b")));
        assert_eq!(file.rest.get("owner"), Some(&json!("me")));
    }

    #[test]
    fn a_project_of_now() {
        let file = ProjectFile::parse(
            "name: shop\ndescription: sells\nlabels: {team: a}\nbackend: s3://b/p\nextensions:\n\
             - kind: kubernetesNamespace\n  kubernetesNamespace: {namespace: shop}\n\
             - kind: kubernetesMetadata\n  kubernetesMetadata: {labels: {a: b}}\n",
        )
        .expect("the file is good");
        let extensions = file.extensions.expect("there are extensions");
        let namespace = extensions[0].kubernetes_namespace.as_ref().expect("the first");
        assert_eq!(namespace.namespace, "shop");
        let metadata = extensions[1].kubernetes_metadata.as_ref().expect("the second");
        assert_eq!(metadata.labels["a"], "b");
        assert_eq!(file.backend, Some(BackendSetting::Url("s3://b/p".into())));
    }

    #[test]
    fn stacks() {
        let file = StackFile::parse("name: dev\nkubeConfig: ../kc\nlabels: {a: b}\nx: [1]\n")
            .expect("the file is good");
        assert_eq!((file.name.as_str(), file.kube_config.as_deref()), ("dev", Some("../kc")));
        let file = StackFile::parse("name: dev\nworkspace: prod\nbackend: s3://b\n")
            .expect("the file is good");
        assert_eq!(file.workspace.as_deref(), Some("prod"));
        let file = StackFile::parse("name: dev\nconfirm: name\n").expect("the file is good");
        assert_eq!(file.confirm, Some(ConfirmSetting::Name));
        let error = StackFile::parse("name: dev\nconfirm: yes\n").expect_err("no such setting");
        assert!(error.message.contains("unknown variant"), "{error}");
    }

    #[test]
    fn errors_know_their_line() {
        let error = |text: &str| StackFile::parse(text).expect_err("the file is bad");
        let found = error("name: dev\nlabels:\n  a: b\n  c: [1]\n");
        assert_eq!(found.line, Some(4), "{found}");
        assert!(found.message.contains("expected a string"), "{found}");
        let found = error("description: x\n");
        assert!(found.message.contains("missing field `name`"), "{found}");
        assert_eq!(error("name: ' '\n").message, "`name` is empty");
        assert_eq!(error("name: a\nlabels: {\n").line, Some(3));
        assert!(error("- name\n").line.is_some());
    }
}
