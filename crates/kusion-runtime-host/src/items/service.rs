//! `host:service`: a service that runs, and starts with the system.

use super::{Fields, Item, Kind, Situation, or_empty, set, yes_no};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::hosts::is_plain;
use crate::script::Script;
use kusion_model::{FieldPath, Health, Problem};
use kusion_runtime::RuntimeError;
use serde_json::Value;

/// The service managers.
const MANAGERS: [&str; 3] = ["runit", "systemd", "sysvinit"];

pub(super) struct Service {
    name: String,
    is_running: Option<bool>,
    is_enabled: Option<bool>,
    manager: Option<String>,
    /// The service restarts when one of these texts changes.
    triggers: Option<Vec<String>>,
}

impl Service {
    pub(super) fn parse(name: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let mut reader = Reader::new(attributes, &["enabled", "manager", "running", "triggers"]);
        if !is_plain(name, "+._:@-") {
            let message = format!("invalid name of a service `{name}`");
            reader.problems.push(Problem::new(FieldPath::default(), message));
        }
        let service = Self {
            name: name.to_owned(),
            is_running: reader.flag("running"),
            is_enabled: reader.flag("enabled"),
            manager: reader
                .text_if("manager", "systemd, runit or sysvinit", |it| MANAGERS.contains(&it)),
            triggers: reader.texts("triggers"),
        };
        (service, reader.problems)
    }

    fn put(&self, script: &mut Script, enabled: Option<bool>, running: Option<bool>, more: &str) {
        let manager = or_empty(self.manager.as_ref());
        let arguments = [&*self.name, manager, yes_no(enabled), yes_no(running), more];
        script.call(Kind::Service, "put_service", &arguments);
    }
}

impl Item for Service {
    fn read(&self, script: &mut Script) {
        let manager = or_empty(self.manager.as_ref());
        script.call(Kind::Service, "read_service", &[&self.name, manager]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        if !answer.is("is", "service") {
            return Ok(None);
        }
        let mut fields = Fields::new();
        fields.insert("running".to_owned(), answer.is("running", "yes").into());
        fields.insert("enabled".to_owned(), answer.is("enabled", "yes").into());
        set(&mut fields, "manager", answer.text("manager"));
        set(&mut fields, "status", answer.text("detail"));
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = Fields::new();
        set(&mut fields, "running", self.is_running);
        set(&mut fields, "enabled", self.is_enabled);
        set(&mut fields, "manager", self.manager.clone());
        set(&mut fields, "triggers", self.triggers.clone());
        fields
    }

    fn apply(&self, script: &mut Script, situation: Situation<'_>) {
        let old = situation.remembered.and_then(|it| it.get("triggers")).cloned();
        let new = self.triggers.clone().map(Value::from);
        let more = if new.is_some() && new != old { "restart" } else { "" };
        self.put(script, self.is_enabled, self.is_running, more);
    }

    fn delete(&self, script: &mut Script, before: Option<&Fields>) {
        let old = |name: &str| before.and_then(|it| it.get(name)).and_then(Value::as_bool);
        let was = |name: &str, set: Option<bool>| set.map(|_| old(name).unwrap_or_default());
        let running = was("running", self.is_running);
        self.put(script, was("enabled", self.is_enabled), running, "");
    }

    fn remembered_names(&self) -> &'static [&'static str] {
        &["triggers"]
    }

    fn health(&self, live: &Value) -> Health {
        let status = live.get("status").and_then(Value::as_str).unwrap_or_default();
        let is_running = live.get("running") == Some(&Value::Bool(true));
        match (self.is_running, is_running, status) {
            (Some(true), false, "failed") => Health::failed("Failed", "the service failed"),
            (Some(true), false, _) => Health::progressing("the service does not run yet"),
            (_, true, _) => Health::ready("the service runs"),
            (_, false, _) => Health::ready("the service does not run"),
        }
    }
}
