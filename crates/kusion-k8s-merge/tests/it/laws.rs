//! Laws that hold for all types and objects. `MERGE_LAWS=N` tries N of each.

#![expect(clippy::disallowed_methods, reason = "the environment says how many are tried")]

use fastrand::Rng;
use kusion_k8s_merge::{
    ApplyError, OneVersion, Set, Typed, Writer, apply, fields_v1, json_patch, keep_times,
    merge_patch, scale_to_parent, scale_to_subresource, strategic_merge, update,
};
use serde_json::{Value, json};

use crate::random;

fn tries() -> u64 {
    std::env::var("MERGE_LAWS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500)
}

struct World {
    typed: Typed<'static>,
    rng: Rng,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let (table, root) = random::types(&mut rng);
        Self { typed: Typed::new(Box::leak(Box::new(table)), root), rng }
    }

    fn object(&mut self) -> Value {
        random::object(&mut self.rng, self.typed.table, self.typed.ty)
    }

    fn apply(
        &self,
        live: Option<&Value>,
        manager: &str,
        config: &Value,
        force: bool,
    ) -> Result<(Value, bool), ApplyError> {
        let versions = OneVersion { api_version: "v1", typed: self.typed, reset: None };
        let writer = Writer {
            versions: &versions,
            api_version: "v1",
            subresource: "",
            manager,
            now: "2026-01-01T00:00:00Z",
        };
        apply(&writer, live, config, force).map(|applied| (applied.object, applied.changed))
    }

    fn update(&self, old: &Value, manager: &str, new: &Value) -> Value {
        let versions = OneVersion { api_version: "v1", typed: self.typed, reset: None };
        let writer = Writer {
            versions: &versions,
            api_version: "v1",
            subresource: "",
            manager,
            now: "2026-01-01T00:00:00Z",
        };
        let mut new = new.clone();
        if let Some(Value::Object(metadata)) = new.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        update(&writer, old, &mut new);
        new
    }
}

fn entries(object: &Value) -> Vec<(String, Set<'_>)> {
    let list = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let read = |entry: &'_ Value| format!("{} {}", entry["manager"], entry["operation"]);
    list.into_iter()
        .flatten()
        .map(|entry| {
            (read(entry), fields_v1::parse(&entry["fieldsV1"]).expect("records can be read"))
        })
        .collect()
}

fn owned<'v>(object: &'v Value, who: &str) -> Set<'v> {
    entries(object)
        .into_iter()
        .find(|(name, _)| name == who)
        .map(|(_, set)| set)
        .unwrap_or_default()
}

#[test]
fn apply_is_idempotent() {
    for seed in 0..tries() {
        let mut world = World::new(seed);
        let (first, second) = (world.object(), world.object());
        let Ok((live, _)) = world.apply(None, "one", &first, true) else { continue };
        let Ok((live, _)) = world.apply(Some(&live), "two", &second, true) else { continue };
        let (again, changed) = world
            .apply(Some(&live), "two", &second, false)
            .expect("the second time is no conflict");
        assert_eq!(again, live, "seed {seed}");
        assert!(!changed, "seed {seed}");
    }
}

#[test]
fn what_is_applied_is_there_and_owned() {
    for seed in 0..tries() {
        let mut world = World::new(seed);
        let (first, second) = (world.object(), world.object());
        let Ok((live, _)) = world.apply(None, "one", &first, true) else { continue };
        let Ok((live, _)) = world.apply(Some(&live), "two", &second, true) else { continue };
        let again = world.typed.merge(&live, &second).expect("the object fits its type");
        let compared = world.typed.compare(&live, &again).expect("both fit their type");
        assert!(compared.is_empty(), "seed {seed}: {compared:?}");
        let mut wanted = world.typed.field_set(&second);
        wanted.subtract(&Set::of_fields(&[
            &["apiVersion"],
            &["kind"],
            &["metadata"],
            &["metadata", "name"],
        ]));
        assert_eq!(owned(&live, "\"two\" \"Apply\""), wanted, "seed {seed}");
    }
}

#[test]
fn nobody_loses_what_did_not_change() {
    for seed in 0..tries() {
        let mut world = World::new(seed);
        let objects: Vec<Value> = (0..4).map(|_| world.object()).collect();
        let mut live = world.update(&json!({}), "zero", &objects[0]);
        for (idx, object) in objects.iter().enumerate().skip(1) {
            let manager = ["one", "two", "one"][idx - 1];
            let applies = world.rng.bool();
            let next = if applies {
                let Ok((next, _)) = world.apply(Some(&live), manager, object, true) else {
                    continue;
                };
                next
            } else {
                world.update(&live, manager, object)
            };
            let compared = world.typed.compare(&live, &next).expect("both fit their type");
            let mut changed = compared.modified.union(&compared.added);
            changed.absorb(compared.removed.clone());
            for (who, before) in entries(&live) {
                if who.contains(manager) && who.contains("Apply") {
                    continue;
                }
                let mut lost = before;
                lost.subtract(&owned(&next, &who));
                assert!(lost.is_subset(&changed), "seed {seed}: {who} lost {lost:?}");
            }
            let mut orphans = compared.modified.union(&compared.added);
            orphans.subtract(&Set::of_fields(&[
                &["apiVersion"],
                &["kind"],
                &["metadata"],
                &["metadata", "name"],
            ]));
            for (_, set) in entries(&next) {
                orphans.subtract(&set);
            }
            // Empty lists and what loses its last item are nobody's after an apply.
            assert!(applies || orphans.leaves().is_empty(), "seed {seed}: nobody owns {orphans:?}");
            live = next;
        }
    }
}

