//! The built-in kinds, read from the table in `data/` on first use.

#[cfg(test)]
mod tests;
mod types;

use crate::model::{TypeId, TypeTable};
use crate::table::{FormatError, GroupRecord, Table, read_descriptions, read_table};
use std::io::Read as _;
use std::sync::LazyLock;

/// The table file: a line about itself, then the compressed parts.
const FILE: &[u8] = include_bytes!("../data/k8s-v1.36.bin.zst");

/// Returns the built-in API, read once.
pub fn builtin() -> &'static Builtin {
    static BUILTIN: LazyLock<Builtin> = LazyLock::new(|| Builtin::new(&committed_table()));
    &BUILTIN
}

/// Returns the version of Kubernetes that the table comes from (`v1.36.3`).
pub fn version() -> &'static str {
    parts().map_or("", |parts| parts.version)
}

/// Returns the records of the committed table, without descriptions.
///
/// # Panics
/// Never: the table is part of the program, and a test reads it.
pub fn committed_table() -> Table {
    parts()
        .and_then(|parts| read_table(&decompress(parts.types)?))
        .expect("the committed table is whole: a test reads it")
}

/// Returns the records of the committed table with descriptions.
///
/// # Panics
/// Never: the table is part of the program, and a test reads it.
pub fn described_table() -> Table {
    let mut table = committed_table();
    parts()
        .and_then(|parts| read_descriptions(&decompress(parts.descriptions)?, &mut table))
        .expect("the committed descriptions are whole: a test reads them");
    table
}

/// Writes a table file from its compressed parts.
pub fn table_file(version: &str, types: &[u8], descriptions: &[u8]) -> Vec<u8> {
    let head = format!(
        "Kubernetes {version} API, made by `cargo xtask k8s-schema`; {} {}\n",
        types.len(),
        descriptions.len()
    );
    [head.as_bytes(), types, descriptions].concat()
}

struct Parts {
    version: &'static str,
    types: &'static [u8],
    descriptions: &'static [u8],
}

fn parts() -> Result<Parts, FormatError> {
    let end = FILE.iter().position(|&byte| byte == b'\n').ok_or(FormatError)?;
    let (head, rest) = FILE.split_at(end);
    let head = std::str::from_utf8(head).map_err(|_| FormatError)?;
    let version = head.split(' ').nth(1).ok_or(FormatError)?;
    let mut lengths = head.rsplit(' ').map_while(|word| word.parse::<usize>().ok());
    let (Some(n_descriptions), Some(n_types)) = (lengths.next(), lengths.next()) else {
        return Err(FormatError);
    };
    let (types, rest) = rest[1..].split_at_checked(n_types).ok_or(FormatError)?;
    let descriptions = rest.get(..n_descriptions).ok_or(FormatError)?;
    Ok(Parts { version, types, descriptions })
}

/// Unpacks a part of a table.
pub(crate) fn decompress(mut bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
    let mut decoder =
        ruzstd::decoding::StreamingDecoder::new(&mut bytes).map_err(|_| FormatError)?;
    let mut out = Vec::new();
    decoder.read_to_end(&mut out).map_err(|_| FormatError)?;
    Ok(out)
}

/// The built-in API: what is served, and the types of all objects.
#[derive(Debug)]
pub struct Builtin {
    /// All types; structs have the names of their definitions.
    pub types: TypeTable,
    /// All resources, core group first, in the order of discovery.
    pub resources: Vec<ResourceInfo>,
    /// The groups and their versions in the order of discovery, the core group first.
    pub groups: Vec<GroupInfo>,
    /// Group, version, kind and type, sorted.
    kinds: Vec<KindEntry>,
    /// Definition names and types, sorted.
    names: Vec<(Box<str>, TypeId)>,
    /// Places in `resources`, sorted by plural name, group and version.
    by_plural: Vec<u32>,
}

/// Group, version, kind and type.
type KindEntry = (Box<str>, Box<str>, Box<str>, TypeId);

/// One API group with its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// Its name; empty for the core group.
    pub name: Box<str>,
    /// Its versions, the preferred one first.
    pub versions: Vec<Box<str>>,
}

/// One served resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Group; empty for the core group.
    pub group: Box<str>,
    /// Version.
    pub version: Box<str>,
    /// Kind of its objects.
    pub kind: Box<str>,
    /// Plural name (`deployments`).
    pub plural: Box<str>,
    /// Singular name.
    pub singular: Box<str>,
    /// Short names (`deploy`).
    pub short_names: Vec<Box<str>>,
    /// Categories (`all`).
    pub categories: Vec<Box<str>>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Verbs, sorted.
    pub verbs: Vec<Box<str>>,
    /// Group in which objects are stored (`""` for `events.k8s.io` events).
    pub storage_group: Box<str>,
    /// Version in which objects are stored.
    pub storage_version: Box<str>,
    /// The mark of the stored version that discovery shows; may be empty.
    pub storage_hash: Box<str>,
    /// Its subresources, sorted by name.
    pub subresources: Vec<SubresourceInfo>,
    /// Type of its objects.
    pub ty: TypeId,
}

