//! The objects of the cluster as the reconcilers' thread has seen them, with indices.
//!
//! Fed by the event stream only, in its order: what a reconciler reads here is a state the
//! cluster really was in.

use super::kind::{KINDS, Kind};
use super::meta;
use crate::store::Stored;
use crate::{Event, EventKind, Resource};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of a resource in the cache; those of [`Kind`] come first.
pub(crate) type KindId = u32;

/// Where an object is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The resource.
    pub kind: KindId,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

type ByName = BTreeMap<Arc<str>, Arc<Stored>>;
type Names = BTreeSet<Arc<str>>;

/// Objects whose trees stay in memory because reconcilers read them.
const KEPT: usize = 2048;

/// The trees of the objects that were read, at the rest of their revision.
#[derive(Debug, Default)]
struct Kept {
    slots: Vec<Option<(u64, Arc<Value>)>>,
}

impl Kept {
    fn read(&mut self, stored: &Stored) -> Arc<Value> {
        if self.slots.is_empty() {
            self.slots.resize(KEPT, None);
        }
        let slot = &mut self.slots[stored.revision as usize % KEPT];
        match slot {
            Some((revision, value)) if *revision == stored.revision => Arc::clone(value),
            _ => {
                let value = stored.value();
                *slot = Some((stored.revision, Arc::clone(&value)));
                value
            }
        }
    }

    /// Forgets a version that was replaced.
    fn forget(&mut self, stored: &Stored) {
        if let Some(slot) = self.slots.get_mut(stored.revision as usize % KEPT)
            && slot.as_ref().is_some_and(|(revision, _)| *revision == stored.revision)
        {
            *slot = None;
        }
    }
}

/// Objects by resource, namespace and name; dependents by owner.
#[derive(Debug)]
pub(crate) struct Cache {
    resources: Vec<Resource>,
    numbers: FxHashMap<(Arc<str>, Arc<str>), KindId>,
    objects: Vec<BTreeMap<Arc<str>, ByName>>,
    dependents: FxHashMap<Arc<str>, FxHashSet<Place>>,
    by_uid: FxHashMap<Arc<str>, Place>,
    orphans: FxHashMap<(KindId, Arc<str>), Names>,
    /// The endpoint slices of services, by namespace and name of the service.
    slices: FxHashMap<(Arc<str>, Arc<str>), Names>,
    kept: RefCell<Kept>,
}

impl Cache {
    /// Makes an empty cache.
    pub(crate) fn new() -> Self {
        let mut cache = Self {
            resources: Vec::new(),
            numbers: FxHashMap::default(),
            objects: Vec::new(),
            dependents: FxHashMap::default(),
            by_uid: FxHashMap::default(),
            orphans: FxHashMap::default(),
            slices: FxHashMap::default(),
            kept: RefCell::default(),
        };
        for kind in KINDS {
            cache.number(kind.resource());
        }
        cache
    }

    /// The number of a resource, made when it is new.
    pub(crate) fn number(&mut self, resource: &Resource) -> KindId {
        let key = (resource.group.clone(), resource.plural.clone());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.resources.len() as KindId;
        self.resources.push(resource.clone());
        self.objects.push(BTreeMap::new());
        self.numbers.insert(key, number);
        number
    }

    /// The resource with a number.
    pub(crate) fn resource(&self, kind: KindId) -> &Resource {
        &self.resources[kind as usize]
    }

    /// Takes in an event; says where the object lies.
    pub(crate) fn apply(&mut self, event: &Event) -> Place {
        let number = self.number(&event.resource);
        let stored = event.stored();
        let (namespace, name) = stored.place();
        let table = &mut self.objects[number as usize];
        let known = table.get_key_value(namespace).map(|(namespace, names)| {
            (Arc::clone(namespace), names.get_key_value(name).map(|(name, _)| Arc::clone(name)))
        });
        let (namespace, name) = match known {
            Some((namespace, known)) => (namespace, known.unwrap_or_else(|| name.into())),
            None => (namespace.into(), name.into()),
        };
        let place = Place { kind: number, namespace, name };
        let previous = match event.kind {
            EventKind::Deleted => {
                let names = table.get_mut(&place.namespace);
                let gone = names.and_then(|it| it.remove(&place.name));
                if table.get(&place.namespace).is_some_and(BTreeMap::is_empty) {
                    table.remove(&place.namespace);
                }
                gone
            }
            _ => table
                .entry(Arc::clone(&place.namespace))
                .or_default()
                .insert(Arc::clone(&place.name), Arc::clone(stored)),
        };
        let previous = previous.map(|stored| {
            let value = stored.value();
            self.kept.get_mut().forget(&stored);
            value
        });
        self.index(&place, previous.as_deref(), &event.object(), event.kind);
        place
    }

