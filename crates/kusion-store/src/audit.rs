//! Checks all values of a stack, also those that no command reads at the moment.

use crate::error::StoreError;
use crate::journal::{self, StackPaths};
use crate::lease::Lease;
use crate::store::Store;
use kusion_model::StackKey;

impl Store {
    /// Checks that every value of a stack is authentic and in its place. Returns what is wrong;
    /// each error names the value.
    ///
    /// Reading the state of a stack needs fewer values: an older snapshot and the segments before
    /// the newest snapshot are kept as a reserve.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or its metadata is damaged.
    pub async fn audit(&self, key: &StackKey) -> Result<Vec<StoreError>, StoreError> {
        let paths = self.paths(key).await?;
        let backend = &**self.backend();
        let mut findings = Findings(Vec::new());
        findings.note(Lease::read(backend, &paths).await)?;
        let state = findings.note(journal::load(backend, &paths).await)?.map(|it| it.state);
        for seq in findings.note(paths.numbers(backend, "snapshot").await)?.unwrap_or_default() {
            findings.note(journal::read_snapshot(backend, &paths, seq).await)?;
        }
        self.audit_segments(&paths, &mut findings).await?;
        let specs = findings.note(paths.numbers(backend, "spec").await)?.unwrap_or_default();
        for revision in &specs {
            findings.note(self.spec(key, *revision).await)?;
        }
        let releases = state.iter().flat_map(|it| &it.releases).map(|it| it.head.revision);
        for revision in releases.filter(|it| !specs.contains(it)) {
            let what = format!("`{}` is missing", paths.spec(revision));
            findings.0.push(StoreError::damaged(self.place(), what));
        }
        for revision in findings.note(paths.numbers(backend, "events").await)?.unwrap_or_default() {
            findings.note(self.events::<serde_json::Value>(key, revision).await)?;
        }
        Ok(findings.0)
    }

    /// Checks each segment, and whether they are a chain.
    async fn audit_segments(
        &self,
        paths: &StackPaths,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let backend = &**self.backend();
        for first in findings.note(paths.numbers(backend, "log").await)?.unwrap_or_default() {
            let name = paths.segment(first);
            // A segment that was removed meanwhile is part of a snapshot.
            let Some(Some((bytes, _))) = findings.note(backend.get(&name).await)? else { continue };
            findings.note(journal::read_segment(backend, paths, &name, &bytes))?;
        }
        findings.note(journal::records(backend, paths).await)?;
        Ok(())
    }
}

/// What is wrong with values.
struct Findings(Vec<StoreError>);

impl Findings {
    /// Keeps an error about data; other errors end the check.
    fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(
                error @ (StoreError::Damaged { .. }
                | StoreError::Older { .. }
                | StoreError::Newer { .. }),
            ) => {
                self.0.push(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