impl ResourceInfo {
    /// Returns whether the resource has a verb.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| **own == *verb)
    }

    /// Returns a subresource by name.
    pub fn subresource(&self, name: &str) -> Option<&SubresourceInfo> {
        self.subresources.iter().find(|sub| *sub.name == *name)
    }
}

/// One subresource (`status`, `scale`, `log`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubresourceInfo {
    /// Its name without the resource; may hold a slash only for proxies.
    pub name: Box<str>,
    /// Group of its kind; not always that of the resource (`autoscaling` for `scale`).
    pub group: Box<str>,
    /// Version of its kind.
    pub version: Box<str>,
    /// Its kind.
    pub kind: Box<str>,
    /// Verbs, sorted.
    pub verbs: Vec<Box<str>>,
    /// Type of its body.
    pub ty: TypeId,
}

impl Builtin {
    /// Builds the lookups from records.
    pub fn new(table: &Table) -> Self {
        let types = types::build(&table.definitions);
        let mut kinds: Vec<_> = table
            .definitions
            .iter()
            .enumerate()
            .flat_map(|(at, definition)| {
                definition.kinds.iter().map(move |[group, version, kind]| {
                    let id = TypeId(at as u32);
                    (boxed(group), boxed(version), boxed(kind), id)
                })
            })
            .collect();
        kinds.sort();
        let mut names: Vec<_> = (0..)
            .zip(&table.definitions)
            .map(|(at, definition)| (boxed(&definition.name), TypeId(at)))
            .collect();
        names.sort();
        let mut this = Self {
            types,
            resources: Vec::new(),
            groups: Vec::new(),
            kinds,
            names,
            by_plural: Vec::new(),
        };
        for group in &table.groups {
            this.add_group(group);
        }
        this.by_plural = (0..this.resources.len() as u32).collect();
        let resources = &this.resources;
        this.by_plural.sort_by_key(|&at| resources[at as usize].key());
        this
    }

    fn add_group(&mut self, group: &GroupRecord) {
        let versions = group.versions.iter().map(|version| boxed(&version.name)).collect();
        self.groups.push(GroupInfo { name: boxed(&group.name), versions });
        for version in &group.versions {
            let first = self.resources.len();
            for record in &version.resources {
                let own_group = or(&record.kind_group, &group.name);
                let own_version = or(&record.kind_version, &version.name);
                let ty = self.type_of(own_group, own_version, &record.kind).unwrap_or_default();
                let verbs = record.verbs.iter().map(|verb| boxed(verb)).collect();
                if let Some((plural, name)) = record.name.split_once('/') {
                    let sub = SubresourceInfo {
                        name: boxed(name),
                        group: boxed(own_group),
                        version: boxed(own_version),
                        kind: boxed(&record.kind),
                        verbs,
                        ty,
                    };
                    let mut own = self.resources[first..].iter_mut();
                    if let Some(resource) = own.find(|resource| *resource.plural == *plural) {
                        resource.subresources.push(sub);
                    }
                    continue;
                }
                self.resources.push(ResourceInfo {
                    group: boxed(&group.name),
                    version: boxed(&version.name),
                    kind: boxed(&record.kind),
                    plural: boxed(&record.name),
                    singular: boxed(&record.singular),
                    short_names: record.short_names.iter().map(|name| boxed(name)).collect(),
                    categories: record.categories.iter().map(|name| boxed(name)).collect(),
                    namespaced: record.namespaced,
                    verbs,
                    storage_group: boxed(&record.storage_group),
                    storage_version: boxed(&record.storage_version),
                    storage_hash: boxed(&record.storage_hash),
                    subresources: Vec::new(),
                    ty,
                });
            }
        }
    }

    /// Returns a resource by group, version and plural name.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&ResourceInfo> {
        let at = self
            .by_plural
            .binary_search_by(|&at| {
                self.resources[at as usize].key().cmp(&(plural, group, version))
            })
            .ok()?;
        self.resources.get(self.by_plural[at] as usize)
    }

    /// Returns the resource that serves a kind.
    pub fn resource_of_kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Option<&ResourceInfo> {
        self.resources.iter().find(|resource| {
            *resource.kind == *kind && *resource.group == *group && *resource.version == *version
        })
    }

    /// Returns the type of a kind.
    pub fn type_of(&self, group: &str, version: &str, kind: &str) -> Option<TypeId> {
        let wanted = (group, version, kind);
        let at =
            self.kinds.binary_search_by(|(g, v, k, _)| (&**g, &**v, &**k).cmp(&wanted)).ok()?;
        self.kinds.get(at).map(|entry| entry.3)
    }

    /// Returns the type of a definition (`io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`).
    pub fn type_named(&self, name: &str) -> Option<TypeId> {
        let at = self.names.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        self.names.get(at).map(|entry| entry.1)
    }

    /// Returns the type of object metadata.
    pub fn object_meta(&self) -> TypeId {
        self.type_named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").unwrap_or_default()
    }
}

impl ResourceInfo {
    fn key(&self) -> (&str, &str, &str) {
        (&self.plural, &self.group, &self.version)
    }
}

fn boxed(text: &str) -> Box<str> {
    text.into()
}

fn or<'a>(text: &'a str, fallback: &'a str) -> &'a str {
    if text.is_empty() { fallback } else { text }
}
