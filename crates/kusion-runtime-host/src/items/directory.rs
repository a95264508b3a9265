//! `host:directory`: a directory, without what is inside.

use super::{
    Fields, Item, Kind, Situation, add_owner, or_empty, other_kind, parent_of, path_problem, set,
};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::hosts::is_user;
use crate::script::Script;
use kusion_model::Problem;
use kusion_runtime::RuntimeError;
use serde_json::Value;

pub(super) struct Directory {
    path: String,
    mode: Option<String>,
    owner: Option<String>,
    group: Option<String>,
}

impl Directory {
    pub(super) fn parse(name: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let mut reader = Reader::new(attributes, &["group", "mode", "owner"]);
        reader.problems.extend(path_problem(name));
        let directory = Self {
            path: name.to_owned(),
            mode: reader.mode(),
            owner: reader.text_if("owner", "the name of a user", is_user),
            group: reader.text_if("group", "the name of a group", is_user),
        };
        (directory, reader.problems)
    }
}

impl Item for Directory {
    fn read(&self, script: &mut Script) {
        script.call(Kind::Directory, "read_directory", &[&self.path]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        match answer.text("is") {
            Some("absent") => return Ok(None),
            Some("directory") => {}
            found => return Err(other_kind(&self.path, found.unwrap_or_default())),
        }
        let mut fields = Fields::new();
        add_owner(&mut fields, answer);
        fields.insert("path".to_owned(), self.path.as_str().into());
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = Fields::new();
        set(&mut fields, "mode", self.mode.clone());
        set(&mut fields, "owner", self.owner.clone());
        set(&mut fields, "group", self.group.clone());
        fields
    }

    fn apply(&self, script: &mut Script, situation: Situation<'_>) {
        let known = if situation.is_managed { "known" } else { "new" };
        let mode = or_empty(self.mode.as_ref());
        let (owner, group) = (or_empty(self.owner.as_ref()), or_empty(self.group.as_ref()));
        let arguments = [&*self.path, mode, owner, group, known];
        script.call(Kind::Directory, "put_directory", &arguments);
    }

    fn delete(&self, script: &mut Script, before: Option<&Fields>) {
        let Some(before) = before else {
            return script.call(Kind::Directory, "drop_directory", &[&self.path]);
        };
        let old = |name: &str| before.get(name).and_then(Value::as_str).unwrap_or_default();
        let arguments = [&*self.path, old("mode"), old("owner"), old("group"), "known"];
        script.call(Kind::Directory, "put_directory", &arguments);
    }

    fn parent(&self) -> Option<String> {
        parent_of(&self.path)
    }
}
