//! What the policies of a repository are evaluated on.

use crate::cells::StackLayers;
use crate::compile::Compiled;
use crate::find::Stack;
use kusion_cells::Layer;
use kusion_k8s_schema::is_secret;
use kusion_model::{Action, Resource};
use kusion_policy::{CellFacts, Moment, StackFacts, Subject, SubjectResource};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns a stack at a place, as policies see it.
pub fn stack_facts(stack: &Stack, place: &str) -> StackFacts {
    let project = &stack.project;
    let label = project.file.labels.as_ref().and_then(|it| it.get("owner"));
    let field = project.file.rest.get("owner").and_then(Value::as_str);
    let cell = stack.cell.as_ref();
    StackFacts {
        project: project.name.clone(),
        stack: stack.name.clone(),
        place: place.to_owned(),
        owner: field.or(label.map(String::as_str)).map(str::to_owned),
        cell: cell.map(|it| CellFacts { axes: it.dims.axes.clone(), cell: it.cell.clone() }),
    }
}

/// Returns the attributes of a desired resource with a text in the place of plain secrets.
pub fn plain_resource(resource: &Resource) -> Cow<'_, Value> {
    let attributes: &Value = &resource.attributes;
    let patterns = resource.secret_patterns();
    let is_secret = is_secret(attributes);
    if patterns.is_empty() && !is_secret {
        return Cow::Borrowed(attributes);
    }
    let mut shown = attributes.clone();
    for path in patterns.iter().flat_map(|it| it.find(attributes)) {
        if let Some(value) = path.find_mut(&mut shown) {
            *value = "(secret)".into();
        }
    }
    for key in ["data", "stringData"] {
        if let Some(Value::Object(fields)) = shown.get_mut(key).filter(|_| is_secret) {
            fields.values_mut().for_each(|it| *it = "(secret)".into());
        }
    }
    Cow::Owned(shown)
}

/// Returns what the policies of a compiled stack are evaluated on, without a plan.
pub fn check_subject<'c>(
    compiled: &'c Compiled,
    layers: Vec<Value>,
    actor: &str,
    now: Moment,
) -> Subject<'c> {
    let resource = |it: &'c Resource| SubjectResource {
        id: it.id.clone(),
        desired: Some(plain_resource(it)),
        old: None,
        action: Action::Keep,
        fields: Vec::new(),
    };
    Subject {
        stack: stack_facts(&compiled.stack, "main"),
        operation: "check",
        actor: actor.to_owned(),
        now,
        resources: compiled.spec.resources.iter().map(resource).collect(),
        layers,
        decisions: Vec::new(),
    }
}

/// Returns the layers of a stack, as policies see them.
pub fn layer_inputs(layers: &StackLayers) -> Vec<Value> {
    let axes = &layers.dims.axes;
    let input = |it: &Layer| {
        let paths: Vec<String> = it.paths().iter().map(ToString::to_string).collect();
        json!({
            "file": &*it.origin.file,
            "line": it.origin.line,
            "when": it.when.text(axes),
            "owner": it.owner,
            "why": it.why,
            "expires": it.expires,
            "paths": paths,
        })
    };
    layers.layers.iter().map(|it| input(it)).collect()
}
