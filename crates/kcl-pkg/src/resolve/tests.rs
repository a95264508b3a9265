//! Resolution with a registry in memory.

use super::*;
use crate::source::Repository;
use base_system::MemorySystem;
use std::sync::Mutex;

/// A registry in memory: packages are folders `/registry/NAME_VERSION`.
#[derive(Debug, Default)]
struct Registry {
    versions: Vec<(&'static str, &'static str)>,
    fetched: Mutex<Vec<String>>,
    locked: bool,
}

impl Provider for Registry {
    fn versions(&self, repository: &Repository) -> Result<Vec<String>, String> {
        let own = self.versions.iter().filter(|(name, _)| *name == repository.name());
        Ok(own.map(|(_, version)| (*version).to_owned()).collect())
    }

    fn fetch(&self, wanted: &Wanted<'_>) -> Result<Fetched, String> {
        let Origin::Oci { tag, .. } = wanted.origin else { return Err("not OCI".into()) };
        let known =
            self.versions.iter().any(|(name, version)| *name == wanted.name && version == tag);
        if !known {
            return Err(format!("no {} {tag}", wanted.name));
        }
        let full_name = format!("{}_{tag}", wanted.name);
        self.fetched.lock().unwrap().push(full_name.clone());
        let folder = PathBuf::from(format!("/registry/{full_name}"));
        let (sum, digest) = (format!("sum {full_name}"), format!("digest {full_name}"));
        let sums = crate::Sums { sum, digest, not_covered: None };
        Ok(Fetched { whole: folder.clone(), folder, sums, resolved: None })
    }

    fn is_locked(&self) -> bool {
        self.locked
    }

    fn may_write(&self, _root: &Path) -> bool {
        true
    }
}

fn resolve_with(
    system: &MemorySystem,
    provider: Option<&dyn Provider>,
    update: &Update,
) -> Result<Resolution, ResolveError> {
    let root = Path::new("/w");
    let mod_file = read_mod_file(system, root).unwrap().unwrap();
    resolve(&Request { system, root, mod_file: &mod_file, provider, update, use_vendor: true })
}

fn show(resolution: &Resolution) -> Vec<String> {
    let line = |it: &Package| format!("{}={}", import_name(&it.name), it.folder.display());
    resolution.packages.iter().map(line).collect()
}

fn module(text: &str) -> MemorySystem {
    MemorySystem::new()
        .with_env("HOME", "/home/u")
        .with_file("/w/kcl.mod", format!("[package]\nname = \"app\"\n[dependencies]\n{text}"))
}

#[test]
fn from_paths_vendor_and_the_package_home() {
    let system = MemorySystem::new()
        .with_env("KCL_PKG_PATH", "/home/kpm")
        .with_file("/lib/kcl.mod", "[dependencies]\ndeep-er = { path = \"../deep\" }\n")
        .with_file("/deep/kcl.mod", "[dependencies]\nlib = \"9\"\n")
        .with_file("/w/vendor/k8s/kcl.mod", "")
        .with_file("/home/kpm/konfig_v1/kcl.mod", "")
        .with_file(
            "/w/kcl.mod",
            "[dependencies]\nlib = { path = \"../lib\" }\nk8s = \"1.28\"\n\
             konfig = { git = \"x\", tag = \"v1\" }\nnone = \"1\"\n",
        );
    let found = resolve_with(&system, None, &Update::Nothing).unwrap();
    assert_eq!(
        show(&found),
        ["lib=/lib", "k8s=/w/vendor/k8s", "konfig=/home/kpm/konfig_v1", "deep_er=/deep"]
    );
    assert_eq!(found.missing[0].name, "none");
    assert!(!found.lock_changed);
}

#[test]
fn the_highest_version_that_is_asked_for_serves_all() {
    let system = module("a = \"1.0\"\nk8s = \"1.28\"\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nk8s = \"1.31\"\n")
        .with_file("/registry/k8s_1.28/kcl.mod", "")
        .with_file("/registry/k8s_1.31/kcl.mod", "");
    let versions = vec![("a", "1.0"), ("k8s", "1.28"), ("k8s", "1.31")];
    let registry = Registry { versions, ..Registry::default() };
    let found = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap();
    assert_eq!(show(&found), ["a=/registry/a_1.0", "k8s=/registry/k8s_1.31"]);
    assert!(found.lock_changed);
    let text = found.lock.to_text();
    assert!(text.contains("full_name = \"k8s_1.31\"\n"), "{text}");
    assert!(text.contains("reg = \"ghcr.io\"\n    repo = \"kcl-lang/k8s\"\n"), "{text}");
}

