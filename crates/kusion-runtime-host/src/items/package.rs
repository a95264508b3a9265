//! `host:package`: an installed package.

use super::{Fields, Item, Kind, Situation, or_empty, set};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::hosts::is_plain;
use crate::script::Script;
use kusion_model::{FieldPath, Problem};
use kusion_runtime::RuntimeError;
use serde_json::Value;

/// The package managers.
const MANAGERS: [&str; 3] = ["apk", "apt", "dnf"];

pub(super) struct Package {
    name: String,
    version: Option<String>,
    manager: Option<String>,
}

impl Package {
    pub(super) fn parse(name: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let mut reader = Reader::new(attributes, &["manager", "version"]);
        if !is_plain(name, "+._:-") {
            let message = format!("invalid name of a package `{name}`");
            reader.problems.push(Problem::new(FieldPath::default(), message));
        }
        let package = Self {
            name: name.to_owned(),
            version: reader
                .text_if("version", "the version of a package", |it| is_plain(it, "+._:~^-")),
            manager: reader.text_if("manager", "apt, dnf or apk", |it| MANAGERS.contains(&it)),
        };
        (package, reader.problems)
    }
}

impl Item for Package {
    fn read(&self, script: &mut Script) {
        let manager = or_empty(self.manager.as_ref());
        script.call(Kind::Package, "read_package", &[&self.name, manager]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        if !answer.is("is", "installed") {
            return Ok(None);
        }
        let mut fields = Fields::new();
        set(&mut fields, "version", answer.text("version"));
        set(&mut fields, "manager", answer.text("manager"));
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = Fields::new();
        set(&mut fields, "version", self.version.clone());
        set(&mut fields, "manager", self.manager.clone());
        fields
    }

    fn apply(&self, script: &mut Script, _: Situation<'_>) {
        let (manager, version) = (or_empty(self.manager.as_ref()), or_empty(self.version.as_ref()));
        script.call(Kind::Package, "put_package", &[&self.name, manager, version]);
    }

    fn delete(&self, script: &mut Script, before: Option<&Fields>) {
        let manager = or_empty(self.manager.as_ref());
        // A package that was installed before stays.
        let function = if before.is_some() { "read_package" } else { "drop_package" };
        script.call(Kind::Package, function, &[&self.name, manager]);
    }
}
