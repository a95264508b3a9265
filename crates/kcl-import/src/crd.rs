//! Definitions of Kubernetes resources (CRDs).

use crate::ImportError;
use crate::json_schema::{Reader, constant};
use crate::model::{Attribute, Model, Schema, Ty};
use crate::names::{file_name, package_name, schema_name};
use kcl_data::{Data, Node};

/// The name of the schema for `metadata`.
const METADATA: &str = "ObjectMeta";

/// Whether a document is the definition of a resource.
pub(crate) fn is_definition(document: &Node) -> bool {
    document.str_of("kind") == Some("CustomResourceDefinition")
}

/// One served version of a resource.
struct Version<'d> {
    package: Vec<String>,
    full_name: String,
    kind: &'d str,
    schema: &'d Node,
}

/// Reads all definitions: each served version becomes a schema in the package of its group and
/// version. Lists of definitions are accepted, other documents are left out.
///
/// # Errors
///
/// If there is no definition, or one lacks its group or kind.
pub(crate) fn read(documents: &[Node], model: &mut Model) -> Result<(), ImportError> {
    let mut all: Vec<&Node> = Vec::new();
    for document in documents {
        all.push(document);
        all.extend(document.get("items").map_or(&[][..], Node::items));
    }
    all.retain(|document| is_definition(document));
    if all.is_empty() {
        return Err(whole("there is no CustomResourceDefinition"));
    }
    let mut versions: Vec<Version<'_>> = Vec::new();
    for definition in all {
        let spec = definition.get("spec").ok_or_else(|| whole("a definition without `spec`"))?;
        for version in versions_of(spec, model)? {
            let is_same =
                |it: &&Version<'_>| it.package == version.package && it.kind == version.kind;
            match versions.iter().find(is_same) {
                None => versions.push(version),
                Some(first) if first.schema.data == version.schema.data => {}
                Some(_) => model.warnings.push(format!(
                    "{} {} is defined several times: the first definition counts",
                    version.full_name, version.kind
                )),
            }
        }
    }
    // The names of resources come before those of their parts.
    let mut names = Vec::new();
    for Version { package, kind, .. } in &versions {
        if !model.used.contains_key(package) {
            model.unique(package, METADATA);
            model.add(package, metadata());
        }
        names.push(model.unique(package, &schema_name(kind)));
    }
    for (Version { package, full_name, kind, schema }, name) in versions.iter().zip(names) {
        let mut reader = Reader::new(schema, model);
        reader.build_root(package, &name, |made| finish(made, package, full_name, kind));
        reader.write();
    }
    Ok(())
}

fn whole(message: &str) -> ImportError {
    ImportError::Whole(message.to_owned())
}

fn versions_of<'d>(spec: &'d Node, model: &mut Model) -> Result<Vec<Version<'d>>, ImportError> {
    let group = spec.str_of("group").ok_or_else(|| whole("a definition without `spec.group`"))?;
    let kind = spec.get("names").and_then(|names| names.str_of("kind"));
    let kind = kind.ok_or_else(|| whole("a definition without `spec.names.kind`"))?;
    // Older definitions have one schema for all versions.
    let shared = spec.get("validation").and_then(|it| it.get("openAPIV3Schema"));
    let mut versions: Vec<(&str, Option<&Node>)> = Vec::new();
    for version in spec.get("versions").map_or(&[][..], Node::items) {
        let is_served = version.get("served").is_none_or(|it| it.data == Data::Bool(true));
        if let (true, Some(name)) = (is_served, version.str_of("name")) {
            let own = version.get("schema").and_then(|it| it.get("openAPIV3Schema"));
            versions.push((name, own.or(shared)));
        }
    }
    if let (true, Some(version)) = (versions.is_empty(), spec.str_of("version")) {
        versions.push((version, shared));
    }
    let mut found = Vec::new();
    for (version, schema) in versions {
        let full_name = format!("{group}/{version}");
        match schema {
            Some(schema) => {
                let package = vec![package_name(group), package_name(version)];
                found.push(Version { package, full_name, kind, schema });
            }
            None => {
                model.warnings.push(format!("{full_name} {kind} has no schema: left out"));
            }
        }
    }
    Ok(found)
}

/// Adds what all resources have.
fn finish(schema: &mut Schema, package: &[String], version: &str, kind: &str) {
    let doc = |name: &str| {
        let found = schema.attributes.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| attribute.doc.clone()).unwrap_or_default()
    };
    let head = vec![
        constant("apiVersion", version, &doc("apiVersion")),
        constant("kind", kind, &doc("kind")),
        Attribute {
            name: "metadata".into(),
            ty: Ty::Ref(package.to_vec(), METADATA.into()),
            is_optional: true,
            default: None,
            doc: doc("metadata"),
        },
    ];
    let is_new = |name: &str| !["apiVersion", "kind", "metadata"].contains(&name);
    schema.attributes.retain(|attribute| is_new(&attribute.name));
    schema.checks.retain(|check| is_new(&check.attribute));
    schema.attributes.splice(0..0, head);
}

fn metadata() -> Schema {
    let optional = |name: &str, ty: Ty| Attribute {
        name: name.to_owned(),
        ty,
        is_optional: true,
        default: None,
        doc: String::new(),
    };
    let texts = || Ty::Dict(Box::new(Ty::Str));
    Schema {
        file: file_name(METADATA),
        name: METADATA.into(),
        doc: "ObjectMeta is the metadata of a Kubernetes resource.".into(),
        attributes: vec![
            optional("name", Ty::Str),
            optional("namespace", Ty::Str),
            optional("labels", texts()),
            optional("annotations", texts()),
        ],
        other: Some(Ty::Any),
        checks: Vec::new(),
    }
}