    fn read(&self, stored: &Stored) -> Arc<Value> {
        self.kept.borrow_mut().read(stored)
    }

    fn index(&mut self, place: &Place, old: Option<&Value>, new: &Value, event: EventKind) {
        let deleted = event == EventKind::Deleted;
        if deleted || old.is_none_or(|it| meta::uid(it) != meta::uid(new)) {
            if let Some(old) = old {
                self.by_uid.remove(meta::uid(old));
            }
            if !deleted {
                self.by_uid.insert(meta::uid(new).into(), place.clone());
            }
        }
        if place.kind == Kind::Pod as KindId || place.kind == Kind::ReplicaSet as KindId {
            self.index_orphan(place, !deleted && meta::controller(new).is_none());
        }
        if place.kind == Kind::EndpointSlice as KindId {
            let service = |it| meta::label(it, meta::SERVICE_NAME);
            let after = Some(new).filter(|_| !deleted).and_then(service);
            self.index_slice(place, old.and_then(service), after);
        }
        let before = old.map_or(&[][..], meta::owners);
        let after = if deleted { &[][..] } else { meta::owners(new) };
        if before == after {
            return;
        }
        for owner in before {
            let uid = meta::text(&owner["uid"]);
            if let Some(set) = self.dependents.get_mut(uid) {
                set.remove(place);
                if set.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
        for owner in after {
            let uid = meta::text(&owner["uid"]).into();
            self.dependents.entry(uid).or_default().insert(place.clone());
        }
    }

    fn index_orphan(&mut self, place: &Place, orphan: bool) {
        let key = (place.kind, place.namespace.clone());
        if orphan {
            self.orphans.entry(key).or_default().insert(place.name.clone());
        } else if let Some(names) = self.orphans.get_mut(&key) {
            names.remove(&place.name);
            if names.is_empty() {
                self.orphans.remove(&key);
            }
        }
    }

    fn index_slice(&mut self, place: &Place, before: Option<&str>, after: Option<&str>) {
        if before == after {
            return;
        }
        if let Some(service) = before {
            let key = (place.namespace.clone(), service.into());
            if let Some(names) = self.slices.get_mut(&key) {
                names.remove(&place.name);
                if names.is_empty() {
                    self.slices.remove(&key);
                }
            }
        }
        if let Some(service) = after {
            let key = (place.namespace.clone(), service.into());
            self.slices.entry(key).or_default().insert(place.name.clone());
        }
    }

    /// The endpoint slices of a service, by name.
    pub(crate) fn slices_of(&self, namespace: &str, service: &str) -> Vec<Arc<Value>> {
        let names = self.slices.get(&(namespace.into(), service.into())).into_iter().flatten();
        names.filter_map(|name| self.get(Kind::EndpointSlice, namespace, name)).collect()
    }

    /// The pods or replica sets of a namespace that no controller has.
    pub(crate) fn orphans(&self, kind: Kind, namespace: &str) -> Vec<Arc<Value>> {
        let key = (kind as KindId, Arc::from(namespace));
        let names = self.orphans.get(&key).into_iter().flatten();
        names.filter_map(|name| self.get(kind, namespace, name)).collect()
    }

    /// An object.
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.objects[kind as usize].get(namespace)?.get(name).map(|it| self.read(it))
    }

    /// Whether there is an object of a name.
    pub(crate) fn has(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.objects[kind as usize].get(namespace).is_some_and(|it| it.contains_key(name))
    }

    /// The object at a place.
    pub(crate) fn at(&self, place: &Place) -> Option<Arc<Value>> {
        let table = self.objects.get(place.kind as usize)?;
        table.get(&place.namespace)?.get(&place.name).map(|it| self.read(it))
    }

    /// The place of the object with a uid.
    pub(crate) fn place_of(&self, uid: &str) -> Option<&Place> {
        self.by_uid.get(uid)
    }

    /// The objects of a kind in a namespace, by name.
    pub(crate) fn in_namespace(
        &self,
        kind: Kind,
        namespace: &str,
    ) -> impl Iterator<Item = Arc<Value>> {
        let names = self.objects[kind as usize].get(namespace);
        names.into_iter().flat_map(BTreeMap::values).map(|it| self.read(it))
    }

    /// The objects of a kind everywhere.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = Arc<Value>> {
        let table = &self.objects[kind as usize];
        table.values().flat_map(BTreeMap::values).map(|it| self.read(it))
    }

