//! Changing the size of sets.

use super::revisions::size_annotations;
use super::{Rollout, plan};
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int};
use crate::controllers::record::Tone;
use serde_json::Value;
use std::sync::Arc;

impl Rollout<'_> {
    /// Whether the size of the Deployment differs from what its sets were last asked for.
    pub(super) fn is_scaling(&self) -> bool {
        let wanted = self.wanted();
        self.sets
            .iter()
            .filter(|it| plan::size(it) > 0)
            .any(|it| plan::desired(it).is_some_and(|desired| desired != wanted))
    }

    /// Scales without rolling: a change of size, or a paused Deployment.
    pub(super) fn settle(&mut self) -> Result<(), Status> {
        let (new, old) = self.revise(false)?;
        self.scale(new.as_ref(), &old)?;
        if self.deployment["spec"]["paused"] == true {
            self.clean_history(&old)?;
        }
        let (new, _) = self.split();
        self.write_plain_status(new.as_deref())
    }

    fn scale(&mut self, new: Option<&Arc<Value>>, old: &[Arc<Value>]) -> Result<(), Status> {
        let wanted = self.wanted();
        let mut active: Vec<Arc<Value>> =
            self.sets.iter().filter(|it| plan::size(it) > 0).cloned().collect();
        if active.len() <= 1 {
            let only = active
                .pop()
                .or_else(|| new.cloned())
                .or_else(|| old.iter().max_by(|a, b| plan::by_age(a, b)).cloned());
            return match only {
                Some(set) => self.resize(&set, wanted).map(drop),
                None => Ok(()),
            };
        }
        if new.is_some_and(|it| is_saturated(it, wanted)) {
            for set in old.iter().filter(|it| plan::size(it) > 0) {
                self.resize(set, 0)?;
            }
            return Ok(());
        }
        if self.deployment["spec"]["strategy"]["type"] == "Recreate" {
            return Ok(());
        }
        for (idx, size) in plan::proportional(&self.deployment, &active) {
            self.write_size(&active[idx], size)?;
        }
        Ok(())
    }

    /// Gives a set a size; says whether that was a change.
    pub(super) fn resize(&mut self, set: &Arc<Value>, size: i64) -> Result<bool, Status> {
        if plan::size(set) == size {
            return Ok(false);
        }
        self.write_size(set, size)?;
        Ok(true)
    }

    fn write_size(&mut self, set: &Arc<Value>, size: i64) -> Result<(), Status> {
        let before = plan::size(set);
        let mut next = (**set).clone();
        next["spec"]["replicas"] = size.into();
        size_annotations(&self.deployment, &mut next);
        if next == **set {
            return Ok(());
        }
        let answer = self.world.update(Kind::ReplicaSet, next)?;
        let name = meta::name(&answer).to_owned();
        self.put_set(answer);
        if before != size {
            let direction = if before < size { "up" } else { "down" };
            let message = format!("Scaled {direction} replica set {name} from {before} to {size}");
            self.tell(Tone::Normal, "ScalingReplicaSet", &message);
        }
        Ok(())
    }
}

/// Whether the new set has all pods that are wanted.
fn is_saturated(set: &Value, wanted: i64) -> bool {
    plan::size(set) == wanted
        && plan::desired(set) == Some(wanted)
        && int(&set["status"]["availableReplicas"], 0) == wanted
}
