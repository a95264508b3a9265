//! Changes of resources as pure functions: which state a configuration asks for, and whether a
//! provider keeps the rules when it plans and makes a change.

mod check;
mod proposed;
#[cfg(test)]
mod tests;

pub use check::{check_applied, check_planned};
pub use proposed::proposed_new;

use kusion_cty::{Path, Value};

/// Returns the attributes that really change among those whose change needs a new object. Providers
/// also name attributes that stay the same.
pub fn changed_paths(paths: &[Path], prior: &Value, planned: &Value) -> Vec<Path> {
    let is_changed = |path: &&Path| match (path.find(prior), path.find(planned)) {
        (Some(before), Some(after)) => before != after || !after.is_wholly_known(),
        (None, None) => false,
        _ => true,
    };
    paths.iter().filter(is_changed).cloned().collect()
}
