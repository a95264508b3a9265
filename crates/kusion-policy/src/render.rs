//! Findings in the forms of other tools, as data or text.

mod junit;
mod policy_report;
mod sarif;

pub use junit::junit;
pub use policy_report::policy_report;
pub use sarif::sarif;

use kusion_model::PolicyFinding;

/// A finding and the stack that it is about.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// The name of the stack, for users.
    pub stack: &'a str,
    /// The finding.
    pub finding: &'a PolicyFinding,
}
