//! Plans of small stacks.

mod actions;
mod guards;
mod ordering;

use kusion_model::{
    Action, Identity, Operation, Place, Plan, Reason, Resource, ResourceId, ResourceState,
    ResourceType, StackKey, Step,
};
use serde_json::{Map, Value};

fn resource(id: &str, attributes: Value, depends_on: &[&str]) -> Resource {
    Resource {
        id: ResourceId::new(id),
        resource_type: ResourceType::new("Test"),
        attributes: attributes.into(),
        depends_on: depends_on.iter().map(|it| ResourceId::new(*it)).collect(),
        extensions: Map::new(),
    }
}

fn state(resource: Resource) -> ResourceState {
    let identity = Identity::new(resource.id.as_str(), None);
    ResourceState::new(resource, identity, 1)
}

fn step(id: &str, action: Action, desired: Option<Resource>) -> Step {
    let resource_type = ResourceType::new("Test");
    Step { desired, ..Step::new(ResourceId::new(id), resource_type, action, Reason::New) }
}

fn plan(operation: Operation, steps: Vec<Step>) -> Plan {
    Plan::new(StackKey::new("p", "s", Place::Main), operation, steps)
}
