//! The hosts of a stack.

use base_text::nearest;
use kusion_model::{FieldPath, Problem};
use serde_json::Value;
use std::collections::BTreeMap;

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name in ids of resources.
    pub name: String,
    /// The address for `ssh`: a host name, an IP address, or a `Host` of the user's configuration.
    pub address: String,
    /// The port; `None` for that of the user's configuration.
    pub port: Option<u16>,
    /// The user to log in as; `None` for that of the user's configuration.
    pub user: Option<String>,
    /// How scripts get the rights of another user.
    pub escalation: Escalation,
    /// Labels, for policies and people.
    pub labels: BTreeMap<String, String>,
    /// Whether it is the machine that runs this program; nothing is sent over a network.
    pub is_local: bool,
}

/// How scripts get the rights of another user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Escalation {
    /// Not at all.
    #[default]
    None,
    /// By `sudo -n`, which never asks for a password, as this user.
    Sudo(String),
}

/// The hosts of a stack, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(BTreeMap<String, Host>);

/// The fields of a host.
const FIELDS: [&str; 7] = ["address", "become", "connection", "labels", "name", "port", "user"];

impl Hosts {
    /// Reads a list of hosts.
    ///
    /// # Errors
    ///
    /// All problems, with their paths in the list.
    pub fn parse(list: &Value) -> Result<Self, Vec<Problem>> {
        let (mut hosts, mut problems) = (BTreeMap::new(), Vec::new());
        let root = FieldPath::default();
        let Some(items) = list.as_array() else {
            return Err(vec![Problem::new(root, "`hosts` must be a list of hosts")]);
        };
        for (index, item) in items.iter().enumerate() {
            let path = root.index(index);
            let Some(host) = read_host(item, &path, &mut problems) else { continue };
            if hosts.contains_key(&host.name) {
                let message = format!("host `{}` is listed twice", host.name);
                problems.push(Problem::new(path, message));
            } else {
                hosts.insert(host.name.clone(), host);
            }
        }
        if problems.is_empty() { Ok(Self(hosts)) } else { Err(problems) }
    }

    /// Returns a host.
    pub fn get(&self, name: &str) -> Option<&Host> {
        self.0.get(name)
    }

    /// Returns all hosts, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.0.values()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the message about a host that is not listed.
    pub(crate) fn unknown(&self, name: &str) -> String {
        match nearest(name, self.0.keys().map(String::as_str)) {
            Some(near) => format!("unknown host `{name}` (did you mean `{near}`?)"),
            None if self.0.is_empty() => {
                format!("unknown host `{name}`: the stack lists no hosts")
            }
            None => format!("unknown host `{name}`"),
        }
    }
}

impl FromIterator<Host> for Hosts {
    fn from_iter<I: IntoIterator<Item = Host>>(hosts: I) -> Self {
        Self(hosts.into_iter().map(|it| (it.name.clone(), it)).collect())
    }
}

impl Host {
    /// Creates a host that is reached by its name.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            address: name.clone(),
            name,
            port: None,
            user: None,
            escalation: Escalation::None,
            labels: BTreeMap::new(),
            is_local: false,
        }
    }
}

