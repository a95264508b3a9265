//! Dependencies that follow from fields.

use crate::support::{object, stack};
use kusion_model::ResourceId;

/// Compiles objects and returns what the first needs, without the namespace of all.
fn needs(first: &str, others: &[(&str, &str, &str)]) -> String {
    let mut all = vec![first.to_owned()];
    for (version, kind, name) in others {
        let namespace = if name.contains('/') { "demo" } else { "" };
        let name = name.trim_start_matches("demo/");
        let more = match *kind {
            "CustomResourceDefinition" => {
                "spec = {group = \"example.com\", scope = \"Namespaced\", names = {kind = \"Widget\"}}"
            }
            _ => "",
        };
        all.push(object(version, kind, namespace, name, more));
    }
    let compiled = stack(&format!("objects = [{}]\n", all.join(", "))).expect("it compiles");
    let needs = &compiled.spec.resources[0].depends_on;
    needs.iter().map(ResourceId::as_str).collect::<Vec<_>>().join(" ")
}

const POD: &str = "serviceAccountName = \"sa\", priorityClassName = \"pc\", \
    imagePullSecrets = [{name = \"pull\"}], \
    initContainers = [{name = \"i\", env = [{name = \"A\", valueFrom = {secretKeyRef = {name = \"s1\", key = \"k\"}}}]}], \
    containers = [{name = \"c\", env = [{name = \"A\", valueFrom = {configMapKeyRef = {name = \"m1\", key = \"k\"}}}], \
        envFrom = [{configMapRef = {name = \"m2\"}}, {secretRef = {name = \"s2\"}}]}], \
    volumes = [ \
        {name = \"a\", configMap = {name = \"m3\"}}, \
        {name = \"b\", secret = {secretName = \"s3\"}}, \
        {name = \"c\", persistentVolumeClaim = {claimName = \"claim\"}}, \
        {name = \"d\", projected = {sources = [{configMap = {name = \"m4\"}}, {secret = {name = \"s4\"}}]}}, \
        {name = \"e\", configMap = {name = \"not-in-the-spec\"}}]";

const POD_NEEDS: [(&str, &str, &str); 13] = [
    ("v1", "Namespace", "demo"),
    ("v1", "ServiceAccount", "demo/sa"),
    ("scheduling.k8s.io/v1", "PriorityClass", "pc"),
    ("v1", "Secret", "demo/pull"),
    ("v1", "Secret", "demo/s1"),
    ("v1", "Secret", "demo/s2"),
    ("v1", "Secret", "demo/s3"),
    ("v1", "Secret", "demo/s4"),
    ("v1", "ConfigMap", "demo/m1"),
    ("v1", "ConfigMap", "demo/m2"),
    ("v1", "ConfigMap", "demo/m3"),
    ("v1", "ConfigMap", "demo/m4"),
    ("v1", "PersistentVolumeClaim", "demo/claim"),
];

const POD_FOUND: &str = "scheduling.k8s.io/v1:PriorityClass:pc v1:ConfigMap:demo:m1 \
    v1:ConfigMap:demo:m2 v1:ConfigMap:demo:m3 v1:ConfigMap:demo:m4 v1:Namespace:demo \
    v1:PersistentVolumeClaim:demo:claim v1:Secret:demo:pull v1:Secret:demo:s1 v1:Secret:demo:s2 \
    v1:Secret:demo:s3 v1:Secret:demo:s4 v1:ServiceAccount:demo:sa";

#[test]
fn pods_wherever_they_stand() {
    let pod = object("v1", "Pod", "demo", "p", &format!("spec = {{{POD}}}"));
    assert_eq!(needs(&pod, &POD_NEEDS), POD_FOUND);
    for (version, kind) in [
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("v1", "ReplicationController"),
    ] {
        let more = format!("spec = {{template = {{spec = {{{POD}}}}}}}");
        assert_eq!(needs(&object(version, kind, "demo", "w", &more), &POD_NEEDS), POD_FOUND);
    }
    let more = format!("spec = {{jobTemplate = {{spec = {{template = {{spec = {{{POD}}}}}}}}}}}");
    assert_eq!(needs(&object("batch/v1", "CronJob", "demo", "w", &more), &POD_NEEDS), POD_FOUND);
}

#[test]
fn objects_of_another_namespace_are_others() {
    let pod = object("v1", "Pod", "other", "p", &format!("spec = {{{POD}}}"));
    assert_eq!(needs(&pod, &POD_NEEDS), "scheduling.k8s.io/v1:PriorityClass:pc");
}

