//! The built-in kinds that reconcilers know by name.

use crate::Resource;
use std::sync::LazyLock;

/// Declares [`Kind`] and its table: variant, group, storage version, plural, kind, namespaced.
macro_rules! kinds {
    ($($variant:ident $group:literal $version:literal $plural:literal $namespaced:literal;)*) => {
        /// A built-in kind; the number is its place in the cache.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are those of the API")]
        pub(crate) enum Kind { $($variant,)* }

        /// All known kinds, in the order of their numbers.
        pub(crate) const KINDS: &[Kind] = &[$(Kind::$variant,)*];

        const FACTS: &[Facts] = &[$(Facts {
            group: $group,
            version: $version,
            plural: $plural,
            kind: stringify!($variant),
            namespaced: $namespaced,
        },)*];
    };
}

kinds! {
    Pod "" "v1" "pods" true;
    Node "" "v1" "nodes" false;
    Namespace "" "v1" "namespaces" false;
    Service "" "v1" "services" true;
    Endpoints "" "v1" "endpoints" true;
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices" true;
    ConfigMap "" "v1" "configmaps" true;
    Secret "" "v1" "secrets" true;
    ServiceAccount "" "v1" "serviceaccounts" true;
    Event "" "v1" "events" true;
    ResourceQuota "" "v1" "resourcequotas" true;
    LimitRange "" "v1" "limitranges" true;
    ReplicationController "" "v1" "replicationcontrollers" true;
    PersistentVolume "" "v1" "persistentvolumes" false;
    PersistentVolumeClaim "" "v1" "persistentvolumeclaims" true;
    ReplicaSet "apps" "v1" "replicasets" true;
    Deployment "apps" "v1" "deployments" true;
    StatefulSet "apps" "v1" "statefulsets" true;
    DaemonSet "apps" "v1" "daemonsets" true;
    ControllerRevision "apps" "v1" "controllerrevisions" true;
    Job "batch" "v1" "jobs" true;
    CronJob "batch" "v1" "cronjobs" true;
    PodDisruptionBudget "policy" "v1" "poddisruptionbudgets" true;
    Ingress "networking.k8s.io" "v1" "ingresses" true;
    IngressClass "networking.k8s.io" "v1" "ingressclasses" false;
    ServiceCIDR "networking.k8s.io" "v1" "servicecidrs" false;
    StorageClass "storage.k8s.io" "v1" "storageclasses" false;
    PriorityClass "scheduling.k8s.io" "v1" "priorityclasses" false;
    Lease "coordination.k8s.io" "v1" "leases" true;
    ClusterRole "rbac.authorization.k8s.io" "v1" "clusterroles" false;
    ClusterRoleBinding "rbac.authorization.k8s.io" "v1" "clusterrolebindings" false;
    CustomResourceDefinition "apiextensions.k8s.io" "v1" "customresourcedefinitions" false;
    FlowSchema "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" false;
}

#[derive(Debug)]
struct Facts {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    namespaced: bool,
}

static RESOURCES: LazyLock<Vec<Resource>> = LazyLock::new(|| {
    FACTS
        .iter()
        .map(|it| Resource {
            group: it.group.into(),
            version: it.version.into(),
            plural: it.plural.into(),
        })
        .collect()
});

impl Kind {
    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// The resource in its storage version.
    pub(crate) fn resource(self) -> &'static Resource {
        &RESOURCES[self as usize]
    }

    /// The kind as it stands in objects.
    pub(crate) fn name(self) -> &'static str {
        self.facts().kind
    }

    /// The `apiVersion` as it stands in objects.
    pub(crate) fn api_version(self) -> String {
        let facts = self.facts();
        if facts.group.is_empty() {
            facts.version.to_owned()
        } else {
            format!("{}/{}", facts.group, facts.version)
        }
    }

    /// The API group.
    pub(crate) fn group(self) -> &'static str {
        self.facts().group
    }

    /// The plural name.
    pub(crate) fn plural(self) -> &'static str {
        self.facts().plural
    }

    /// Whether objects live in a namespace.
    pub(crate) fn namespaced(self) -> bool {
        self.facts().namespaced
    }

    /// The kind with this group and plural name.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        KINDS
            .iter()
            .copied()
            .find(|it| it.plural() == &*resource.plural && it.group() == &*resource.group)
    }

    /// The kind with this group (the part of `apiVersion` before the slash) and kind name.
    pub(crate) fn named(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        KINDS.iter().copied().find(|it| it.name() == kind && it.group() == group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_resource_and_by_name() {
        assert_eq!(Kind::of(Kind::Job.resource()), Some(Kind::Job));
        assert_eq!(Kind::named("apps/v1", "Deployment"), Some(Kind::Deployment));
        assert_eq!(Kind::named("v1", "Deployment"), None);
        assert_eq!(Kind::Pod.api_version(), "v1");
    }
}