fn read_host(item: &Value, path: &FieldPath, problems: &mut Vec<Problem>) -> Option<Host> {
    let Some(fields) = item.as_object() else {
        problems.push(Problem::new(path.clone(), "a host must be a map with `name`"));
        return None;
    };
    let before = problems.len();
    let mut add = |field: &str, message: String| {
        problems.push(Problem::new(path.key(field), message));
    };
    for field in fields.keys().filter(|it| !FIELDS.contains(&it.as_str())) {
        let near = nearest(field, FIELDS);
        let hint = near.map(|it| format!(" (did you mean `{it}`?)")).unwrap_or_default();
        add(field, format!("unknown field `{field}` of a host{hint}"));
    }
    let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
    if !is_name(name) {
        add("name", "`name` of a host must have letters, digits, `.`, `_` and `-` only".to_owned());
    }
    let mut host = Host::new(name);
    if let Some(value) = fields.get("address") {
        match value.as_str().filter(|it| is_address(it)) {
            Some(address) => address.clone_into(&mut host.address),
            None => add("address", format!("`address` of host `{name}` is not a host name")),
        }
    }
    if let Some(value) = fields.get("port") {
        host.port = value.as_u64().and_then(|it| u16::try_from(it).ok()).filter(|it| *it > 0);
        if host.port.is_none() {
            add("port", format!("`port` of host `{name}` must be a number from 1 to 65535"));
        }
    }
    if let Some(value) = fields.get("user") {
        host.user = value.as_str().filter(|it| is_user(it)).map(str::to_owned);
        if host.user.is_none() {
            add("user", format!("`user` of host `{name}` is not the name of a user"));
        }
    }
    match fields.get("become") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => host.escalation = Escalation::Sudo("root".to_owned()),
        Some(Value::String(user)) if is_user(user) => {
            host.escalation = Escalation::Sudo(user.clone());
        }
        Some(_) => add(
            "become",
            format!("`become` of host `{name}` must be true, false or the name of a user"),
        ),
    }
    match fields.get("connection").map(Value::as_str) {
        None | Some(Some("ssh")) => {}
        Some(Some("local")) => host.is_local = true,
        Some(_) => {
            add("connection", format!("`connection` of host `{name}` must be `ssh` or `local`"));
        }
    }
    match fields.get("labels").map(read_labels) {
        None => {}
        Some(Some(labels)) => host.labels = labels,
        Some(None) => add("labels", format!("`labels` of host `{name}` must be a map of strings")),
    }
    (problems.len() == before).then_some(host)
}

fn read_labels(value: &Value) -> Option<BTreeMap<String, String>> {
    let fields = value.as_object()?.iter();
    fields.map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// Whether a text is a name of a host: part of ids, file names and messages.
fn is_name(text: &str) -> bool {
    text.len() <= 253 && is_plain(text, "._-")
}

/// Whether a text is an address: never an option, and without anything that `ssh` expands.
fn is_address(text: &str) -> bool {
    let is_v6 = || text.len() > 2 && is_plain(text.trim_start_matches(':'), ":.");
    text.len() <= 253 && (is_plain(text, "._-:") || text.starts_with("::") && is_v6())
}

/// Whether a text is the name of a user on the other side.
pub(crate) fn is_user(text: &str) -> bool {
    text.len() <= 32 && is_plain(text, "._-")
}

/// Whether a text has ASCII letters, digits and `more` only, and does not start with a sign other
/// than `_`.
pub(crate) fn is_plain(text: &str, more: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_are_read() {
        let list = json!([
            {"name": "web1", "address": "10.0.0.1", "port": 2222, "user": "deploy", "become": true,
             "labels": {"zone": "a"}},
            {"name": "here", "connection": "local", "become": "www-data"},
        ]);
        let hosts = Hosts::parse(&list).expect("hosts");
        let web = hosts.get("web1").expect("a host");
        assert_eq!((web.port, web.user.as_deref()), (Some(2222), Some("deploy")));
        assert_eq!(web.escalation, Escalation::Sudo("root".into()));
        assert!(hosts.get("here").is_some_and(|it| it.is_local && it.address == "here"));
        assert_eq!(hosts.unknown("web2"), "unknown host `web2` (did you mean `web1`?)");
    }

    #[test]
    fn nothing_of_a_host_can_be_an_option() {
        for (field, value) in [
            ("name", json!("-oProxyCommand=id")),
            ("name", json!("a:b")),
            ("name", json!("a/b")),
            ("address", json!("-oProxyCommand=id")),
            ("address", json!("user@host")),
            ("address", json!("a b")),
            ("address", json!("%h")),
            ("user", json!("-l")),
            ("user", json!("root;id")),
            ("port", json!(0)),
            ("port", json!("22")),
            ("become", json!("-u")),
            ("connection", json!("telnet")),
            ("labels", json!([1])),
            ("adress", json!("x")),
        ] {
            let mut host = json!({"name": "web1"});
            host[field] = value.clone();
            let problems = Hosts::parse(&json!([host])).expect_err(field);
            assert_eq!(problems.len(), 1, "{field} {value}: {problems:?}");
        }
        assert!(Hosts::parse(&json!([{"name": "a"}, {"name": "a"}])).is_err());
        assert!(Hosts::parse(&json!({})).is_err());
        assert!(Hosts::parse(&json!([{"name": "a", "address": "::1"}])).is_ok());
    }
}
