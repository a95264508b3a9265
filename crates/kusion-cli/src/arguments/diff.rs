//! How the differences of plans are shown.

/// The form of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum DiffForm {
    /// One line per changed field; of long texts, the changed lines
    #[default]
    Fields,
    /// A unified diff, with the content of created resources
    Unified,
    /// Fields with their whole values, and the content of created resources with source lines
    Full,
}

/// Options of the differences of plans.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct DiffArgs {
    /// Form of differences
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    diff: DiffForm,
    /// Show whole values and the content of created resources; the same as `--diff full`
    #[arg(long, conflicts_with = "diff")]
    full: bool,
}

impl DiffArgs {
    /// Returns the form of differences.
    pub(crate) fn form(self) -> DiffForm {
        if self.full { DiffForm::Full } else { self.diff }
    }
}