#[test]
fn an_applier_that_stops_takes_its_fields_along() {
    let nothing = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}});
    for seed in 0..tries() {
        let mut world = World::new(seed);
        let object = world.object();
        let Ok((live, _)) = world.apply(None, "one", &object, false) else { continue };
        if entries(&live).is_empty() {
            continue;
        }
        let (rest, _) =
            world.apply(Some(&live), "one", &nothing, false).expect("nothing conflicts");
        let left = world.typed.field_set(&rest);
        let own = owned(&live, "\"one\" \"Apply\"").leaves();
        let mut kept = left.intersection(&own);
        kept.subtract(&world.typed.field_set(&nothing));
        let mut nulls = true;
        kept.for_each(&mut |path| {
            let mut place = Some(&rest);
            for step in path {
                place = match step {
                    kusion_k8s_merge::PathElement::Field(name) => place.and_then(|v| v.get(name)),
                    _ => None,
                };
            }
            nulls &= place.is_none_or(|value| value.is_null() || *value == json!({}));
        });
        assert!(nulls, "seed {seed}: {kept:?} in {rest}");
        assert_eq!(rest.pointer("/metadata/managedFields"), None, "seed {seed}");
    }
}

#[test]
fn comparisons_are_symmetric_and_sets_obey_algebra() {
    for seed in 0..tries() {
        let mut world = World::new(seed);
        let (left, right) = (world.object(), world.object());
        assert!(world.typed.compare(&left, &left).is_ok_and(|found| found.is_empty()));
        let (Ok(there), Ok(back)) =
            (world.typed.compare(&left, &right), world.typed.compare(&right, &left))
        else {
            continue;
        };
        assert_eq!(
            (&there.added, &there.removed, &there.modified),
            (&back.removed, &back.added, &back.modified),
            "seed {seed}"
        );
        let (a, b) = (world.typed.field_set(&left), world.typed.field_set(&right));
        assert_eq!(a.union(&b), b.union(&a));
        let mut rest = a.clone();
        rest.subtract(&b);
        assert!(rest.intersection(&b).is_empty());
        assert_eq!(rest.union(&a.intersection(&b)), a, "seed {seed}");
        assert_eq!(a.union(&b).len() + a.intersection(&b).len(), a.len() + b.len());
        let written = fields_v1::to_value(&a);
        assert_eq!(fields_v1::parse(&written).as_ref(), Ok(&a), "seed {seed}");
        let text: Value = serde_json::from_str(&fields_v1::to_text(&a)).expect("the text is JSON");
        assert_eq!(text, written);
    }
}

#[test]
fn no_json_makes_it_panic() {
    let path = |_: &str| Some(vec![kusion_k8s_merge::PathElement::Field("spec")]);
    for seed in 0..tries() * 3 {
        let mut world = World::new(seed % 97);
        let mut rng = Rng::with_seed(seed);
        let mut any = |world: &mut World| {
            if rng.u32(0..3) == 0 {
                let mut object = world.object();
                object["metadata"]["managedFields"] = random::json_value(&mut rng, 3);
                object
            } else {
                random::json_value(&mut rng, 5)
            }
        };
        let (left, right) = (any(&mut world), any(&mut world));
        let _ = world.apply(Some(&left), "kubectl", &right, seed % 2 == 0);
        let _ = world.apply(None, "one", &right, false);
        let updated = world.update(&left, "two", &right);
        let _ = keep_times(&left, &mut updated.clone());
        let _ = world.typed.check(&left);
        let _ = world.typed.compare(&left, &right);
        if let Ok(merged) = world.typed.merge(&left, &right) {
            let set = world.typed.field_set(&right);
            let _ = world.typed.remove_items(&merged, &set);
            let _ = world.typed.extract_items(&merged, &set);
        }
        let _ = fields_v1::parse(&left).map(|set| fields_v1::to_text(&set));
        let _ = json_patch(&left, &right);
        let _ = strategic_merge(world.typed, &left, &right);
        let _ = scale_to_subresource(&left, &path);
        let _ = scale_to_parent(&left, "v1", &right, &path);
        let _ = merge_patch(&left, &right);
    }
}
