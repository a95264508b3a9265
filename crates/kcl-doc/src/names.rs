//! Names of schemas in documents that have no packages.

use crate::Docs;
use std::collections::HashMap;

/// The name of each schema: its own, with its package where several have that name.
pub(crate) struct Names<'d>(HashMap<&'d str, usize>);

impl<'d> Names<'d> {
    pub(crate) fn new(docs: &'d Docs) -> Self {
        let mut counts = HashMap::new();
        for schema in docs.schemas() {
            *counts.entry(schema.name.as_str()).or_insert(0) += 1;
        }
        Self(counts)
    }

    pub(crate) fn name(&self, package: &str, name: &str) -> String {
        if self.0.get(name).copied().unwrap_or(0) < 2 {
            return name.to_owned();
        }
        let mangle = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
        let package: String = package.chars().map(mangle).collect();
        format!("{name}_{package}")
    }
}
