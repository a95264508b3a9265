//! Records to write.

use kusion_model::{
    Action, Ending, Identity, Operation, OperationId, Phase, Record, ReleaseHead, Resource,
    ResourceId, ResourceState, ResourceType,
};
use serde_json::json;

pub(crate) fn resource(name: &str, size: usize) -> Resource {
    Resource {
        id: ResourceId::new(name),
        resource_type: ResourceType::kubernetes(),
        attributes: json!({"metadata": {"name": name}, "data": "x".repeat(size)}).into(),
        depends_on: Vec::new(),
        extensions: serde_json::Map::new(),
    }
}

pub(crate) fn present(name: &str, size: usize, revision: u64) -> Ending {
    Ending::Present(Box::new(ResourceState {
        resource: resource(name, size),
        identity: Identity::new(name, Some("uid".into())),
        revision,
    }))
}

pub(crate) fn noted(name: &str, size: usize) -> Record {
    Record::Noted { id: ResourceId::new(name), ending: present(name, size, 1) }
}

pub(crate) fn opened(revision: u64) -> Record {
    Record::Opened(ReleaseHead {
        revision,
        operation: Operation::Apply,
        operator: "me".into(),
        engine: "0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        spec_digest: String::new(),
        plan_digest: String::new(),
    })
}

pub(crate) fn closed(revision: u64) -> Record {
    Record::Closed {
        revision,
        phase: Phase::Succeeded,
        ended: "2026-01-01T00:00:01Z".into(),
        message: String::new(),
    }
}

pub(crate) fn began(revision: u64, step: u64, name: &str) -> Record {
    Record::Began {
        operation: OperationId { revision, step },
        id: ResourceId::new(name),
        action: Action::Create,
        desired: Some(Box::new(resource(name, 10))),
    }
}

pub(crate) fn ended(revision: u64, step: u64, name: &str) -> Record {
    Record::Ended {
        operation: OperationId { revision, step },
        id: ResourceId::new(name),
        ending: present(name, 10, revision),
    }
}

/// Makes any record of a journal; some are large.
pub(crate) fn random(rng: &mut fastrand::Rng) -> Record {
    let revision = rng.u64(1..4);
    let step = rng.u64(1..9);
    let name = format!("r{}", rng.u8(0..12));
    let size = if rng.u8(0..3) == 0 { 30_000 } else { 100 };
    let id = ResourceId::new(name.as_str());
    match rng.u8(0..8) {
        0 => opened(revision),
        1 => closed(revision),
        2 | 3 => began(revision, step, &name),
        4 => ended(revision, step, &name),
        5 => Record::Noted { id, ending: Ending::Absent },
        6 => Record::Ended {
            operation: OperationId { revision, step },
            id,
            ending: Ending::Failed { message: "no".into() },
        },
        _ => noted(&name, size),
    }
}
