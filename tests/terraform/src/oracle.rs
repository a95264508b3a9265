//! Asks `terraform` what it would do, for many resources in one workspace.

use crate::cases::{Case, KNOWN, UNKNOWN};
use crate::{Folder, Programs};
use kusion_model::markers::unknown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::Missing;

/// What `terraform` said about one case. Attributes that are null are left out, and elements of sets
/// are sorted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The name of the case.
    pub name: String,
    /// The planned attributes of the creation.
    pub planned_first: Value,
    /// The attributes after the creation.
    pub first: Value,
    /// The actions of the change: `no-op`, `update`, or `delete` and `create`.
    pub actions: Vec<String>,
    /// The planned attributes of the change.
    pub planned: Value,
    /// The attributes after the change.
    pub last: Value,
}

/// Finds the program.
pub fn find() -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|it| it.join("terraform"));
    programs.find(|it| it.is_file()).ok_or_else(|| Missing::new("`terraform` in PATH"))
}

/// Asks for all cases.
///
/// # Errors
///
/// A command fails; the message has its output.
pub fn ask(terraform: &Path, programs: &Programs, cases: &[Case]) -> Result<Vec<Answer>, String> {
    let folder = Folder::new(&format!("oracle-{}", cases.len())).map_err(|it| it.to_string())?;
    let workspace = Workspace { terraform, folder: &folder };
    workspace.prepare(programs).map_err(|it| it.to_string())?;
    let planned_first = workspace.plan(cases, false)?;
    let first = workspace.apply()?;
    let planned = workspace.plan(cases, true)?;
    let last = workspace.apply()?;
    let answer = |case: &Case| -> Option<Answer> {
        let (_, planned_first) = planned_first.get(&case.name)?.clone();
        let (actions, planned) = planned.get(&case.name)?.clone();
        let (first, last) = (first.get(&case.name)?.clone(), last.get(&case.name)?.clone());
        Some(Answer { name: case.name.clone(), planned_first, first, actions, planned, last })
    };
    cases
        .iter()
        .map(|case| answer(case).ok_or_else(|| format!("no answer for {}", case.name)))
        .collect()
}

struct Workspace<'a> {
    terraform: &'a Path,
    folder: &'a Folder,
}

impl Workspace<'_> {
    fn prepare(&self, programs: &Programs) -> std::io::Result<()> {
        let folder = self.folder.path();
        std::fs::create_dir_all(folder.join("objects"))?;
        write_overrides(folder, programs)
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let folder = self.folder.path();
        let output = Command::new(self.terraform)
            .args(arguments)
            .current_dir(folder)
            .env("TF_CLI_CONFIG_FILE", folder.join("terraform.rc"))
            .env("TF_IN_AUTOMATION", "1")
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(format!("terraform {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        serde_json::from_slice(&self.run(arguments)?).map_err(|error| error.to_string())
    }

    /// Plans creations or changes; returns actions and planned attributes by name.
    fn plan(
        &self,
        cases: &[Case],
        is_change: bool,
    ) -> Result<BTreeMap<String, (Vec<String>, Value)>, String> {
        let text = self.configuration(cases, is_change).to_string();
        std::fs::write(self.folder.path().join("main.tf.json"), text)
            .map_err(|it| it.to_string())?;
        self.run(&["plan", "-input=false", "-no-color", "-out=plan"])?;
        let plan = self.json(&["show", "-json", "plan"])?;
        let changes = plan["resource_changes"].as_array().cloned().unwrap_or_default();
        let read = |change: &Value| {
            let actions = change["change"]["actions"].as_array().cloned().unwrap_or_default();
            let actions = actions.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
            let mut planned = change["change"]["after"].clone();
            add_unknown(&mut planned, &change["change"]["after_unknown"]);
            normalise(&mut planned);
            (change["name"].as_str().unwrap_or_default().to_owned(), (actions, planned))
        };
        Ok(changes.iter().map(read).collect())
    }

    /// Applies the last plan; returns the attributes by name.
    fn apply(&self) -> Result<BTreeMap<String, Value>, String> {
        self.run(&["apply", "-input=false", "-no-color", "plan"])?;
        let state = self.json(&["show", "-json"])?;
        let all = state["values"]["root_module"]["resources"].as_array().cloned();
        let read = |it: &Value| {
            let mut values = it["values"].clone();
            normalise(&mut values);
            (it["name"].as_str().unwrap_or_default().to_owned(), values)
        };
        Ok(all.unwrap_or_default().iter().map(read).collect())
    }

    fn configuration(&self, cases: &[Case], is_change: bool) -> Value {
        let objects = self.folder.path().join("objects");
        let mut resources: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for case in cases {
            let attributes = if is_change { &case.after } else { &case.before };
            let attributes = with_texts(attributes, "${terraform_data.late.output}");
            resources.entry(case.type_name).or_default().insert(case.name.clone(), attributes);
        }
        let mut resources = json!(resources);
        // The output is unknown while the input changes.
        let input = if is_change { KNOWN } else { "early" };
        resources["terraform_data"] = json!({"late": {"input": input}});
        json!({
            "terraform": {"required_providers": {
                "probe": {"source": "kusion/probe"}, "legacy": {"source": "kusion/legacy"},
            }},
            "provider": {"probe": {"folder": objects}, "legacy": {"folder": objects}},
            "resource": resources,
        })
    }
}

/// Writes settings that let `terraform` use the providers of the tests without an installation.
pub fn write_overrides(folder: &Path, programs: &Programs) -> std::io::Result<()> {
    let mut overrides = String::new();
    for name in ["probe", "legacy"] {
        // A development override is a folder for each provider.
        let place = folder.join(name);
        std::fs::create_dir_all(&place)?;
        let link = place.join(format!("terraform-provider-{name}"));
        std::os::unix::fs::symlink(programs.program_of(name), link)?;
        let _ = writeln!(overrides, "\"kusion/{name}\" = {}", json!(place));
    }
    let config =
        format!("provider_installation {{\n dev_overrides {{\n{overrides}}}\n direct {{}}\n}}\n");
    std::fs::write(folder.join("terraform.rc"), config)
}

/// Returns attributes with another text in the place of unknown values.
pub fn with_texts(attributes: &Value, text: &str) -> Value {
    match attributes {
        Value::String(it) if it == UNKNOWN => text.into(),
        Value::Array(items) => items.iter().map(|it| with_texts(it, text)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, it)| (key.clone(), with_texts(it, text)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// Puts marks in the place of unknown values; `marks` has `true` there.
fn add_unknown(value: &mut Value, marks: &Value) {
    match marks {
        Value::Bool(true) => *value = unknown(),
        Value::Object(fields) => {
            for (key, marks) in fields {
                if let Value::Object(value) = value {
                    add_unknown(value.entry(key.clone()).or_insert(Value::Null), marks);
                }
            }
        }
        Value::Array(items) => {
            for (index, marks) in items.iter().enumerate() {
                if let Some(value) = value.get_mut(index) {
                    add_unknown(value, marks);
                }
            }
        }
        _ => {}
    }
}

/// Leaves out what is null, and sorts the elements of sets.
pub fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, it| !it.is_null());
            for (key, field) in fields {
                normalise(field);
                if let ("members" | "rule" | "peers", Value::Array(items)) = (key.as_str(), field) {
                    items.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        // One form for whole numbers.
        Value::Number(number) => {
            if let Some(whole) = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e15) {
                *value = (whole as i64).into();
            }
        }
        _ => {}
    }
}
