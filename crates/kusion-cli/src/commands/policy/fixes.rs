//! Policies that change Specs before a plan is made.

use crate::failure::Failure;
use crate::view::View;
use crate::view::style::one_line;
use base_system::OsSystem;
use kusion_app::policies::{actor, now};
use kusion_generate::{Compiled, RepositoryPolicies, fix_spec};

/// Changes Specs as policies of the level `fix` say, and tells what was changed. The plan shows the
/// changes.
pub(crate) fn fix_all(view: &View, compiled: &mut [Compiled]) -> Result<(), Failure> {
    for stack in compiled {
        let policies = RepositoryPolicies::of_stack(&OsSystem, &stack.stack)?;
        if policies.is_empty() {
            continue;
        }
        for fixed in fix_spec(&OsSystem, &policies, stack, &actor(), now())? {
            let (policy, id, path) = (&fixed.policy, &fixed.id, &fixed.path);
            let text = format!("policy `{policy}` sets `{path}` of {id} to {}", fixed.value);
            view.notice(&one_line(&text));
        }
    }
    Ok(())
}
