//! The runtime over a folder through its public end.

use kusion_model::{Action, AttemptId, Resource, ResourceId, ResourceState, ResourceType};
use kusion_runtime::{Change, Comparison, Deletion, Pending, Runtime as _, RuntimeError};
use kusion_runtime_fake::{FileRuntime, RESOURCE_TYPE};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kusion-fake-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self, faults: &str) -> FileRuntime {
        let runtime = FileRuntime::open(&self.0, "dev").expect("a folder");
        runtime.with_faults(faults.parse().expect("faults"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn resource(attributes: Value) -> Resource {
    Resource {
        id: ResourceId::new("fake:a"),
        resource_type: ResourceType::new(RESOURCE_TYPE),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions: Map::new(),
    }
}

fn create(desired: &Resource) -> Change<'_> {
    let attempt = Some(AttemptId { revision: 1, step: 1 });
    Change { attempt, ..Change::new(desired) }
}

#[tokio::test]
async fn every_creation_makes_another_object() {
    let place = Place::new("twice");
    let runtime = place.open("");
    let wanted = resource(json!({"size": 1}));
    let first = runtime.apply(create(&wanted)).await.expect("made").live;
    let second = runtime.apply(create(&wanted)).await.expect("made").live;
    assert_ne!(first.identity, second.identity);
    assert_eq!(runtime.folder().objects().expect("objects").len(), 2);
    assert_eq!(first.attributes["id"], first.identity.key.as_str());
    assert!(first.attributes["address"].is_string());
    assert_eq!(runtime.compare(&wanted, &first), Comparison::Same);
}

#[tokio::test]
async fn an_object_whose_answer_was_lost_is_found_by_its_tag() {
    let place = Place::new("lost");
    let wanted = resource(json!({"size": 1}));
    let error = place.open("apply:1:lost").apply(create(&wanted)).await.expect_err("lost");
    assert!(error.is_transient());
    let runtime = place.open("");
    let mut pending = Pending {
        attempt: AttemptId { revision: 1, step: 1 },
        id: &wanted.id,
        action: Action::Create,
        desired: Some(&wanted),
        prior: None,
    };
    let found = runtime.recover(pending).await.expect("an answer").expect("an object");
    assert_eq!(runtime.compare(&wanted, &found), Comparison::Same);
    pending.attempt.step = 2;
    assert_eq!(runtime.recover(pending).await, Ok(None));
}

#[tokio::test]
async fn objects_change_and_go_and_fixed_fields_do_not_change() {
    let place = Place::new("change");
    let runtime = place.open("");
    let first = resource(json!({"size": 1, "zone": "a", "forceNew": ["zone"]}));
    let live = runtime.apply(create(&first)).await.expect("made").live;
    let prior = ResourceState {
        runtime: live.runtime,
        ..ResourceState::new(first.clone(), live.identity, 1)
    };
    let bigger = resource(json!({"size": 2, "zone": "a", "forceNew": ["zone"]}));
    let change = Change { prior: Some(&prior), ..Change::new(&bigger) };
    let changed = runtime.apply(change).await.expect("changed").live;
    assert_eq!(changed.attributes["size"], 2);
    assert_eq!(changed.identity, prior.identity);
    let moved = resource(json!({"size": 2, "zone": "b", "forceNew": ["zone"]}));
    assert!(matches!(runtime.compare(&moved, &changed), Comparison::Immutable(_)));
    let change = Change { desired: &moved, ..change };
    let error = runtime.apply(change).await.expect_err("fixed");
    assert!(matches!(error, RuntimeError::Immutable { .. }));
    let attempt = AttemptId { revision: 2, step: 1 };
    let deletion = Deletion::new(&prior, attempt);
    runtime.delete(deletion).await.expect("deleted");
    runtime.delete(deletion).await.expect("nothing left to delete");
    let error = runtime.apply(change).await.expect_err("gone");
    assert!(matches!(error, RuntimeError::Moved(_)));
}

#[tokio::test]
async fn a_folder_keeps_its_identity() {
    let place = Place::new("identity");
    let first = place.open("").identity().await.expect("an identity");
    assert_eq!(place.open("").identity().await, Ok(first));
}
