//! A Spec as text.

use kusion_model::Spec;

/// Writes a Spec as YAML. Equal Specs give equal text.
pub fn spec_yaml(spec: &Spec) -> String {
    yaml_serde::to_string(spec).unwrap_or_default()
}

/// Writes a Spec as JSON. Equal Specs give equal text.
pub fn spec_json(spec: &Spec) -> String {
    serde_json::to_string_pretty(spec).unwrap_or_default()
}
