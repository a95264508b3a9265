//! Where the files of a stack come from.

use crate::error::EngineError;
use crate::scope::Scope;
use kusion_model::Record;
use kusion_store::StackState;

impl Scope {
    /// Checks that the files of a deployed stack come from the recorded source. Nothing is checked
    /// if one of them is not known.
    pub(crate) fn check_source(&self, state: &StackState) -> Result<(), EngineError> {
        let is_deployed = !state.resources.is_empty() || !state.pending.is_empty();
        match (&state.source, self.sources.first()) {
            (Some(recorded), Some(found)) if is_deployed && !self.sources.contains(recorded) => {
                Err(EngineError::OtherSource {
                    stack: Box::new(self.key.clone()),
                    recorded: Box::new(recorded.clone()),
                    found: Box::new(found.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the record of the source, if it is not the recorded one.
    pub(crate) fn source_record(&self, state: &StackState) -> Option<Record> {
        let source = self.sources.first().filter(|it| state.source.as_ref() != Some(*it))?;
        Some(Record::Described { source: Some(source.clone()), owner: None })
    }
}
