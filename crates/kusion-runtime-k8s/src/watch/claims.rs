//! Which volume claims belong to which stateful set: they have no owner reference, but their names
//! contain that of the set.

use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The claims and the sets that may have made them.
#[derive(Default)]
pub(super) struct Claims {
    /// The uids of sets, by namespace and by the prefix of the names of their claims.
    sets: HashMap<(String, String), String>,
    /// The uids of claims by namespace and the same beginning.
    claims: HashMap<(String, String), Vec<String>>,
}

impl Claims {
    /// Notes an object; returns pairs of a set and a claim that belong together, by uids.
    pub(super) fn put(&mut self, uid: &str, object: &Value) -> Vec<(String, String)> {
        match text(object, "/kind") {
            "StatefulSet" => self.put_set(uid, object),
            "PersistentVolumeClaim" => {
                let Some(key) = of_claim(object) else { return Vec::new() };
                let claims = self.claims.entry(key.clone()).or_default();
                if !claims.iter().any(|it| it == uid) {
                    claims.push(uid.to_owned());
                }
                let set = self.sets.get(&key);
                set.map(|set| (set.clone(), uid.to_owned())).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn put_set(&mut self, uid: &str, object: &Value) -> Vec<(String, String)> {
        let templates = object.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
        let mut pairs = Vec::new();
        for template in templates.into_iter().flatten() {
            let name =
                format!("{}-{}", text(template, "/metadata/name"), text(object, "/metadata/name"));
            let key = (text(object, "/metadata/namespace").to_owned(), name);
            let claims = self.claims.get(&key).into_iter().flatten();
            pairs.extend(claims.map(|claim| (uid.to_owned(), claim.clone())));
            self.sets.insert(key, uid.to_owned());
        }
        pairs
    }

    /// Returns the uid of the set that a claim belongs to.
    pub(super) fn set_of(&self, object: &Value) -> Option<&str> {
        if text(object, "/kind") != "PersistentVolumeClaim" {
            return None;
        }
        self.sets.get(&of_claim(object)?).map(String::as_str)
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, uid: &str, object: &Value) {
        match text(object, "/kind") {
            "StatefulSet" => self.sets.retain(|_, set| set != uid),
            "PersistentVolumeClaim" => {
                let Some(key) = of_claim(object) else { return };
                if let Entry::Occupied(mut claims) = self.claims.entry(key) {
                    claims.get_mut().retain(|it| it != uid);
                    if claims.get().is_empty() {
                        claims.remove();
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the namespace of a claim, and its name without the number of its pod.
fn of_claim(object: &Value) -> Option<(String, String)> {
    let (base, number) = text(object, "/metadata/name").rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| (text(object, "/metadata/namespace").to_owned(), base.to_owned()))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
