//! Records to write.

use kusion_model::{
    Action, AttemptId, Ending, GitRevision, Identity, Infrastructure, InfrastructureId, Leftover,
    Operation, Phase, Record, ReleaseHead, ReleaseHealth, ReplaceOrder, Resource, ResourceId,
    ResourceState, ResourceType, RuntimeData, StackSource,
};
use serde_json::json;

pub(crate) fn resource(name: &str, size: usize) -> Resource {
    Resource {
        id: ResourceId::new(name),
        resource_type: ResourceType::new("Test"),
        attributes: json!({"metadata": {"name": name}, "data": "x".repeat(size)}).into(),
        depends_on: Vec::new(),
        extensions: serde_json::Map::new(),
    }
}

pub(crate) fn present(name: &str, size: usize, revision: u64) -> Ending {
    let identity = Identity::new(name, Some("uid".into()));
    let remembered = RuntimeData { schema_version: 3, value: json!({"a": [1]}), is_secret: false };
    Ending::Present(Box::new(ResourceState {
        runtime: Some(remembered.clone()),
        secrets: vec![kusion_model::FieldPath::default().key("data")],
        leftovers: vec![Leftover { identity: identity.clone(), runtime: Some(remembered) }],
        ..ResourceState::new(resource(name, size), identity, revision)
    }))
}

pub(crate) fn noted(name: &str, size: usize) -> Record {
    Record::Noted { id: ResourceId::new(name), ending: present(name, size, 1) }
}

pub(crate) fn opened(revision: u64) -> Record {
    let git = GitRevision { commit: "c0ffee".into(), branch: None, is_dirty: Some(true) };
    Record::ReleaseOpened(ReleaseHead {
        revision,
        operation: Operation::Apply,
        operator: "me".into(),
        engine: "0".into(),
        spec_digest: String::new(),
        plan_digest: String::new(),
        saved_plan: Some("d1".into()),
        message: "why".into(),
        git: Some(git),
    })
}

pub(crate) fn closed(revision: u64) -> Record {
    Record::ReleaseClosed { revision, phase: Phase::Succeeded, message: String::new() }
}

pub(crate) fn began(revision: u64, step: u64, name: &str) -> Record {
    Record::StepBegan {
        attempt: AttemptId { revision, step },
        id: ResourceId::new(name),
        action: Action::Create,
        desired: Some(Box::new(resource(name, 10))),
        replace_order: ReplaceOrder::CreateFirst,
    }
}

pub(crate) fn ended(revision: u64, step: u64, name: &str) -> Record {
    Record::StepEnded {
        attempt: AttemptId { revision, step },
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
    match rng.u8(0..12) {
        8 => Record::HealthSeen {
            revision,
            health: ReleaseHealth::Degraded,
            message: "r1 is not ready".into(),
        },
        9 => {
            let cluster = InfrastructureId { id: name.clone(), name: "a cluster".into() };
            let infrastructure = Infrastructure::from([(ResourceType::new("Test"), cluster)]);
            Record::Located { infrastructure, is_new: rng.u8(0..8) == 0 }
        }
        10 => Record::Described {
            source: Some(StackSource::Git { remote: "host/repo".into(), folder: name }),
            owner: Some("team".into()),
        },
        0 => opened(revision),
        1 => closed(revision),
        2 | 3 => began(revision, step, &name),
        4 => ended(revision, step, &name),
        5 => Record::Noted { id, ending: Ending::Absent },
        6 => Record::StepEnded {
            attempt: AttemptId { revision, step },
            id,
            ending: Ending::Failed { message: "no".into() },
        },
        _ => noted(&name, size),
    }
}
