//! What policies are evaluated on.

use crate::moment::Moment;
use kusion_cells::{Axes, Cell};
use kusion_model::markers::secret_hash;
use kusion_model::{Action, FieldPath, PolicyDecision, ResourceId};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The cell of a stack.
#[derive(Clone, Debug)]
pub struct CellFacts {
    /// The axes.
    pub axes: Axes,
    /// The cell.
    pub cell: Cell,
}

/// A stack, as policies see it.
#[derive(Clone, Debug, Default)]
pub struct StackFacts {
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
    /// The place: `main`, a name, or a sandbox.
    pub place: String,
    /// The owner of the project, if `project.yaml` names one.
    pub owner: Option<String>,
    /// The cell; `None` for a stack without cells.
    pub cell: Option<CellFacts>,
}

impl StackFacts {
    pub(crate) fn input(&self) -> Value {
        json!({
            "project": self.project,
            "name": self.stack,
            "place": self.place,
            "owner": self.owner,
        })
    }

    /// Returns the input `cell` of rules: the value on each axis; empty without cells.
    pub(crate) fn cell_input(&self) -> Value {
        let mut values = Map::new();
        if let Some(CellFacts { axes, cell }) = &self.cell {
            for (at, axis) in axes.axes().iter().enumerate() {
                values.insert(axis.name.clone(), axes.value_of(cell, at).into());
            }
        }
        Value::Object(values)
    }
}

/// A resource, as policies see it. Values have no secrets.
#[derive(Clone, Debug)]
pub struct SubjectResource<'a> {
    /// The id.
    pub id: ResourceId,
    /// The desired attributes, or those of a live object that is looked at; `None` if it is
    /// deleted.
    pub desired: Option<Cow<'a, Value>>,
    /// The attributes before; `None` if it does not exist.
    pub old: Option<Cow<'a, Value>>,
    /// What happens to it.
    pub action: Action,
    /// The fields that change.
    pub fields: Vec<FieldPath>,
}

impl SubjectResource<'_> {
    fn any(&self) -> Option<&Value> {
        self.desired.as_deref().or(self.old.as_deref())
    }

    /// Returns the kind; empty if it has none.
    pub fn kind(&self) -> &str {
        self.any().and_then(|it| it.get("kind")?.as_str()).unwrap_or_default()
    }

    /// Returns the value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.any()?.get("metadata")?.get("labels")?.get(key)?.as_str()
    }

    /// Returns the input `change` of rules.
    pub(crate) fn change_input(&self) -> Value {
        let fields: Vec<String> = self.fields.iter().map(ToString::to_string).collect();
        json!({"action": self.action, "fields": fields})
    }
}

/// What policies are evaluated on: a stack with its resources, and a plan for it.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The stack.
    pub stack: StackFacts,
    /// What is done: `check`, `apply`, `destroy`, `rollback` or `scan`.
    pub operation: &'static str,
    /// Who does it.
    pub actor: String,
    /// When.
    pub now: Moment,
    /// The resources.
    pub resources: Vec<SubjectResource<'a>>,
    /// The layers, as data.
    pub layers: Vec<Value>,
    /// The decisions about the plan.
    pub decisions: Vec<PolicyDecision>,
}

impl Subject<'_> {
    /// Returns the input `release` of rules.
    pub(crate) fn release_input(&self) -> Value {
        let changes: Vec<Value> = self
            .resources
            .iter()
            .filter(|it| it.action.is_change())
            .map(|it| {
                let mut change = it.change_input();
                change["id"] = it.id.as_str().into();
                change["kind"] = it.kind().into();
                change
            })
            .collect();
        let approvals: Vec<Value> = self
            .decisions
            .iter()
            .map(|it| json!({"role": it.role, "actor": it.actor, "reason": it.reason}))
            .collect();
        json!({"operation": self.operation, "changes": changes, "approvals": approvals})
    }
}

/// Returns a value with a text in the place of each sealed secret. Borrows it if there is none.
pub fn without_secrets(value: &Value) -> Cow<'_, Value> {
    if !has_secrets(value) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    hide(&mut value);
    Cow::Owned(value)
}

fn has_secrets(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_secrets),
        Value::Object(fields) => secret_hash(value).is_some() || fields.values().any(has_secrets),
        _ => false,
    }
}

fn hide(value: &mut Value) {
    if secret_hash(value).is_some() {
        *value = "(secret)".into();
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => fields.values_mut().for_each(hide),
        _ => {}
    }
}
