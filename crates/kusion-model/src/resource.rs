//! What a stack compiles to.

use crate::{Attributes, FieldPath, ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Which runtime answers for a resource: `Kubernetes`, `Terraform`, or another registered one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceType(Arc<str>);

impl ResourceType {
    /// Makes a type of its name.
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

/// One thing that a stack wants to exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its name in the Spec.
    pub id: ResourceId,
    /// The runtime that answers for it.
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    /// What it is to look like: a manifest, or the arguments of a provider.
    pub attributes: Attributes,
    /// The resources that must be there before it, sorted, without repetition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ResourceId>,
    /// What runtimes and guards want to know beside the attributes.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// What a stack compiles to: the resources, in the order of the program's output.
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

/// The place in a source file that set a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// The file, as messages show it.
    pub file: Arc<str>,
    /// The line, from 1; 0 for what is no place in a file, such as an override.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// Where the leaves of the attributes of resources come from. A side table: the Spec itself does
/// not change with it.
#[derive(Clone, Default)]
pub struct Origins {
    table: OnceLock<Table>,
    /// Makes the table when somebody asks for the first time.
    later: Option<Arc<dyn Fn() -> Origins + Send + Sync>>,
}

type Table = BTreeMap<ResourceId, BTreeMap<FieldPath, Origin>>;

impl Origins {
    /// Makes a table that is found out when somebody asks for the first time.
    pub fn later(make: impl Fn() -> Origins + Send + Sync + 'static) -> Self {
        Self { table: OnceLock::new(), later: Some(Arc::new(make)) }
    }

    /// Notes what set a leaf.
    pub fn insert(&mut self, id: ResourceId, path: FieldPath, origin: Origin) {
        let mut table = self.table.take().unwrap_or_default();
        table.entry(id).or_default().insert(path, origin);
        self.table = table.into();
    }

    /// Returns what set the value at a path, or the first leaf below it.
    pub fn find(&self, id: &ResourceId, path: &FieldPath) -> Option<&Origin> {
        let leaves = self.table().get(id)?;
        let (found, origin) = leaves.range(path.clone()..).next()?;
        path.is_prefix_of(found).then_some(origin)
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| {
            let made = self.later.as_ref().map(|make| make()).unwrap_or_default();
            made.table.into_inner().unwrap_or_default()
        })
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Origins").field(self.table()).finish()
    }
}
