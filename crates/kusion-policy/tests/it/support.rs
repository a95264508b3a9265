//! An evaluator whose rules are closures.

use kusion_cells::{Axes, Axis};
use kusion_model::{Action, ResourceId};
use kusion_policy::{
    CellFacts, Evaluator, Found, Moment, PolicySet, RuleError, StackFacts, Subject,
    SubjectResource, check,
};
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(crate) type Rule = fn(&Value) -> Result<Value, String>;

/// Rules by the name of their policy.
pub(crate) struct Rules<'a> {
    pub(crate) set: &'a PolicySet,
    pub(crate) rules: &'a [(&'a str, Rule)],
}

impl Evaluator for Rules<'_> {
    type Input = Value;

    fn input(&mut self, data: &Value) -> Value {
        data.clone()
    }

    fn map(&mut self, entries: &[(&str, Value)]) -> Value {
        let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        Value::Object(entries.collect::<Map<_, _>>())
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::Array(items)
    }

    fn call(&mut self, policy: usize, input: &Value) -> Result<Value, RuleError> {
        let name = &self.set.policies[policy].name;
        let rule = self.rules.iter().find(|(known, _)| known == name).expect("a rule").1;
        rule(input).map_err(|message| RuleError { message })
    }
}

pub(crate) fn set(data: &Value) -> PolicySet {
    PolicySet::read(data, &|path| path.last() == Some(&"find") && has_map(data, path))
        .expect("policies")
}

/// Whether the map before the last key has a setting, and so is meant to be a policy.
pub(crate) fn has_map(data: &Value, path: &[&str]) -> bool {
    let map = path[..path.len() - 1].iter().try_fold(data, |value, key| value.get(key));
    map.is_some_and(|it| it.get("level").is_some())
}

pub(crate) fn resource(id: &str, value: Value, action: Action) -> SubjectResource<'static> {
    let desired = (action != Action::Delete).then(|| Cow::Owned(value.clone()));
    let old = matches!(action, Action::Delete | Action::Update).then_some(Cow::Owned(value));
    SubjectResource { id: ResourceId::new(id), desired, old, action, fields: Vec::new() }
}

pub(crate) fn subject(resources: Vec<SubjectResource<'static>>) -> Subject<'static> {
    Subject {
        stack: StackFacts {
            project: "shop".to_owned(),
            stack: "web".to_owned(),
            place: "main".to_owned(),
            owner: None,
            cell: None,
        },
        operation: "apply",
        actor: "ann".to_owned(),
        now: Moment { millis: 1_796_083_509_000 },
        resources,
        layers: Vec::new(),
        decisions: Vec::new(),
    }
}

pub(crate) fn prod() -> CellFacts {
    let values = vec!["dev".to_owned(), "prod".to_owned()];
    let axis = Axis { name: "env".to_owned(), values, groups: std::collections::BTreeMap::new() };
    let axes = Axes::new(vec![axis]).expect("axes");
    let selector = kusion_cells::Selector::parse(&axes, "env=prod").expect("a selector");
    let cell = selector.cells().next().expect("a cell");
    CellFacts { axes, cell }
}

/// Evaluates policies and returns their findings as `level policy resource: message`.
pub(crate) fn found(data: &Value, rules: &[(&str, Rule)], subject: &Subject<'_>) -> Vec<String> {
    let set = set(data);
    let all = check(&set, &mut Rules { set: &set, rules }, subject).expect("findings");
    all.iter().map(line).collect()
}

fn line(found: &Found) -> String {
    let it = &found.finding;
    let id = it.resource.as_ref().map_or("-", ResourceId::as_str);
    let exception = it.exception.as_ref().map_or(String::new(), |it| format!(" [{}]", it.owner));
    format!("{} {} {id}: {}{exception}", it.level, it.policy, it.message)
}
