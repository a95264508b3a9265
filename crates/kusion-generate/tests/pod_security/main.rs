//! The packs of Pod Security beside the fixtures of the standards: pods that a version of a standard
//! accepts have no finding, and those that it rejects have one of the rule that they are about.
//! `.ci/pod-security` fetches the fixtures.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use base_system::MemorySystem;
use kusion_generate::PolicyFolder;
use kusion_model::{Action, ResourceId};
use kusion_policy::{Moment, StackFacts, Subject, SubjectResource};
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testkit::{Missing, Suite};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    for standard in ["baseline", "restricted"] {
        let name = format!("{standard}_agrees_with_the_fixtures_of_all_versions");
        suite.add_with(name, fixtures(), move |folder| check(&folder, standard));
    }
    suite.run()
}

fn fixtures() -> Result<PathBuf, Missing> {
    let given = std::env::var_os("KUSION_POD_SECURITY").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| {
        cache.unwrap_or_else(|| home.join(".cache")).join("kusion-pod-security")
    });
    let missing = || Missing::new("the fixtures of Pod Security: run .ci/pod-security");
    if folder.join("version").is_file() { Ok(folder) } else { Err(missing()) }
}

/// Which rules may find a fixture, by the start of its name; the longest start counts.
const RULES: &[(&str, &[&str])] = &[
    ("allowprivilegeescalation", &["privilege_escalation"]),
    ("apparmorprofile", &["apparmor"]),
    ("capabilities_baseline", &["capabilities"]),
    ("capabilities_restricted", &["drop_capabilities"]),
    ("hostnamespaces", &["host_namespaces"]),
    ("hostpathvolumes", &["host_paths"]),
    ("hostports", &["host_ports"]),
    ("hostprobesandhostlifecycle", &["host_probes"]),
    ("privileged", &["privileged"]),
    ("procmount", &["proc_mount", "strict_proc_mount"]),
    ("restrictedvolumes", &["volumes"]),
    ("runasnonroot", &["non_root"]),
    ("runasuser", &["user"]),
    ("seccompprofile_baseline", &["seccomp"]),
    ("seccompprofile_restricted", &["seccomp", "seccomp_profile"]),
    ("selinuxoptions", &["selinux"]),
    ("sysctls", &["sysctls"]),
    ("windowshostprocess", &["windows_host_process"]),
];

fn check(fixtures: &Path, standard: &str) {
    let versions = entries(&fixtures.join(standard));
    assert!(versions.len() > 30, "only {} versions", versions.len());
    let (mut problems, mut count) = (Vec::new(), 0);
    for version in versions {
        let number = name_of(&version).to_owned();
        for verdict in ["pass", "fail"] {
            let files = entries(&version.join(verdict));
            let pods: Vec<(String, Value)> = files.iter().map(|file| read(file)).collect();
            let found = findings(standard, &number, &pods);
            for (name, _) in &pods {
                let own: Vec<&str> =
                    found.iter().filter(|(id, _)| id == name).map(|(_, rule)| &**rule).collect();
                let is_right = match verdict {
                    "pass" => own.is_empty(),
                    _ => rules_of(name).iter().any(|rule| own.contains(rule)),
                };
                if !is_right {
                    problems.push(format!("{standard} {number} {verdict} {name}: {own:?}"));
                }
            }
            count += pods.len();
        }
    }
    assert_eq!(problems, Vec::<String>::new(), "of {count} pods");
    assert!(count > 1000, "only {count} pods");
}

fn rules_of(name: &str) -> &'static [&'static str] {
    let known = RULES.iter().find(|(start, _)| name.starts_with(start));
    known.ok_or_else(|| format!("no rule is known for the fixture {name}")).expect("a rule").1
}

/// Evaluates a pack on pods. Returns the pods with findings, with the rule of each.
fn findings(standard: &str, version: &str, pods: &[(String, Value)]) -> Vec<(String, String)> {
    let main =
        format!("import policies.pod_security\npack = pod_security.{standard}('{version}')\n");
    let konfig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../konfig/policies");
    let text = |path: &str| std::fs::read_to_string(konfig.join(path)).expect("a pack");
    let system = MemorySystem::new()
        .with_file("/r/kcl.mod", "[package]\nname = \"r\"\n")
        .with_file("/r/policies/main.k", main)
        .with_file("/r/policies/pods/pods.k", text("pods/pods.k"))
        .with_file("/r/policies/pod_security/pod_security.k", text("pod_security/pod_security.k"));
    let folder = PolicyFolder::open(&system, Path::new("/r/policies"), Path::new("/r"));
    let folder = folder.expect("a folder").expect("policies");
    let resource = |(name, pod): &(String, Value)| SubjectResource {
        id: ResourceId::new(name.as_str()),
        desired: Some(Cow::Owned(pod.clone())),
        old: None,
        action: Action::Create,
        fields: Vec::new(),
    };
    let subject = Subject {
        stack: StackFacts::default(),
        operation: "check",
        actor: String::new(),
        now: Moment { millis: 0 },
        resources: pods.iter().map(resource).collect(),
        layers: Vec::new(),
        decisions: Vec::new(),
    };
    let found = folder.check(&system, &[subject]).expect("findings").remove(0);
    let found = found.into_iter().map(|it| {
        let id = it.finding.resource.expect("a resource").to_string();
        assert!(!it.finding.message.contains("failed"), "{id}: {}", it.finding.message);
        (id, it.finding.policy.trim_start_matches("pack/").to_owned())
    });
    found.collect()
}

fn read(file: &Path) -> (String, Value) {
    let text = std::fs::read_to_string(file).expect("a fixture");
    let name = name_of(file).trim_end_matches(".yaml").to_owned();
    (name, yaml_serde::from_str(&text).expect("YAML"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|it| it.to_str()).expect("a name")
}
