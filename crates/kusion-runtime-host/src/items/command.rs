//! `host:command`: commands that check, apply and undo something.

use super::{Fields, Item, Kind, Situation, or_empty, set};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::error::printable;
use crate::script::Script;
use kusion_model::Problem;
use kusion_runtime::RuntimeError;
use serde_json::Value;

pub(super) struct Command {
    /// Succeeds if nothing is to be done.
    check: Option<String>,
    apply: Option<String>,
    undo: Option<String>,
    /// The command runs again when one of these texts changes.
    triggers: Option<Vec<String>>,
    is_sensitive: bool,
}

impl Command {
    pub(super) fn parse(_: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let names = ["apply", "check", "sensitive", "triggers", "undo"];
        let mut reader = Reader::new(attributes, &names);
        let command = Self {
            check: reader.text("check"),
            apply: reader.text("apply"),
            undo: reader.text("undo"),
            triggers: reader.texts("triggers"),
            is_sensitive: reader.flag("sensitive").unwrap_or_default(),
        };
        if command.check.is_none() && reader.problems.is_empty() {
            let message = "`check` is required: a command that succeeds if nothing is to be done";
            reader.add("check", message);
        }
        if command.apply.is_none() && reader.problems.is_empty() {
            reader.add("apply", "`apply` is required: the command to run");
        }
        (command, reader.problems)
    }
}

impl Item for Command {
    fn read(&self, script: &mut Script) {
        script.call(Kind::Command, "check_command", &[or_empty(self.check.as_ref())]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        if let Some(code) = answer.text("code") {
            let tail = String::from_utf8_lossy(answer.bytes("tail").unwrap_or_default());
            let line = tail.lines().rev().map(str::trim).find(|it| !it.is_empty());
            // What it printed may be a part of a secret.
            let line = line.filter(|_| !self.is_sensitive);
            let line = line.map(|it| format!(": {}", printable(it))).unwrap_or_default();
            let message = format!("the command failed with exit code {}{line}", printable(code));
            return Err(RuntimeError::Invalid(message));
        }
        if !answer.is("is", "done") {
            return Ok(None);
        }
        let mut fields = Fields::new();
        let output = answer.bytes("output").map(String::from_utf8_lossy);
        set(&mut fields, "output", output.map(std::borrow::Cow::into_owned));
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = Fields::new();
        set(&mut fields, "check", self.check.clone());
        set(&mut fields, "apply", self.apply.clone());
        set(&mut fields, "undo", self.undo.clone());
        set(&mut fields, "triggers", self.triggers.clone());
        fields
    }

    fn apply(&self, script: &mut Script, situation: Situation<'_>) {
        let desired = self.desired();
        let is_changed = situation.remembered.is_some_and(|old| {
            ["apply", "triggers"].iter().any(|name| old.get(*name) != desired.get(*name))
        });
        let force = if is_changed { "force" } else { "check" };
        let arguments = [or_empty(self.apply.as_ref()), or_empty(self.check.as_ref()), force];
        script.call(Kind::Command, "run_command", &arguments);
    }

    fn delete(&self, script: &mut Script, before: Option<&Fields>) {
        let undo = if before.is_some() { "" } else { or_empty(self.undo.as_ref()) };
        script.call(Kind::Command, "run_command", &[undo, "", "force"]);
    }

    fn remembered_names(&self) -> &'static [&'static str] {
        &["apply", "check", "triggers", "undo"]
    }

    fn secret_names(&self) -> &'static [&'static str] {
        if self.is_sensitive { &["apply", "check", "output", "undo"] } else { &[] }
    }
}
