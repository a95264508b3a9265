//! Whether a provider keeps its word: a plan follows the configuration, and a change follows its
//! plan.

use crate::schema::{Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting};
use kusion_cty::{Path, Step, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns what a planned state breaks: it must have the configured values, or the prior ones where
/// a configured value means the same; only attributes that the provider sets may have others.
pub fn check_planned(block: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<String> {
    let mut check = Check::default();
    match (config.is_null(), planned.is_null()) {
        (true, true) => {}
        (true, false) => check.add(&Path::default(), "planned, but not configured"),
        (false, true) => check.add(&Path::default(), "configured, but not planned"),
        (false, false) => check.block(block, prior, config, planned, &Path::default()),
    }
    check.found
}

/// Returns what a new state breaks: everything that was known in the plan must be as planned, and
/// nothing may be unknown.
pub fn check_applied(block: &Block, planned: &Value, actual: &Value) -> Vec<String> {
    let mut check = Check::default();
    match (planned.is_null(), actual.is_null()) {
        (true, true) => {}
        (true, false) => check.add(&Path::default(), "planned to be absent, but present"),
        (false, true) => check.add(&Path::default(), "planned to be present, but absent"),
        (false, false) => check.applied_block(block, planned, actual, &Path::default()),
    }
    check.found
}

#[derive(Default)]
struct Check {
    found: Vec<String>,
}

impl Check {
    /// Notes a finding, without values: they may be secret.
    fn add(&mut self, path: &Path, what: &str) {
        let subject =
            if path.0.is_empty() { "the resource".to_owned() } else { format!("`{path}`") };
        self.found.push(format!("{subject} is {what}"));
    }

    fn block(
        &mut self,
        block: &Block,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        self.attributes(&block.attributes, prior, config, planned, path);
        for (name, nested) in &block.blocks {
            let (prior, config) = (prior.get(name), config.get(name));
            self.nested_block(nested, prior, config, planned.get(name), &path.attribute(name));
        }
    }

    fn nested_block(
        &mut self,
        nested: &NestedBlock,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        // Nothing can be said about blocks that are not known yet.
        if config.is_unknown() || planned == config {
            return;
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => match (config.is_null(), planned.is_null()) {
                (true, true) => {}
                (true, false) => self.add(path, "planned, but not configured"),
                (false, true) => self.add(path, "configured, but not planned"),
                (false, false) => self.block(&nested.block, prior, config, planned, path),
            },
            nesting => {
                let block = &nested.block;
                self.objects(
                    nesting,
                    prior,
                    config,
                    planned,
                    path,
                    &mut |check, prior, config, planned, path| {
                        check.block(block, prior, config, planned, path);
                    },
                );
            }
        }
    }

    /// Checks objects by index or key; those of a set only by their number.
    fn objects(
        &mut self,
        nesting: Nesting,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
        inside: &mut dyn FnMut(&mut Self, &Value, &Value, &Value, &Path),
    ) {
        match (nesting, config, planned) {
            (Nesting::List, Value::List(config), Value::List(planned)) => {
                if config.len() != planned.len() {
                    return self.add(path, "planned with another number of elements");
                }
                for (index, (config, planned)) in config.iter().zip(planned).enumerate() {
                    let prior = prior.items().and_then(|it| it.get(index)).unwrap_or(&Value::Null);
                    inside(self, prior, config, planned, &path.with(Step::Index(index)));
                }
            }
            (Nesting::Map, Value::Map(config), Value::Map(planned)) => {
                if !config.keys().eq(planned.keys()) {
                    return self.add(path, "planned with other keys");
                }
                for (key, config) in config {
                    let planned = planned.get(key).unwrap_or(&Value::Null);
                    let prior = prior.fields().and_then(|it| it.get(key)).unwrap_or(&Value::Null);
                    inside(self, prior, config, planned, &path.with(Step::Key(key.clone())));
                }
            }
            (Nesting::Set, Value::List(config), Value::List(planned)) => {
                if config.len() != planned.len() {
                    self.add(path, "planned with another number of elements");
                }
            }
            _ => self.add(path, "planned as another kind of value"),
        }
    }

    fn attributes(
        &mut self,
        attributes: &BTreeMap<Arc<str>, Attribute>,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        for (name, attribute) in attributes {
            let (prior, config) = (prior.get(name), config.get(name));
            self.attribute(attribute, prior, config, planned.get(name), &path.attribute(name));
        }
    }

    fn attribute(
        &mut self,
        attribute: &Attribute,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        if attribute.is_write_only {
            if !planned.is_null() {
                self.add(path, "write-only, but planned");
            }
            return;
        }
        // A provider may keep the prior value, if the configured one means the same.
        let is_kept = planned == prior && !prior.is_null() && !config.is_null();
        if planned == config || is_kept || attribute.is_computed && config.is_null() {
            return;
        }
        match &attribute.kind {
            AttributeKind::Nested(nested) if !config.is_null() && !config.is_unknown() => {
                self.nested_attribute(nested, prior, config, planned, path);
            }
            _ if config.is_null() => self.add(path, "planned, but not configured"),
            // A whole value may become known in parts.
            _ if is_compatible(config, planned) => {}
            _ => self.add(path, "planned with another value than the configured one"),
        }
    }

    fn nested_attribute(
        &mut self,
        nested: &NestedAttributes,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        let attributes = &nested.attributes;
        match nested.nesting {
            Nesting::Single | Nesting::Group => match planned {
                Value::Map(_) => self.attributes(attributes, prior, config, planned, path),
                _ => self.add(path, "configured, but not planned"),
            },
            nesting => {
                self.objects(
                    nesting,
                    prior,
                    config,
                    planned,
                    path,
                    &mut |check, prior, config, planned, path| {
                        check.attributes(attributes, prior, config, planned, path);
                    },
                );
            }
        }
    }

    fn applied_block(&mut self, block: &Block, planned: &Value, actual: &Value, path: &Path) {
        for (name, attribute) in &block.attributes {
            let path = path.attribute(name);
            let (planned, actual) = (planned.get(name), actual.get(name));
            if attribute.is_write_only {
                if !actual.is_null() {
                    self.add(&path, "write-only, but in the new state");
                }
            } else {
                self.applied_value(planned, actual, &path);
            }
        }
        for (name, nested) in &block.blocks {
            let path = path.attribute(name);
            self.applied_nested(nested, planned.get(name), actual.get(name), &path);
        }
    }

    fn applied_nested(
        &mut self,
        nested: &NestedBlock,
        planned: &Value,
        actual: &Value,
        path: &Path,
    ) {
        match (nested.nesting, planned, actual) {
            (_, planned, _) if planned.is_unknown() => {}
            (Nesting::Single | Nesting::Group, Value::Map(_), Value::Map(_)) => {
                self.applied_block(&nested.block, planned, actual, path);
            }
            (Nesting::List, Value::List(planned), Value::List(actual)) => {
                if planned.len() != actual.len() {
                    return self.add(path, "another number of elements than planned");
                }
                for (index, (planned, actual)) in planned.iter().zip(actual).enumerate() {
                    let path = path.with(Step::Index(index));
                    self.applied_block(&nested.block, planned, actual, &path);
                }
            }
            (Nesting::Set, Value::List(planned), Value::List(actual)) => {
                // Elements may turn out to be equal, but none may be added.
                let has =
                    |all: &[Value], is_match: &dyn Fn(&Value) -> bool| all.iter().any(is_match);
                let is_kept = actual.len() <= planned.len()
                    && planned.iter().all(|a| has(actual, &|b| is_compatible(a, b)))
                    && actual.iter().all(|b| has(planned, &|a| is_compatible(a, b)));
                if !is_kept {
                    self.add(path, "not as planned");
                }
            }
            _ => self.applied_value(planned, actual, path),
        }
    }

    fn applied_value(&mut self, planned: &Value, actual: &Value, path: &Path) {
        if !actual.is_wholly_known() {
            self.add(path, "still unknown");
        } else if !is_compatible(planned, actual) {
            self.add(path, "not as planned");
        }
    }
}

/// Returns whether a value can be what an earlier one, with unknown parts, became.
pub(super) fn is_compatible(planned: &Value, actual: &Value) -> bool {
    match (planned, actual) {
        (Value::Unknown(Some(limits)), actual) => {
            limits.is_null != Some(false) || !actual.is_null()
        }
        (Value::Unknown(None), _) => true,
        (Value::Typed(planned), Value::Typed(actual)) => {
            is_compatible(&planned.value, &actual.value)
        }
        (Value::Map(planned), Value::Map(actual)) => {
            planned.keys().eq(actual.keys())
                && planned.values().zip(actual.values()).all(|(a, b)| is_compatible(a, b))
        }
        (Value::List(planned), Value::List(actual)) => {
            planned.len() == actual.len() && are_compatible(planned, actual)
        }
        _ => planned == actual,
    }
}

/// Compares lists in order, and sets, whose order may change as values become known, by any order.
fn are_compatible(planned: &[Value], actual: &[Value]) -> bool {
    let in_order = planned.iter().zip(actual).all(|(a, b)| is_compatible(a, b));
    if in_order || planned.iter().all(Value::is_wholly_known) {
        return in_order;
    }
    let mut is_used = vec![false; actual.len()];
    planned.iter().all(|planned| {
        let found =
            (0..actual.len()).find(|it| !is_used[*it] && is_compatible(planned, &actual[*it]));
        found.inspect(|index| is_used[*index] = true).is_some()
    })
}
