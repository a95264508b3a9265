//! The model packages of generated repositories: what developers write, what clusters get.

use super::write;
use std::path::Path;

/// Writes the model packages below the root of a module.
pub(super) fn write_models(root: &Path) -> anyhow::Result<()> {
    write(&root.join("models/service/unit.k"), UNIT)?;
    write(&root.join("models/service/service.k"), SERVICE)?;
    write(&root.join("models/cluster/objects.k"), OBJECTS)?;
    write(&root.join("models/render/render.k"), RENDER)
}

const UNIT: &str = r#"import regex

schema Compute:
    """Compute says what a unit may use.

    Attributes
    ----------
    cpu : str, default is "200m", optional
        Cores, or thousandths with an m.
    memory : str, default is "128Mi", optional
        Bytes with a unit.
    """
    cpu: str = "200m"
    memory: str = "128Mi"

    check:
        regex.match(cpu, r"^[1-9][0-9]*m?$"), "'${cpu}' is no amount of cores"
        regex.match(memory, r"^[1-9][0-9]*(Mi|Gi)$"), "'${memory}' is no amount of memory"

schema Endpoint:
    label: str
    port: int
    transport: "TCP" | "UDP" = "TCP"

    check:
        0 < port < 65536, "${port} is no port"

schema Check:
    path: str = "/live"
    port: int
    every: int = 15
    after?: int

    check:
        path.startswith("/"), "a path starts with a slash"

schema Unit:
    """Unit is one container of a service."""
    title: str
    image: str
    version: str = "stable"
    endpoints: [Endpoint] = []
    variables: {str:str} = {}
    secrets: {str:str} = {}
    compute: Compute = Compute {}
    alive?: Check
    ready?: Check

    check:
        regex.match(title, r"^[a-z][-a-z0-9]*$"), "bad title '${title}'"
        len(title) < 64
        all e in endpoints { e.port > 0 }
"#;

const SERVICE: &str = r#"schema Document:
    title: str
    folder: str = "/config/${title}"
    content: {str:str}

schema Domain:
    host: str
    routes: {str:str} = {"/" = "web"}
    secure: bool = False

    check:
        "." in host, "'${host}' is no host"

schema Named:
    title: str
    space: str = "default"
    marks: {str:str} = {}
    notes: {str:str} = {}

    check:
        len(title) > 0, "a title is needed"

protocol MarkedProtocol:
    title: str
    marks: {str:str}

mixin MarksMixin for MarkedProtocol:
    marks: {str:str} = {
        "corp.test/title" = title
        "corp.test/made-by" = "kcl"
    }

schema Service(Named):
    """Service is what developers write."""
    mixin [MarksMixin]
    copies: int = 1
    main: Unit
    helpers: [Unit] = []
    documents: [Document] = []
    domain?: Domain
    layer: "front" | "middle" | "store" = "middle"

    check:
        1 <= copies <= 500, "${copies} copies are not possible"
        isunique([h.title for h in helpers]), "helpers need titles of their own"
"#;

const OBJECTS: &str = r#"schema Meta:
    name: str
    namespace?: str
    labels?: {str:str}
    annotations?: {str:str}

schema Object:
    apiVersion: str
    kind: str
    metadata: Meta

schema Variable:
    name: str
    value?: str
    valueFrom?: {str:any}

schema ContainerPort:
    name?: str
    containerPort: int
    protocol?: str

schema Container:
    name: str
    image: str
    ports?: [ContainerPort]
    env?: [Variable]
    resources?: {str:any}
    livenessProbe?: {str:any}
    readinessProbe?: {str:any}
    volumeMounts?: [{str:any}]

schema Pod:
    containers: [Container]
    volumes?: [{str:any}]

schema Template:
    metadata: {str:any}
    spec: Pod

schema DeploymentSpec:
    replicas: int = 1
    selector: {str:any}
    template: Template

schema Deployment(Object):
    apiVersion: "apps/v1" = "apps/v1"
    kind: "Deployment" = "Deployment"
    spec: DeploymentSpec

schema ClusterService(Object):
    apiVersion: "v1" = "v1"
    kind: "Service" = "Service"
    spec: {str:any}

