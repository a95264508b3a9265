//! The two strategies: rolling update and recreate.

use super::{Rollout, plan, status};
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use serde_json::Value;
use std::sync::Arc;

impl Rollout<'_> {
    /// One step of a rolling update.
    pub(super) fn roll(&mut self) -> Result<(), Status> {
        let (new, old) = self.revise(true)?;
        let Some(new) = new else { return Ok(()) };
        let total: i64 = self.sets.iter().map(|it| plan::size(it)).sum();
        let size = plan::new_set_size(&self.deployment, plan::size(&new), total);
        if self.resize(&new, size)? {
            return self.write_rollout_status();
        }
        let shrink = plan::shrink_old(&self.deployment, Some(&new), &old);
        if !shrink.is_empty() {
            for (idx, size) in shrink {
                self.resize(&old[idx], size)?;
            }
            return self.write_rollout_status();
        }
        self.finish(&old)
    }

    /// One step of a recreation: all old pods end before the first new one is made.
    pub(super) fn recreate(&mut self) -> Result<(), Status> {
        let (_, old) = self.revise(false)?;
        let mut shrunk = false;
        for set in old.iter().filter(|it| plan::size(it) > 0) {
            shrunk |= self.resize(set, 0)?;
        }
        if shrunk || self.runs_any(&old) {
            return self.write_rollout_status();
        }
        let (new, old) = self.revise(true)?;
        let Some(new) = new else { return Ok(()) };
        let wanted = self.wanted();
        self.resize(&new, wanted)?;
        self.finish(&old)
    }

    fn finish(&mut self, old: &[Arc<Value>]) -> Result<(), Status> {
        if status::is_complete(&self.deployment, &self.deployment["status"]) {
            self.clean_history(old)?;
        }
        self.write_rollout_status()
    }

    /// Whether pods of old sets have not ended yet.
    fn runs_any(&self, old: &[Arc<Value>]) -> bool {
        old.iter().any(|set| {
            let pods = self.world.cache.children(meta::uid(set), Kind::Pod);
            pods.iter().any(|pod: &Arc<Value>| !meta::is_pod_finished(pod))
        })
    }
}
