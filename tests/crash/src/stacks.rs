//! Stacks of any size, in a few variants.

use kusion_model::{Resource, ResourceId, ResourceType, Spec};
use serde_json::{Map, Value, json};

/// What a stack looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As it is made first.
    First,
    /// All resources have another value but those that are replaced in the other variant.
    Changed,
    /// Every fourth resource has another value in a field that cannot change.
    Replaced,
}

impl Variant {
    /// Reads a variant.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "first" => Self::First,
            "changed" => Self::Changed,
            "replaced" => Self::Replaced,
            _ => return None,
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Changed => "changed",
            Self::Replaced => "replaced",
        }
    }

    fn value(self, place: usize) -> String {
        let is_new = match self {
            Self::First => false,
            Self::Changed => place % 4 != 1,
            Self::Replaced => place % 4 == 1,
        };
        if is_new { format!("{}-{place}", self.name()) } else { format!("value-{place}") }
    }
}

/// Whether the variant [`Variant::Replaced`] replaces a resource.
pub(crate) fn is_replaced(id: &ResourceId) -> bool {
    number(id).is_some_and(|place| place % 4 == 1)
}

/// Whether the new object of a resource is made before the old one is deleted.
pub(crate) fn is_create_first(id: &ResourceId) -> bool {
    id.as_str().starts_with("fake:") && number(id).is_some_and(|place| place % 8 == 1)
}

fn number(id: &ResourceId) -> Option<usize> {
    id.as_str().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Makes a stack of `size` resources on an infrastructure: objects of a cluster
/// (`kubeconfig:PATH`), files of this machine (`host:PATH`), or things whose ids their infrastructure
/// chooses (`folder:PATH`).
pub fn spec(infrastructure: &str, size: usize, variant: Variant) -> Spec {
    let make = |place: usize| match infrastructure.split_once(':') {
        Some(("kubeconfig", _)) => object(place, variant),
        Some(("host", folder)) => file(folder, place, variant),
        _ => thing(place, variant),
    };
    Spec { resources: (0..size).map(make).collect(), ..Spec::default() }
}

fn file(folder: &str, place: usize, variant: Variant) -> Resource {
    let directory = ResourceId::new(format!("host:directory:here:{folder}"));
    let host = ResourceType::new("Host");
    if place == 0 {
        return resource(directory, host, json!({}), Vec::new());
    }
    let id = ResourceId::new(format!("host:file:here:{folder}/h{place}"));
    let attributes = json!({"content": variant.value(place), "sensitive": place % 3 == 1});
    resource(id, host, attributes, vec![directory])
}

fn object(place: usize, variant: Variant) -> Resource {
    let namespace = ResourceId::new("v1:Namespace:crash");
    let (id, attributes, depends_on) = if place == 0 {
        let attributes =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crash"}});
        (namespace, attributes, Vec::new())
    } else {
        let name = format!("c{place}");
        let is_fixed = place % 4 == 1;
        let value = variant.value(place);
        let mut attributes = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "crash"}, "data": {"value": value},
        });
        if is_fixed {
            attributes["immutable"] = json!(true);
        }
        let mut depends_on = vec![namespace];
        if place > 3 {
            depends_on.push(ResourceId::new(format!("v1:ConfigMap:crash:c{}", place / 2)));
        }
        (ResourceId::new(format!("v1:ConfigMap:crash:{name}")), attributes, depends_on)
    };
    resource(id, ResourceType::new("Kubernetes"), attributes, depends_on)
}

fn thing(place: usize, variant: Variant) -> Resource {
    let fixed = if variant == Variant::Replaced { variant } else { Variant::First };
    let plain = if variant == Variant::Changed { variant } else { Variant::First };
    let mut attributes = json!({
        "fixed": fixed.value(place), "plain": plain.value(place), "forceNew": ["fixed"],
    });
    // Some are replaced by making the new one first, and some have something secret.
    if place % 8 == 1 {
        attributes["createFirst"] = json!(true);
    }
    if place % 3 == 1 {
        attributes["secrets"] = json!({"password": format!("secret-{place}")});
    }
    let mut depends_on = Vec::new();
    if place > 0 {
        let used = format!("fake:thing:t{}", place / 2);
        if place.is_multiple_of(5) {
            attributes["peer"] = json!(format!("$kusion_path.{used}.address"));
        }
        depends_on.push(ResourceId::new(used));
    }
    let id = ResourceId::new(format!("fake:thing:t{place}"));
    resource(id, ResourceType::new("Fake"), attributes, depends_on)
}

fn resource(
    id: ResourceId,
    resource_type: ResourceType,
    attributes: Value,
    depends_on: Vec<ResourceId>,
) -> Resource {
    Resource {
        id,
        resource_type,
        attributes: attributes.into(),
        depends_on,
        extensions: Map::new(),
    }
}
