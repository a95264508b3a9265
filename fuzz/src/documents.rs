//! Damaged plan files and settings: plans, `kcl.mod`, `kcl.yaml`, `stack.yaml`, `project.yaml`,
//! selectors of cells, and kubeconfigs.
//!
//! The first line of an input names what is read; the rest is its text.

use crate::mutate;
use crate::target::Reached;
use base_system::{MemorySystem, System as _};
use kcl_driver::{EvalOptions, Limits, RunOptions};
use kusion_cells::{Axes, Axis, PathPattern, Selector};
use kusion_engine::{read_plans, write_plans};
use kusion_generate::{ProjectFile, StackFile};
use kusion_model::{
    Action, Operation, Place, Plan, Reason, Resource, ResourceId, ResourceType, StackKey, Step,
};
use kusion_runtime_k8s::inspect_text;
use kusion_secret::Sealer;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use testkit::Rng;

/// Settings that inputs are made from: what they are, and their text.
const SETTINGS: &[(&str, &str)] = &[
    (
        "kcl.mod",
        "[package]\nname = \"a\"\nedition = \"v0.9.0\"\nversion = \"0.0.1\"\n\n[dependencies]\n\
         b = { path = \"./b\" }\nc = \"1.0\"\n\n[profile]\nentries = [\"main.k\"]\n",
    ),
    (
        "kcl.yaml",
        "kcl_cli_configs:\n  files: [main.k]\n  disable_none: true\n  overrides: ['a=1']\n\
         kcl_options:\n- key: env\n  value: {a: [1, 2.5, null, 'x']}\n",
    ),
    (
        "stack.yaml",
        "name: dev\nlabels: {a: b}\nkubeConfig: x\nbackend:\n  storageType: s3\n  config: {bucket: b}\n\
         extensions:\n- kind: kubernetesNamespace\n  kubernetesNamespace: {namespace: n}\n",
    ),
    ("selector", "zone=gz|sh01a,env=!online,tenant=main"),
    ("project.yaml", "name: shop\ntenant: t\nbackend: s3://b/p?region=r\nsecretInputs: [A]\n"),
    (
        "kubeconfig",
        "clusters: [{name: a, cluster: {server: 'https://a.example', proxy-url: 'socks5://b'}}]\n\
         users:\n- {name: u, user: {exec: {command: c, args: [d], env: [{name: e, value: f}]}}}\n\
         - {name: t, user: {tokenFile: f, client-certificate-data: Zg==}}\n\
         contexts: [{name: a, context: {cluster: a, user: u, namespace: n}}]\ncurrent-context: a\n",
    ),
];

fn sealer() -> &'static Sealer {
    static SEALER: OnceLock<Sealer> = OnceLock::new();
    SEALER.get_or_init(|| Sealer::new([7; 32], "a test"))
}

/// The plan file that inputs are made from.
fn plan() -> &'static str {
    static PLAN: OnceLock<String> = OnceLock::new();
    PLAN.get_or_init(|| {
        let id = ResourceId::new("v1:ConfigMap:shop:a");
        let kind = ResourceType::new("Kubernetes");
        let mut step = Step::new(id.clone(), kind.clone(), Action::Create, Reason::New);
        step.desired = Some(Resource {
            id,
            resource_type: kind,
            attributes: json!({"kind": "ConfigMap", "data": {"a": "1"}}).into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        });
        let key = StackKey::new("shop", "dev", Place::Main);
        write_plans(&[Plan::new(key, Operation::Apply, vec![step])], sealer())
    })
}

/// Makes a damaged plan file. Some have a valid authentication code again, as if the holder of the
/// key had written them.
pub(crate) fn damaged_plan(rng: &mut Rng) -> String {
    let name = if rng.one_in(2) { "plan" } else { "authentic-plan" };
    format!("{name}\n{}", mutate::program(rng, &[plan().to_owned()]))
}

/// Makes damaged settings.
pub(crate) fn damaged_settings(rng: &mut Rng) -> String {
    let (name, text) = *rng.pick(SETTINGS);
    format!("{name}\n{}", mutate::program(rng, &[text.to_owned()]))
}

/// Reads an input. An error says which law is broken.
pub(crate) fn feed(input: &str) -> Result<Reached, String> {
    let (name, text) = input.split_once('\n').unwrap_or((input, ""));
    let is_read = match name {
        "plan" => {
            let is_read = read_plans(text.as_bytes(), sealer()).is_ok();
            if is_read && text != plan() {
                return Err("a changed plan file is accepted".to_owned());
            }
            is_read
        }
        "authentic-plan" => read_plans(signed(text).as_bytes(), sealer()).is_ok(),
        "stack.yaml" => StackFile::parse(text).is_ok(),
        "project.yaml" => ProjectFile::parse(text).is_ok(),
        "selector" => read_selector(text)?,
        "kubeconfig" => inspect_text(text, Path::new("/nowhere")).is_some(),
        _ => run_with(name, text),
    };
    Ok(if is_read { Reached::Evaluated } else { Reached::Rejected })
}

/// Reads a selector; one that is valid must mean the same after it was printed.
fn read_selector(text: &str) -> Result<bool, String> {
    let axis = |name: &str, values: &[&str], group: &str| Axis {
        name: name.to_owned(),
        values: values.iter().map(|it| (*it).to_owned()).collect(),
        groups: [(group.to_owned(), vec![values[0].to_owned(), values[1].to_owned()])].into(),
    };
    let axes = Axes::new(vec![
        axis("zone", &["gz00a", "gz00b", "sh01a"], "gz"),
        axis("env", &["gray", "prod", "dev"], "online"),
        axis("tenant", &["main", "intl"], "all"),
    ]);
    let axes = axes.map_err(|error| error.to_string())?;
    // Patterns of paths are read in the same places.
    let pattern = text.parse::<PathPattern>();
    if let Ok(pattern) = &pattern
        && pattern.to_string().parse().as_ref() != Ok(pattern)
    {
        return Err(format!("the pattern `{pattern}` changes when it is printed"));
    }
    let Ok(selector) = Selector::parse(&axes, text) else { return Ok(pattern.is_ok()) };
    let printed = selector.text(&axes);
    if Selector::parse(&axes, &printed).as_ref() == Ok(&selector) {
        Ok(true)
    } else {
        Err(format!("the selector changes when it is printed: `{printed}`"))
    }
}

/// Replaces the last line by a valid authentication code.
fn signed(text: &str) -> String {
    let body = text.trim_end_matches('\n').rsplit_once('\n').map_or("", |(body, _)| body);
    let body = format!("{body}\n");
    let mut mac = String::new();
    for byte in sealer().plan_mac(body.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(mac, "{byte:02x}");
    }
    format!("{body}{}\n", json!({"mac": mac}))
}

/// Runs a program beside a settings file.
fn run_with(name: &str, text: &str) -> bool {
    let system = MemorySystem::new();
    for (file, text) in [("main.k", "a = option(\"env\")\n"), ("b/main.k", "x = 1\n"), (name, text)]
    {
        // A file in memory can be written.
        let _ = system.write(&Path::new("/w").join(file), text);
    }
    let options = RunOptions {
        work_dir: Some("/w".into()),
        eval: EvalOptions {
            limits: Limits { steps: 500_000, memory: 64 << 20, ..Limits::default() },
            ..EvalOptions::default()
        },
        ..RunOptions::default()
    };
    kcl_driver::run(&system, &options).is_ok()
}
