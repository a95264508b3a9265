//! Policies of repositories: KCL files in folders named `policies`.

mod admission;
mod evaluator;
mod fix;
mod folder;
mod subject;
mod test;

pub use fix::{FixedField, fix_spec};
pub use folder::{PolicyFolder, RepositoryPolicies};
pub use subject::{check_subject, layer_inputs, plain_resource, stack_facts};
pub use test::{CaseOutcome, RuleCoverage, TestReport, run_tests};
