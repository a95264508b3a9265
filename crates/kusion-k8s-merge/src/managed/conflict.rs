//! Fields that other managers own with other values.

use super::entries::Entry;
use crate::set::Set;

/// One field that a manager owns with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The manager, as messages name it (`"kubectl" using apps/v1`).
    pub manager: String,
    /// The field (`.spec.replicas`).
    pub field: String,
}

impl Conflict {
    /// Returns the message of the cause that a `Status` has for this conflict.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// All conflicts of an apply, by manager; never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// The conflicts, those of one manager together.
    pub list: Vec<Conflict>,
}

impl std::fmt::Display for Conflicts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let [one] = self.list.as_slice() {
            let Conflict { manager, field } = one;
            return write!(f, "Apply failed with 1 conflict: conflict with {manager}: {field}");
        }
        write!(f, "Apply failed with {} conflicts: ", self.list.len())?;
        let mut last: Option<&str> = None;
        for conflict in &self.list {
            if last != Some(conflict.manager.as_str()) {
                if last.is_some() {
                    f.write_str("\n")?;
                }
                write!(f, "conflicts with {}:", conflict.manager)?;
                last = Some(&conflict.manager);
            }
            write!(f, "\n- {}", conflict.field)?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}

/// Lists conflicts as the server words them.
pub(crate) fn describe(mut found: Vec<(&Entry<'_>, Set<'_>)>) -> Conflicts {
    found.sort_by_cached_key(|(entry, _)| entry.identity());
    let mut list = Vec::new();
    for (entry, fields) in found {
        let manager = entry.shown();
        fields.for_each(&mut |path| {
            let field = path.iter().map(ToString::to_string).collect();
            list.push(Conflict { manager: manager.clone(), field });
        });
    }
    Conflicts { list }
}
