//! The kinds of resources on hosts: one file each.

mod command;
mod directory;
mod file;
mod package;
mod service;
mod user;

use crate::address::Address;
use crate::answer::Answer;
use crate::script::Script;
use kusion_model::{FieldPath, Health, Problem, Requirement};
use kusion_runtime::RuntimeError;
use serde_json::{Map, Value};

/// A kind of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Directory,
    Package,
    Service,
    User,
    Command,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::File, Self::Directory, Self::Package, Self::Service, Self::User, Self::Command];

    /// Returns the name in ids.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Package => "package",
            Self::Service => "service",
            Self::User => "user",
            Self::Command => "command",
        }
    }

    /// Returns the names of all kinds.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name)
    }

    /// Finds a kind by its name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the shell functions of the kind.
    pub(crate) fn functions(self) -> &'static str {
        match self {
            Self::File => include_str!("sh/file.sh"),
            Self::Directory => include_str!("sh/directory.sh"),
            Self::Package => include_str!("sh/package.sh"),
            Self::Service => include_str!("sh/service.sh"),
            Self::User => include_str!("sh/user.sh"),
            Self::Command => include_str!("sh/command.sh"),
        }
    }
}

/// Attributes by name.
pub(crate) type Fields = Map<String, Value>;

/// What a change starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// The live attributes; `None` if nothing exists, or nothing was read.
    pub(crate) live: Option<&'a Value>,
    /// What was remembered when the object was last changed; `None` for one that is not managed.
    pub(crate) remembered: Option<&'a Fields>,
    /// Whether the object is managed, and so must exist.
    pub(crate) is_managed: bool,
}

/// A resource of one kind.
pub(crate) trait Item: Send + Sync {
    /// Adds the call that reads the object.
    fn read(&self, script: &mut Script);

    /// Returns the live attributes by the answer to a read or a change; `None` if nothing exists.
    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError>;

    /// Returns the desired attributes that are set, in the form of live ones.
    fn desired(&self) -> Fields;

    /// Adds the call that creates or changes the object, and reads it.
    fn apply(&self, script: &mut Script, situation: Situation<'_>);

    /// Adds the call that deletes the object, or restores what was before.
    fn delete(&self, script: &mut Script, before: Option<&Fields>);

    /// Returns the names of attributes that the host does not know: they are remembered.
    fn remembered_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the names of secret attributes, desired and live.
    fn secret_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether an object that exists before it is managed is remembered, to be restored.
    fn remembers_before(&self) -> bool {
        true
    }

    /// Returns the directory that must exist, if there is one.
    fn parent(&self) -> Option<String> {
        None
    }

    /// Returns the health of a live object.
    fn health(&self, _live: &Value) -> Health {
        Health::ready("it exists")
    }
}

/// Reads a resource. The item can be used for reads and deletions even if there are problems.
pub(crate) fn parse(address: &Address, attributes: &Value) -> (Box<dyn Item>, Vec<Problem>) {
    let name = address.name.as_str();
    match address.kind {
        Kind::File => boxed(file::File::parse(name, attributes)),
        Kind::Directory => boxed(directory::Directory::parse(name, attributes)),
        Kind::Package => boxed(package::Package::parse(name, attributes)),
        Kind::Service => boxed(service::Service::parse(name, attributes)),
        Kind::User => boxed(user::User::parse(name, attributes)),
        Kind::Command => boxed(command::Command::parse(name, attributes)),
    }
}

fn boxed<I: Item + 'static>((item, problems): (I, Vec<Problem>)) -> (Box<dyn Item>, Vec<Problem>) {
    (Box::new(item), problems)
}

/// Returns the requirement of a directory on a host.
pub(crate) fn directory_on(host: &str, path: &str) -> Requirement {
    Requirement::new("directory", format!("{host}:{path}"))
}

/// Returns the directory of a path.
fn parent_of(path: &str) -> Option<String> {
    let (parent, _) = path.rsplit_once('/')?;
    Some(if parent.is_empty() { "/".to_owned() } else { parent.to_owned() })
}

/// Returns the problem of a path, if it is not an absolute one in its shortest form.
fn path_problem(path: &str) -> Option<Problem> {
    let is_plain = path.starts_with('/')
        && path.len() > 1
        && path[1..].split('/').all(|it| !matches!(it, "" | "." | ".."));
    let message = format!(
        "invalid path `{path}`: expected an absolute path without `.`, `..`, `//` and a `/` at the end"
    );
    (!is_plain).then(|| Problem::new(FieldPath::default(), message))
}

/// Returns the error of an object that is of another kind than expected.
fn other_kind(path: &str, found: &str) -> RuntimeError {
    let found = match found {
        "link" => "a symbolic link",
        "directory" => "a directory",
        "large" => "a file of more than 4 MiB",
        _ => "neither a file nor a directory",
    };
    RuntimeError::Invalid(format!("`{path}` is {found}"))
}

/// Adds mode, owner and group of an answer to live attributes.
fn add_owner(fields: &mut Fields, answer: &Answer) {
    if let Some(mode) = answer.text("mode").and_then(crate::attributes::octal) {
        fields.insert("mode".to_owned(), mode.into());
    }
    for name in ["owner", "group"] {
        if let Some(text) = answer.text(name) {
            fields.insert(name.to_owned(), text.into());
        }
    }
}

/// Adds attributes that are set.
fn set(fields: &mut Fields, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Returns an optional text as an argument: empty if it is not set.
fn or_empty(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}

fn yes_no(flag: Option<bool>) -> &'static str {
    match flag {
        None => "",
        Some(true) => "yes",
        Some(false) => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_plain() {
        assert!(path_problem("/etc/motd").is_none() && path_problem("/a b/'c").is_none());
        for wrong in ["", "/", "etc", "/etc/", "/a//b", "/a/../b", "/./a"] {
            assert!(path_problem(wrong).is_some(), "{wrong}");
        }
        assert_eq!(parent_of("/a/b").as_deref(), Some("/a"));
        assert_eq!(parent_of("/a").as_deref(), Some("/"));
    }
}
