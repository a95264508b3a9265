//! Which policies are for which stacks and resources.

use crate::policy::{Policy, PolicyError};
use crate::subject::{StackFacts, SubjectResource};
use kusion_cells::Selector;
use kusion_plan::is_match;

/// Whether a policy is for a stack.
pub(crate) fn is_for_stack(policy: &Policy, stack: &StackFacts) -> Result<bool, PolicyError> {
    Ok(is_any(policy.projects(), &stack.project)
        && is_any(policy.stacks(), &stack.stack)
        && is_in_cells(policy.cells(), stack, policy.path()[0])?)
}

/// Whether a policy is for a kind of resources.
pub(crate) fn is_for_kind(policy: &Policy, kind: &str) -> bool {
    is_any(policy.kinds(), kind)
}

/// Whether a resource has the labels that a policy is for.
pub(crate) fn has_labels(policy: &Policy, resource: &SubjectResource<'_>) -> bool {
    let labels = policy.labels();
    labels.is_empty()
        || labels
            .iter()
            .all(|(key, value)| resource.label(key).is_some_and(|found| is_match(value, found)))
}

/// Whether one of the patterns matches, or there is none.
pub(crate) fn is_any(patterns: &[String], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|it| is_match(it, text))
}

/// Whether the cell of a stack is selected. A stack without cells is in no selector.
pub(crate) fn is_in_cells(
    selector: Option<&str>,
    stack: &StackFacts,
    variable: &str,
) -> Result<bool, PolicyError> {
    let Some(text) = selector else { return Ok(true) };
    let Some(cell) = &stack.cell else { return Ok(false) };
    let selector = Selector::parse(&cell.axes, text)
        .map_err(|error| PolicyError::new(variable, format!("`cells` of `{variable}`: {error}")))?;
    Ok(selector.contains(&cell.cell))
}
