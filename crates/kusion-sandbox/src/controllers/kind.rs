//! The built-in kinds that reconcilers know by name.

use crate::Resource;
use std::sync::LazyLock;

/// Declares [`Kind`] and its table: variant, group, storage version, plural name.
macro_rules! kinds {
    ($($variant:ident $group:literal $version:literal $plural:literal;)*) => {
        /// A built-in kind; the number is its place in the cache.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Kind { $($variant,)* }

        /// All known kinds, in the order of their numbers.
        pub(crate) const KINDS: &[Kind] = &[$(Kind::$variant,)*];

        const FACTS: &[Facts] = &[$(Facts {
            group: $group,
            version: $version,
            plural: $plural,
            kind: stringify!($variant),
        },)*];
    };
}

kinds! {
    Pod "" "v1" "pods";
    Node "" "v1" "nodes";
    Namespace "" "v1" "namespaces";
    Service "" "v1" "services";
    Endpoints "" "v1" "endpoints";
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices";
    ConfigMap "" "v1" "configmaps";
    Secret "" "v1" "secrets";
    ServiceAccount "" "v1" "serviceaccounts";
    Event "" "v1" "events";
    ResourceQuota "" "v1" "resourcequotas";
    LimitRange "" "v1" "limitranges";
    ReplicationController "" "v1" "replicationcontrollers";
    PersistentVolume "" "v1" "persistentvolumes";
    PersistentVolumeClaim "" "v1" "persistentvolumeclaims";
    ReplicaSet "apps" "v1" "replicasets";
    Deployment "apps" "v1" "deployments";
    StatefulSet "apps" "v1" "statefulsets";
    DaemonSet "apps" "v1" "daemonsets";
    ControllerRevision "apps" "v1" "controllerrevisions";
    Job "batch" "v1" "jobs";
    CronJob "batch" "v1" "cronjobs";
    PodDisruptionBudget "policy" "v1" "poddisruptionbudgets";
    HorizontalPodAutoscaler "autoscaling" "v2" "horizontalpodautoscalers";
    Ingress "networking.k8s.io" "v1" "ingresses";
    IngressClass "networking.k8s.io" "v1" "ingressclasses";
    ServiceCIDR "networking.k8s.io" "v1" "servicecidrs";
    StorageClass "storage.k8s.io" "v1" "storageclasses";
    PriorityClass "scheduling.k8s.io" "v1" "priorityclasses";
    Lease "coordination.k8s.io" "v1" "leases";
    ClusterRole "rbac.authorization.k8s.io" "v1" "clusterroles";
    ClusterRoleBinding "rbac.authorization.k8s.io" "v1" "clusterrolebindings";
    CustomResourceDefinition "apiextensions.k8s.io" "v1" "customresourcedefinitions";
    FlowSchema "flowcontrol.apiserver.k8s.io" "v1" "flowschemas";
    PriorityLevelConfiguration "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations";
    APIService "apiregistration.k8s.io" "v1" "apiservices";
    ValidatingAdmissionPolicy "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies";
    ResourceClaim "resource.k8s.io" "v1" "resourceclaims";
    ResourceClaimTemplate "resource.k8s.io" "v1" "resourceclaimtemplates";
    DeviceClass "resource.k8s.io" "v1" "deviceclasses";
    ResourceSlice "resource.k8s.io" "v1" "resourceslices";
}

#[derive(Debug)]
struct Facts {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
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
