//! Makes the table of the built-in Kubernetes API from a real server.
//!
//! `cargo xtask k8s-schema --kubeconfig FILE` writes it, `--check` compares it with the
//! committed one instead. `kubectl` (or what the variable `KUBECTL` names) does the requests.
//! What the server's documents do not say, which fields it writes when nobody set them, is read
//! from the published Go types in the module cache (`GOMODCACHE`).

mod convert;
mod fetch;
mod sources;

use anyhow::{Context as _, ensure};
use fetch::Server;
use kusion_k8s_schema::table::{Table, write_descriptions, write_table};
use kusion_k8s_schema::{described_table, first_objects_file, table_file, version};
use serde_json::Value;
use std::path::Path;

const FILE: &str = "crates/kusion-k8s-schema/data/k8s-v1.36.bin.zst";
const FIRST_FILE: &str = "crates/kusion-k8s-schema/data/k8s-v1.36.first.json.zst";
/// The resources of which a server has objects from its start.
const FIRST: &[&str] = &[
    "rbac.authorization.k8s.io/v1/clusterroles",
    "rbac.authorization.k8s.io/v1/clusterrolebindings",
    "rbac.authorization.k8s.io/v1/roles",
    "rbac.authorization.k8s.io/v1/rolebindings",
    "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    "flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "apiregistration.k8s.io/v1/apiservices",
];
const LEVEL: i32 = 19;

/// Writes the table of a server into the repository and returns what it did, in a sentence.
pub(crate) fn generate(kubeconfig: &Path) -> anyhow::Result<String> {
    let (version, table) = read(kubeconfig)?;
    let types = zstd::encode_all(&write_table(&table)[..], LEVEL)?;
    let descriptions = zstd::encode_all(&write_descriptions(&table)[..], LEVEL)?;
    let file = table_file(&version, &types, &descriptions);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    std::fs::write(root.join(FILE), &file).with_context(|| format!("writing {FILE}"))?;
    let first =
        zstd::encode_all(first_objects_file(first(&Server::new(kubeconfig))?).as_bytes(), LEVEL)?;
    std::fs::write(root.join(FIRST_FILE), first)
        .with_context(|| format!("writing {FIRST_FILE}"))?;
    Ok(format!(
        "{FILE}: Kubernetes {version}, {} definitions, {} bytes ({} types, {} descriptions)",
        table.definitions.len(),
        file.len(),
        types.len(),
        descriptions.len()
    ))
}

/// Compares the committed table with a server, and the form of the server's objects with ours.
pub(crate) fn check(kubeconfig: &Path) -> anyhow::Result<String> {
    let (fresh_version, table) = read(kubeconfig)?;
    ensure!(
        fresh_version == version(),
        "the table is of {}, the server {fresh_version}",
        version()
    );
    ensure!(
        described_table() == table,
        "the table differs from the server: run `cargo xtask k8s-schema`"
    );
    let n_objects = check_objects(&Server::new(kubeconfig))?;
    Ok(format!("{FILE} is what Kubernetes {fresh_version} serves; {n_objects} objects compared"))
}

/// Reads the objects that a new server has; the server must not have been used for anything else.
fn first(server: &Server) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    for path in FIRST {
        let list = server.get(&format!("/apis/{path}"))?;
        let kind = list["kind"].as_str().and_then(|it| it.strip_suffix("List"));
        let kind = kind.with_context(|| format!("{path} is no list"))?;
        for object in list["items"].as_array().into_iter().flatten() {
            let mut object = object.clone();
            object["apiVersion"] = list["apiVersion"].clone();
            object["kind"] = kind.into();
            all.push(object);
        }
    }
    Ok(all)
}

fn read(kubeconfig: &Path) -> anyhow::Result<(String, Table)> {
    let server = Server::new(kubeconfig);
    let version = server.get("/version")?;
    let version = version["gitVersion"].as_str().context("the server names no version")?.to_owned();
    let custom = convert::custom_groups(&server)?;
    let groups = convert::groups(&server, &custom)?;
    let mut definitions = convert::definitions(&server, &custom)?;
    sources::mark_presence(&mut definitions, &version)?;
    Ok((version, Table { groups, definitions }))
}

/// Checks that what a server sends has the form in which we would hold it; returns the number of
/// objects that were compared.
fn check_objects(server: &Server) -> anyhow::Result<usize> {
    let api = kusion_k8s_schema::builtin();
    let mut n_objects = 0;
    for resource in api.resources.iter().filter(|resource| resource.has_verb("list")) {
        let root = if resource.group.is_empty() { "api" } else { "apis" };
        let group = if resource.group.is_empty() { "" } else { "/" };
        let (name, version, plural) = (&resource.group, &resource.version, &resource.plural);
        let list = server.get(&format!("/{root}{group}{name}/{version}/{plural}"))?;
        for object in list["items"].as_array().into_iter().flatten() {
            let normal = kusion_k8s_schema::normalize(&api.types, resource.ty, object.clone());
            let normal = normal.ok().with_context(|| format!("{plural}: not of its type"))?;
            let is_same = normal.findings.is_empty() && normal.value == *object;
            ensure!(is_same, "{plural}: {object} is not in the form in which we hold it");
            n_objects += 1;
        }
    }
    ensure!(n_objects > 50, "the server has {n_objects} objects, too few to compare");
    Ok(n_objects)
}