#[test]
fn locked_versions_are_taken_first_and_lowered_when_nothing_asks_for_them() {
    let system = module("a = \"1.0\"\nk8s = \"1.28\"\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nk8s = \"1.31\"\n")
        .with_file("/registry/k8s_1.28/kcl.mod", "")
        .with_file("/registry/k8s_1.31/kcl.mod", "");
    let versions = vec![("a", "1.0"), ("k8s", "1.28"), ("k8s", "1.31")];
    let registry = || Registry { versions: versions.clone(), ..Registry::default() };
    let found = resolve_with(&system, Some(&registry()), &Update::Nothing).unwrap();
    let system = system.with_file("/w/kcl.mod.lock", found.lock.to_text());
    let second = registry();
    let found = resolve_with(&system, Some(&second), &Update::Nothing).unwrap();
    assert!(!found.lock_changed);
    assert_eq!(*second.fetched.lock().unwrap(), ["a_1.0", "k8s_1.31"]);
    // Without `a`, nothing asks for 1.31.
    let system = system.with_file("/w/kcl.mod", "[dependencies]\nk8s = \"1.28\"\n");
    let found = resolve_with(&system, Some(&registry()), &Update::Nothing).unwrap();
    assert_eq!(show(&found), ["k8s=/registry/k8s_1.28"]);
}

#[test]
fn a_conflict_names_who_asks_for_what() {
    let system = module("a = \"1.0\"\nk8s = \"1.28\"\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nk8s = \"2.0\"\n");
    let versions = vec![("a", "1.0"), ("k8s", "1.28"), ("k8s", "2.0")];
    let registry = Registry { versions, ..Registry::default() };
    let error = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no version of `k8s` serves all modules:\n  app    asks for 1.28\n  a 1.0  asks for 2.0\n\
         change one of them, so that one version and one source serve all"
    );
}

#[test]
fn a_range_takes_the_newest_version_and_keeps_the_locked_one() {
    let system = module("k8s = \">=1.28, <2\"\n")
        .with_file("/registry/k8s_1.30/kcl.mod", "")
        .with_file("/registry/k8s_1.31/kcl.mod", "");
    let versions = vec![("k8s", "1.27"), ("k8s", "1.30")];
    let registry = Registry { versions, ..Registry::default() };
    let found = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap();
    assert_eq!(show(&found), ["k8s=/registry/k8s_1.30"]);
    let system = system.with_file("/w/kcl.mod.lock", found.lock.to_text());
    let versions = vec![("k8s", "1.30"), ("k8s", "1.31"), ("k8s", "2.0")];
    let registry = Registry { versions, ..Registry::default() };
    let found = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap();
    assert_eq!(show(&found), ["k8s=/registry/k8s_1.30"]);
    assert!(!found.lock_changed);
    let found = resolve_with(&system, Some(&registry), &Update::All).unwrap();
    assert_eq!(show(&found), ["k8s=/registry/k8s_1.31"]);
    assert!(found.lock_changed);
    let none = Registry { versions: vec![("k8s", "2.1")], ..Registry::default() };
    let error = resolve_with(&system, Some(&none), &Update::All).unwrap_err().to_string();
    assert!(error.contains("app  asks for >=1.28, <2"), "{error}");
}

#[test]
fn locked_refuses_what_the_lock_file_does_not_have() {
    let system = module("k8s = \"1.28\"\n").with_file("/registry/k8s_1.28/kcl.mod", "");
    let registry =
        Registry { versions: vec![("k8s", "1.28")], locked: true, ..Registry::default() };
    let error = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap_err().to_string();
    assert!(error.starts_with("kcl.mod.lock is not complete: `k8s`"), "{error}");
}

#[test]
fn the_path_of_a_download_must_not_lead_out_of_it() {
    let system = module("a = \"1.0\"\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nb = { path = \"../../secret\" }\n")
        .with_file("/secret/kcl.mod", "");
    let registry = Registry { versions: vec![("a", "1.0")], ..Registry::default() };
    let error = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap_err().to_string();
    assert!(error.starts_with("`a 1.0` was downloaded, and its dependency `b`"), "{error}");
}

#[test]
fn a_download_cannot_name_a_repository_of_this_machine() {
    let system = module("a = \"1.0\"\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nb = { git = \"file:///b\" }\n");
    let registry = Registry { versions: vec![("a", "1.0")], ..Registry::default() };
    let error = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap_err().to_string();
    assert!(error.contains("cannot name a repository of this machine"), "{error}");
}

#[test]
fn the_source_of_the_module_itself_decides() {
    let system = module("a = \"1.0\"\nk8s = { path = \"../mine\" }\n")
        .with_file("/registry/a_1.0/kcl.mod", "[dependencies]\nk8s = \"2.0\"\n")
        .with_file("/mine/kcl.mod", "[package]\nversion = \"0.0.1\"\n");
    let registry = Registry { versions: vec![("a", "1.0")], ..Registry::default() };
    let found = resolve_with(&system, Some(&registry), &Update::Nothing).unwrap();
    assert_eq!(show(&found), ["a=/registry/a_1.0", "k8s=/mine"]);
    assert_eq!(*registry.fetched.lock().unwrap(), ["a_1.0"]);
}
