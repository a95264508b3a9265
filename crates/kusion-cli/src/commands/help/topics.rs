//! The texts of the help topics.

use std::fmt::Write as _;

/// Declares topics by name; the text of each is in `topics/NAME.txt`.
macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        /// Names of the topics, in the order in which people need them.
        pub(in crate::commands) const NAMES: &[&str] = &[$($name),*];

        /// Returns the text of a topic.
        pub(in crate::commands) fn find(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("topics/", $name, ".txt"))),)*
                _ => None,
            }
        }
    };
}

topics!(
    "stacks",
    "clusters",
    "sandboxes",
    "plans",
    "owners",
    "guards",
    "waiting",
    "releases",
    "backends",
    "secrets",
    "repositories",
    "exit-codes",
    "json",
    "environment",
);

/// Returns the list of topics, each with the first line of its text.
pub(super) fn list() -> String {
    let mut text = String::from("Topics, shown by `kusion help TOPIC`:\n\n");
    for name in NAMES {
        let title = find(name).and_then(|it| it.lines().next()).unwrap_or_default();
        let _ = writeln!(text, "  {name:<12} {title}");
    }
    text.push_str("\n`kusion help COMMAND` shows the options of a command.\n");
    text
}
