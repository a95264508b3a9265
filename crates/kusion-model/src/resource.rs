//! Resources and Specs: the desired state of a stack.

use crate::{Attributes, FieldPath, ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The type of a resource, which selects its runtime: `Kubernetes`, `Terraform`, or another
/// registered one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceType(Arc<str>);

impl ResourceType {
    /// Creates a type from its name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The extension with the id of an existing object, which is adopted if nothing is recorded.
pub const IMPORT_ID: &str = "importId";

/// A desired resource of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its id in the Spec.
    pub id: ResourceId,
    /// Its type, which selects the runtime.
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    /// The desired attributes: a manifest, or the arguments of a provider.
    pub attributes: Attributes,
    /// Ids of its dependencies, sorted, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ResourceId>,
    /// Additional data for runtimes and guards.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// The desired state of a stack: its resources, in the order of the program's output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The resources; ids are unique.
    pub resources: Vec<Resource>,
    /// The secret store of the newest form, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_store: Option<Value>,
    /// The context of the newest form, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
}

/// The source location of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// The file, as messages show it.
    pub file: Arc<str>,
    /// The line, from 1; 0 for values that do not come from a file, such as overrides.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The selector of the layer that sets the value, `zone=gz00a`; empty for a layer for all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Arc<str>>,
    /// What the value was computed from, if it was: the configuration of the user first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Origin>,
}

/// The largest number of inputs that are shown.
const SHOWN_INPUTS: usize = 3;

impl Origin {
    /// Creates the location of a value that was written in a file.
    pub fn new(file: impl Into<Arc<str>>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line, column, ..Self::default() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file)?,
            line => write!(f, "{}:{line}", self.file)?,
        }
        match self.layer.as_deref() {
            None => {}
            Some("") => f.write_str(" (layer for all cells)")?,
            Some(layer) => write!(f, " (layer {layer})")?,
        }
        for (at, input) in self.inputs.iter().take(SHOWN_INPUTS).enumerate() {
            write!(f, "{} {input}", if at == 0 { " from" } else { "," })?;
        }
        match self.inputs.len().saturating_sub(SHOWN_INPUTS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Looks up the source locations of values of resources.
pub trait OriginTable: Send + Sync {
    /// Returns what set the value at a path of a resource's attributes. Of a map or list, that is
    /// what set the first value inside it, by the order of paths.
    fn find(&self, id: &ResourceId, path: &FieldPath) -> Option<Origin>;
}

/// The places that set values of resources. A side table, made by the evaluation that made the
/// Spec: it neither reads files nor compiles anything.
#[derive(Clone, Default)]
pub struct Origins(Option<Arc<dyn OriginTable>>);

impl Origins {
    /// Creates origins from a table.
    pub fn new(table: impl OriginTable + 'static) -> Self {
        Self(Some(Arc::new(table)))
    }

    /// Returns what set the value at a path, or the first value inside it.
    pub fn find(&self, id: &ResourceId, path: &FieldPath) -> Option<Origin> {
        self.0.as_ref()?.find(id, path)
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_known = self.0.is_some();
        f.debug_struct("Origins").field("is_known", &is_known).finish()
    }
}

/// The leaves of resources, by path.
impl OriginTable for BTreeMap<ResourceId, BTreeMap<FieldPath, Origin>> {
    fn find(&self, id: &ResourceId, path: &FieldPath) -> Option<Origin> {
        let (found, origin) = self.get(id)?.range(path.clone()..).next()?;
        path.is_prefix_of(found).then(|| origin.clone())
    }
}