#[test]
fn stateful_sets_and_claims() {
    let set = object(
        "apps/v1",
        "StatefulSet",
        "demo",
        "db",
        "spec = {serviceName = \"db\", volumeClaimTemplates = [{spec = {storageClassName = \"fast\"}}]}",
    );
    let others = [("v1", "Service", "demo/db"), ("storage.k8s.io/v1", "StorageClass", "fast")];
    assert_eq!(needs(&set, &others), "storage.k8s.io/v1:StorageClass:fast v1:Service:demo:db");
    let claim = object(
        "v1",
        "PersistentVolumeClaim",
        "demo",
        "c",
        "spec = {storageClassName = \"fast\", volumeName = \"v\"}",
    );
    let others = [("v1", "PersistentVolume", "v"), ("storage.k8s.io/v1", "StorageClass", "fast")];
    assert_eq!(needs(&claim, &others), "storage.k8s.io/v1:StorageClass:fast v1:PersistentVolume:v");
}

#[test]
fn roles_and_subjects() {
    let rbac = "rbac.authorization.k8s.io/v1";
    let subjects = "subjects = [{kind = \"ServiceAccount\", name = \"sa\", namespace = \"demo\"}, {kind = \"User\", name = \"u\"}]";
    let others =
        [(rbac, "Role", "demo/r"), (rbac, "ClusterRole", "r"), ("v1", "ServiceAccount", "demo/sa")];
    let more = format!("roleRef = {{kind = \"Role\", name = \"r\"}}, {subjects}");
    let binding = object(rbac, "RoleBinding", "demo", "b", &more);
    assert_eq!(needs(&binding, &others), format!("{rbac}:Role:demo:r v1:ServiceAccount:demo:sa"));
    let more = format!("roleRef = {{kind = \"ClusterRole\", name = \"r\"}}, {subjects}");
    let binding = object(rbac, "ClusterRoleBinding", "", "b", &more);
    assert_eq!(needs(&binding, &others), format!("{rbac}:ClusterRole:r v1:ServiceAccount:demo:sa"));
}

#[test]
fn ingresses_and_scalers() {
    let ingress = object(
        "networking.k8s.io/v1",
        "Ingress",
        "demo",
        "in",
        "spec = {ingressClassName = \"c\", tls = [{secretName = \"t\"}], defaultBackend = {service = {name = \"d\"}}, rules = [{http = {paths = [{backend = {service = {name = \"s\"}}}]}}]}",
    );
    let others = [
        ("networking.k8s.io/v1", "IngressClass", "c"),
        ("v1", "Secret", "demo/t"),
        ("v1", "Service", "demo/d"),
        ("v1", "Service", "demo/s"),
    ];
    assert_eq!(
        needs(&ingress, &others),
        "networking.k8s.io/v1:IngressClass:c v1:Secret:demo:t v1:Service:demo:d v1:Service:demo:s"
    );
    let scaler = object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "demo",
        "h",
        "spec = {scaleTargetRef = {apiVersion = \"apps/v1\", kind = \"Deployment\", name = \"w\"}}",
    );
    assert_eq!(needs(&scaler, &[("apps/v1", "Deployment", "demo/w")]), "apps/v1:Deployment:demo:w");
}

#[test]
fn definitions_come_before_their_objects() {
    let widget = object("example.com/v1", "Widget", "demo", "w", "");
    let crd = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com");
    assert_eq!(
        needs(&widget, &[crd]),
        "apiextensions.k8s.io/v1:CustomResourceDefinition:widgets.example.com"
    );
}

#[test]
fn webhooks_accounts_and_tokens() {
    let hook = object(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "",
        "h",
        "webhooks = [{clientConfig = {service = {namespace = \"demo\", name = \"s\"}}}]",
    );
    assert_eq!(needs(&hook, &[("v1", "Service", "demo/s")]), "v1:Service:demo:s");
    let account =
        object("v1", "ServiceAccount", "demo", "sa", "imagePullSecrets = [{name = \"p\"}]");
    assert_eq!(needs(&account, &[("v1", "Secret", "demo/p")]), "v1:Secret:demo:p");
    let token = "{apiVersion = \"v1\", kind = \"Secret\", metadata = {name = \"t\", namespace = \"demo\", annotations = {\"kubernetes.io/service-account.name\" = \"sa\"}}}";
    assert_eq!(needs(token, &[("v1", "ServiceAccount", "demo/sa")]), "v1:ServiceAccount:demo:sa");
}

#[test]
fn kinds_alone_make_no_order() {
    let others = [
        ("v1", "ServiceAccount", "demo/a"),
        ("v1", "Secret", "demo/a"),
        ("v1", "ConfigMap", "demo/a"),
        ("v1", "Service", "demo/a"),
        ("v1", "Service", "demo/b"),
        ("batch/v1", "Job", "demo/a"),
    ];
    let deployment = object("apps/v1", "Deployment", "demo", "a", "");
    assert_eq!(needs(&deployment, &others), "");
    let custom = object("example.com/v1", "Widget", "demo", "a", "");
    assert_eq!(needs(&custom, &others), "");
}