schema ConfigMap(Object):
    apiVersion: "v1" = "v1"
    kind: "ConfigMap" = "ConfigMap"
    data: {str:str}

schema Ingress(Object):
    apiVersion: "networking.k8s.io/v1" = "networking.k8s.io/v1"
    kind: "Ingress" = "Ingress"
    spec: {str:any}
"#;

const RENDER: &str = r#"import models.service as sv
import models.cluster as cl

_marks = lambda s: sv.Service -> {str:str} {
    s.marks | {"app" = s.title, "layer" = s.layer}
}

_probe = lambda c: sv.Check -> {str:any} {
    {
        httpGet = {path = c.path, port = c.port}
        periodSeconds = c.every
        if c.after:
            initialDelaySeconds = c.after
    }
}

_container = lambda u: sv.Unit, documents: [sv.Document] -> cl.Container {
    cl.Container {
        name = u.title
        image = "{}:{}".format(u.image, u.version)
        ports = [cl.ContainerPort {
            name = e.label
            containerPort = e.port
            protocol = e.transport
        } for e in u.endpoints]
        env = [cl.Variable {name = k, value = v} for k, v in u.variables] + [cl.Variable {
            name = k
            valueFrom = {secretKeyRef = {name = v.split(":")[0], key = v.split(":")[1]}}
        } for k, v in u.secrets]
        resources = {
            limits = {cpu = u.compute.cpu, memory = u.compute.memory}
            requests = {cpu = u.compute.cpu, memory = u.compute.memory}
        }
        if u.alive:
            livenessProbe = _probe(u.alive)
        if u.ready:
            readinessProbe = _probe(u.ready)
        volumeMounts = [{name = d.title, mountPath = d.folder, readOnly = True} for d in documents]
    }
}

schema Objects:
    [kind: str]: [any]

protocol RenderProtocol:
    source: sv.Service
    objects: Objects

mixin DeploymentMixin for RenderProtocol:
    objects: Objects {
        Deployment = [cl.Deployment {
            metadata = {
                name = source.title
                namespace = source.space
                labels = _marks(source)
                annotations = source.notes
            }
            spec = {
                replicas = source.copies
                selector = {matchLabels = {"app" = source.title, "layer" = source.layer}}
                template = {
                    metadata = {labels = _marks(source)}
                    spec = {
                        containers = [_container(source.main, source.documents)] + [_container(h, []) for h in source.helpers]
                        volumes = [{name = d.title, configMap = {name = "${source.title}-${d.title}"}} for d in source.documents]
                    }
                }
            }
        }]
    }

mixin ServiceMixin for RenderProtocol:
    if source.main.endpoints:
        objects: Objects {
            Service = [cl.ClusterService {
                metadata = {name = source.title, namespace = source.space, labels = _marks(source)}
                spec = {
                    selector = {"app" = source.title, "layer" = source.layer}
                    ports = [{name = e.label, port = e.port, targetPort = e.label, protocol = e.transport} for e in source.main.endpoints]
                }
            }]
        }

mixin DocumentMixin for RenderProtocol:
    if source.documents:
        objects: Objects {
            ConfigMap = [cl.ConfigMap {
                metadata = {name = "${source.title}-${d.title}", namespace = source.space, labels = _marks(source)}
                data = d.content
            } for d in source.documents]
        }

mixin DomainMixin for RenderProtocol:
    if source.domain:
        objects: Objects {
            Ingress = [cl.Ingress {
                metadata = {name = source.title, namespace = source.space, labels = _marks(source)}
                spec = {
                    rules = [{
                        host = source.domain.host
                        http = {
                            paths = [{
                                path = _path
                                pathType = "Prefix"
                                backend = {service = {name = source.title, port = {name = _port}}}
                            } for _path, _port in source.domain.routes]
                        }
                    }]
                    if source.domain.secure:
                        tls = [{hosts = [source.domain.host], secretName = "${source.title}-tls"}]
                }
            }]
        }

schema Rendered[service: sv.Service]:
    mixin [DeploymentMixin, ServiceMixin, DocumentMixin, DomainMixin]
    source: sv.Service = service
    objects: Objects = Objects {}

render = lambda s: sv.Service -> [any] {
    [o for kind, list in Rendered(s).objects for o in list]
}
"#;
