//! Plans of small stacks.

mod actions;
mod guards;
mod ordering;

use kusion_model::{
    Action, Identity, Operation, Plan, Reason, Resource, ResourceId, ResourceState, ResourceType,
    StackKey, Step,
};
use serde_json::{Map, Value};

fn resource(id: &str, attributes: Value, depends_on: &[&str]) -> Resource {
    Resource {
        id: ResourceId::new(id),
        resource_type: ResourceType::kubernetes(),
        attributes: attributes.into(),
        depends_on: depends_on.iter().map(|it| ResourceId::new(*it)).collect(),
        extensions: Map::new(),
    }
}

fn state(resource: Resource) -> ResourceState {
    ResourceState { identity: Identity::new(resource.id.as_str(), None), resource, revision: 1 }
}

fn step(id: &str, action: Action, desired: Option<Resource>) -> Step {
    let kubernetes = ResourceType::kubernetes();
    Step { desired, ..Step::new(ResourceId::new(id), kubernetes, action, Reason::New) }
}

fn plan(operation: Operation, steps: Vec<Step>) -> Plan {
    let key = StackKey {
        project: "p".into(),
        stack: "s".into(),
        cell: String::new(),
        cluster: "c".into(),
    };
    Plan::new(key, operation, steps)
}