    /// All objects of a namespace as they are stored, with the number of their resource.
    pub(crate) fn content<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = (KindId, &'a Arc<Stored>)> {
        self.objects.iter().enumerate().flat_map(move |(number, table)| {
            let names = table.get(namespace).into_iter().flat_map(BTreeMap::values);
            names.map(move |stored| (number as KindId, stored))
        })
    }

    /// Where the dependents of an owner lie, in a settled order.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<Place> {
        let mut places: Vec<Place> =
            self.dependents.get(uid).into_iter().flatten().cloned().collect();
        places.sort_unstable();
        places
    }

    /// Whether an owner has dependents.
    pub(crate) fn has_dependents(&self, uid: &str) -> bool {
        self.dependents.contains_key(uid)
    }

    /// The dependents of one kind of an owner, by name.
    pub(crate) fn children(&self, uid: &str, kind: Kind) -> Vec<Arc<Value>> {
        let mut places: Vec<&Place> = self
            .dependents
            .get(uid)
            .into_iter()
            .flatten()
            .filter(|it| it.kind == kind as KindId)
            .collect();
        places.sort_unstable();
        places.into_iter().filter_map(|it| self.at(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Change;
    use serde_json::json;

    fn event(kind: EventKind, object: Value) -> Event {
        event_of(Kind::Pod, kind, object)
    }

    fn event_of(resource: Kind, kind: EventKind, object: Value) -> Event {
        let (namespace, name) = (meta::namespace(&object), meta::name(&object));
        let stored = Stored::of(&format!("{namespace}/{name}"), 1, kind, object);
        let change = Change { kind, object: Arc::new(stored), previous: None };
        Event::new(resource.resource().clone(), change)
    }

    fn pod(name: &str, uid: &str, owner: Option<&str>) -> Value {
        let owners: Vec<Value> = owner.map(|it| json!({"uid": it})).into_iter().collect();
        json!({"metadata": {"name": name, "namespace": "n", "uid": uid, "ownerReferences": owners}})
    }

    #[test]
    fn dependents_follow_the_owner_references() {
        let mut cache = Cache::new();
        cache.apply(&event(EventKind::Added, pod("a", "1", Some("o"))));
        cache.apply(&event(EventKind::Added, pod("b", "2", Some("o"))));
        assert_eq!(cache.children("o", Kind::Pod).len(), 2);
        cache.apply(&event(EventKind::Modified, pod("a", "1", None)));
        assert_eq!(cache.children("o", Kind::Pod).len(), 1);
        cache.apply(&event(EventKind::Deleted, pod("b", "2", Some("o"))));
        assert!(!cache.has_dependents("o"));
        assert!(cache.place_of("2").is_none());
        assert_eq!(cache.content("n").count(), 1);
    }
    #[test]
    fn slices_follow_the_name_of_their_service() {
        let slice = |service: &str| {
            json!({"metadata": {"name": "a", "namespace": "n", "uid": "1",
                "labels": {meta::SERVICE_NAME: service}}})
        };
        let mut cache = Cache::new();
        cache.apply(&event_of(Kind::EndpointSlice, EventKind::Added, slice("s")));
        assert_eq!(cache.slices_of("n", "s").len(), 1);
        assert!(cache.slices_of("other", "s").is_empty());
        cache.apply(&event_of(Kind::EndpointSlice, EventKind::Modified, slice("t")));
        assert!(cache.slices_of("n", "s").is_empty());
        assert_eq!(cache.slices_of("n", "t").len(), 1);
        cache.apply(&event_of(Kind::EndpointSlice, EventKind::Deleted, slice("t")));
        assert!(cache.slices.is_empty());
    }
}
