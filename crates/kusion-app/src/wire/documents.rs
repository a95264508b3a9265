//! Documents: what commands print that only list something.

use kusion_engine::EVENT_VERSION;
use kusion_model::{ResourceId, ResourceType};
use serde::Serialize;
use std::collections::BTreeMap;

/// Writes a document for programs, indented, with a line break at the end.
pub(super) fn indented(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// The projects and stacks of a folder: `kusion ls`.
#[derive(Debug, Serialize)]
pub struct ProjectsDocument {
    version: u32,
    projects: Vec<ListedProject>,
}

/// A project.
#[derive(Debug, Serialize)]
pub struct ListedProject {
    /// Its name.
    pub name: String,
    /// To whom it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Its folder.
    pub folder: String,
    /// Its stacks.
    pub stacks: Vec<ListedStack>,
}

/// A stack of a project.
#[derive(Debug, Serialize)]
pub struct ListedStack {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: String,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

impl ProjectsDocument {
    /// Creates the document.
    pub fn new(projects: Vec<ListedProject>) -> Self {
        Self { version: EVENT_VERSION, projects }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// The dependency graphs of stacks: `kusion graph`.
#[derive(Debug, Serialize)]
pub struct GraphDocument {
    version: u32,
    stacks: Vec<GraphStack>,
}

/// The graph of a stack, without edges that follow from others.
#[derive(Debug, Serialize)]
pub struct GraphStack {
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
    /// The resources, in order of creation.
    pub resources: Vec<Dependencies>,
}

/// The dependencies of a resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependencies {
    /// The resource.
    pub id: ResourceId,
    /// Its type.
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    /// The resources that it depends on.
    pub depends_on: Vec<ResourceId>,
}

impl GraphDocument {
    /// Creates the document.
    pub fn new(stacks: Vec<GraphStack>) -> Self {
        Self { version: EVENT_VERSION, stacks }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// An embedded cluster: `kusion sandbox up` and `status`.
#[derive(Debug, Serialize)]
pub struct SandboxDocument {
    /// Its name.
    pub name: String,
    /// `running` or `stopped`.
    pub state: &'static str,
    /// Its address.
    pub url: String,
    /// Its process, if it runs.
    pub pid: Option<u32>,
    /// Its kubeconfig.
    pub kubeconfig: String,
}

/// Result of stopping a sandbox: `kusion sandbox down`.
#[derive(Debug, Serialize)]
pub struct SandboxEnd {
    /// Its name.
    pub name: String,
    /// Whether it ran before.
    pub stopped: bool,
    /// Whether it had to be killed.
    pub killed: bool,
}

/// The version of the program: `kusion version`.
#[derive(Debug, Serialize)]
pub struct VersionDocument {
    /// The version.
    pub version: &'static str,
    /// The operating system.
    pub os: &'static str,
    /// The processor.
    pub arch: &'static str,
}

impl VersionDocument {
    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}
