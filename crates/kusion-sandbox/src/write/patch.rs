//! Changing objects by patches.

use super::Outcome;
use crate::Status;
use crate::api::{PatchKind, Write};
use crate::cluster::Cluster;
use crate::object;
use crate::registry::Served;
use serde_json::Value;

/// Attempts to bring a patch in between other writes.
const ATTEMPTS: usize = 100;

impl Cluster {
    /// Patches an object.
    pub(crate) fn patch(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        for _ in 1..ATTEMPTS {
            match self.try_patch(served, namespace, name, kind, patch, write) {
                Err(status)
                    if status.is_conflict()
                        && object::meta_text(patch, "resourceVersion").is_empty() => {}
                result => return result,
            }
        }
        self.try_patch(served, namespace, name, kind, patch, write)
    }

    fn try_patch(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        let old = match self.get(served, namespace, name) {
            Err(status)
                if status.is_not_found()
                    && kind == PatchKind::Apply
                    && write.subresource.is_empty() =>
            {
                let mut object = patch.clone();
                object::meta_mut(&mut object).insert("name".to_owned(), name.into());
                return self.create(served, namespace, object, write);
            }
            result => result?,
        };
        if write.subresource == "scale" {
            let mut scale = self.scale(served, namespace, name)?;
            merge(&mut scale, patch);
            return self.update_scale(served, namespace, name, &scale, write);
        }
        let mut new = (*self.view(served, &old)?).clone();
        merge(&mut new, patch);
        super::create::check_type(served, &mut new)?;
        super::update::check_preconditions(served, &old, &new)?;
        self.replace(served, &old, new, write)
    }
}

/// Merges a JSON merge patch into a value.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(map) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
