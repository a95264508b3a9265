//! From inputs to source files.

use crate::emit::emit;
use crate::go::Structs;
use crate::model::Model;
use crate::proto::Messages;
use crate::{ImportError, crd, data, json_schema, openapi, terraform};
use kcl_data::{Format, Node, read};
use std::path::Path;
use std::str::FromStr;

/// What inputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What their names and texts say.
    #[default]
    Auto,
    /// Data.
    Data(Format),
    /// `OpenAPI` 2 or 3, in JSON or YAML.
    OpenApi,
    /// JSON Schema, in JSON or YAML.
    JsonSchema,
    /// Definitions of Kubernetes resources.
    Crd,
    /// The schemas of a Terraform provider, in JSON.
    Terraform,
    /// Structs of Go.
    Go,
    /// Messages of Protocol Buffers.
    Proto,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "auto" => Self::Auto,
            "json" => Self::Data(Format::Json),
            "yaml" => Self::Data(Format::Yaml),
            "toml" => Self::Data(Format::Toml),
            "openapi" => Self::OpenApi,
            "jsonschema" => Self::JsonSchema,
            "crd" => Self::Crd,
            "terraformschema" | "terraform" => Self::Terraform,
            "gostruct" | "go" => Self::Go,
            "proto" => Self::Proto,
            _ => {
                let expected = "expected auto, json, yaml, toml, openapi, jsonschema, crd, \
                                terraformschema, gostruct or proto";
                return Err(format!("invalid mode '{name}', {expected}"));
            }
        })
    }
}

/// How inputs are turned into source.
#[derive(Clone, Debug)]
pub struct Options {
    /// What they are.
    pub mode: Mode,
    /// The package of schemas, `a.b`.
    pub package: String,
    /// Whether descriptions are kept.
    pub docs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Auto, package: "models".into(), docs: true }
    }
}

/// One source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path below the output folder, with `/` between folders.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What inputs became.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The files in the order of their paths.
    pub files: Vec<SourceFile>,
    /// What could not be said in KCL.
    pub warnings: Vec<String>,
}

/// Turns inputs, each with a name and a text, into source files. The same inputs always give the
/// same files.
///
/// # Errors
///
/// With the name of the input that can't be imported, and why.
pub fn import(
    inputs: &[(String, String)],
    options: &Options,
) -> Result<Imported, (String, ImportError)> {
    let mut imported = Imported::default();
    let mut model = Model::default();
    // What can name parts of other inputs is turned into schemas when all inputs are read.
    let (mut structs, mut messages) = (Structs::default(), Messages::default());
    let mut crds: Option<(String, Vec<Node>)> = None;
    for (name, text) in inputs {
        let path = Path::new(name);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("data");
        let fail = |error| (name.clone(), error);
        let mode = match options.mode {
            Mode::Auto => detect(path, text),
            mode => mode,
        };
        let documents =
            || read(text, Format::of_path(path).unwrap_or(Format::Yaml)).map_err(ImportError::Data);
        match mode {
            Mode::Auto => {}
            Mode::Data(format) => {
                let text = data(text, format).map_err(fail)?;
                imported.files.push(SourceFile { path: format!("{stem}.k"), text });
            }
            Mode::OpenApi => {
                openapi::read(&documents().map_err(fail)?, text, &mut model).map_err(fail)?;
            }
            Mode::JsonSchema => {
                json_schema::read(&documents().map_err(fail)?, stem, &mut model).map_err(fail)?;
            }
            Mode::Crd => {
                let documents = documents().map_err(fail)?;
                crds.get_or_insert_with(|| (name.clone(), Vec::new())).1.extend(documents);
            }
            Mode::Terraform => {
                terraform::read(&documents().map_err(fail)?, &mut model).map_err(fail)?;
            }
            Mode::Go => structs.read(text).map_err(fail)?,
            Mode::Proto => messages.read(text).map_err(fail)?,
        }
    }
    if let Some((name, documents)) = crds {
        crd::read(&documents, &mut model).map_err(|error| (name, error))?;
    }
    structs.write(&mut model);
    messages.write(&mut model);
    imported.warnings.append(&mut model.warnings);
    imported.files.extend(emit(&model, options));
    if imported.files.is_empty() {
        let name = inputs.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let message = "there is nothing to import: expected objects with properties";
        return Err((name, ImportError::Whole(message.into())));
    }
    imported.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(imported)
}

/// Tells what an input is by its name and text.
fn detect(path: &Path, text: &str) -> Mode {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("go") => return Mode::Go,
        Some("proto") => return Mode::Proto,
        Some("toml") => return Mode::Data(Format::Toml),
        _ => {}
    }
    let format = Format::of_path(path).unwrap_or(Format::Yaml);
    let Ok(documents) = read(text, format) else { return Mode::Data(format) };
    let has = |key: &str| documents.iter().any(|document| document.get(key).is_some());
    if has("openapi") || has("swagger") {
        Mode::OpenApi
    } else if documents.iter().any(crd::is_definition) {
        Mode::Crd
    } else if has("provider_schemas") {
        Mode::Terraform
    } else if documents.iter().any(is_json_schema) {
        Mode::JsonSchema
    } else {
        Mode::Data(format)
    }
}

fn is_json_schema(document: &Node) -> bool {
    let schema = document.str_of("$schema").unwrap_or_default();
    schema.contains("json-schema.org")
        || document.get("$defs").is_some()
        || (document.get("definitions").is_some() && document.entries().len() <= 4)
        || (document.str_of("type") == Some("object") && document.get("properties").is_some())
}
