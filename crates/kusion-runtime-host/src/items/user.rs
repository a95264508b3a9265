//! `host:user`: a user of the system.

use super::{Fields, Item, Kind, Situation, or_empty, path_problem, set};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::hosts::is_user;
use crate::script::Script;
use kusion_model::{FieldPath, Problem};
use kusion_runtime::RuntimeError;
use serde_json::Value;

pub(super) struct User {
    name: String,
    uid: Option<u64>,
    home: Option<String>,
    shell: Option<String>,
    group: Option<String>,
    /// All other groups, sorted.
    groups: Option<Vec<String>>,
    is_system: bool,
}

impl User {
    pub(super) fn parse(name: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let names = ["group", "groups", "home", "shell", "system", "uid"];
        let mut reader = Reader::new(attributes, &names);
        if !is_user(name) {
            let message = format!("invalid name of a user `{name}`");
            reader.problems.push(Problem::new(FieldPath::default(), message));
        }
        let is_path = |it: &str| path_problem(it).is_none() && !it.contains([':', '\n']);
        let mut groups = reader.texts("groups");
        if groups.as_ref().is_some_and(|it| !it.iter().all(|it| is_user(it))) {
            reader.add("groups", "invalid `groups`: expected names of groups");
            groups = None;
        }
        let user = Self {
            name: name.to_owned(),
            uid: reader.number("uid"),
            home: reader.text_if("home", "an absolute path", is_path),
            shell: reader.text_if("shell", "an absolute path", is_path),
            group: reader.text_if("group", "the name of a group", is_user),
            groups: groups.map(sorted),
            is_system: reader.flag("system").unwrap_or_default(),
        };
        (user, reader.problems)
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names
}

impl Item for User {
    fn read(&self, script: &mut Script) {
        script.call(Kind::User, "read_user", &[&self.name]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        if !answer.is("is", "user") {
            return Ok(None);
        }
        let mut fields = Fields::new();
        set(&mut fields, "uid", answer.text("uid").and_then(|it| it.parse::<u64>().ok()));
        for name in ["home", "shell", "group"] {
            set(&mut fields, name, answer.text(name));
        }
        let main = answer.text("group").unwrap_or_default();
        let groups = answer.text("groups").unwrap_or_default().split_whitespace();
        let groups = groups.filter(|it| *it != main).map(str::to_owned).collect();
        fields.insert("groups".to_owned(), sorted(groups).into());
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = Fields::new();
        set(&mut fields, "uid", self.uid);
        set(&mut fields, "home", self.home.clone());
        set(&mut fields, "shell", self.shell.clone());
        set(&mut fields, "group", self.group.clone());
        set(&mut fields, "groups", self.groups.clone());
        fields
    }

    fn apply(&self, script: &mut Script, situation: Situation<'_>) {
        let uid = self.uid.map(|it| it.to_string()).unwrap_or_default();
        let groups = self.groups.clone().unwrap_or_default();
        let live = situation.live.and_then(|it| it.get("groups"));
        let is_set = self.groups.is_some() && live != Some(&Value::from(groups.clone()));
        let arguments = [
            &*self.name,
            &uid,
            or_empty(self.home.as_ref()),
            or_empty(self.shell.as_ref()),
            or_empty(self.group.as_ref()),
            &groups.join(","),
            if is_set { "set" } else { "keep" },
            if self.is_system { "yes" } else { "no" },
        ];
        script.call(Kind::User, "put_user", &arguments);
    }

    fn delete(&self, script: &mut Script, before: Option<&Fields>) {
        // A user that existed before stays.
        let function = if before.is_some() { "read_user" } else { "drop_user" };
        script.call(Kind::User, function, &[&self.name]);
    }
}
