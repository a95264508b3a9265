//! Schemas of all forms.

use crate::support::{imported, ran};
use kcl_import::Mode;

const APP: &str = r#"
$schema: https://json-schema.org/draft/2020-12/schema
title: my app
type: object
required: [name, mode]
properties:
  name: {type: string, pattern: '^[a-z]+$', minLength: 2, description: "The \"\"\" name"}
  regex: {type: string, pattern: '^x'}
  mode: {enum: [a, b, 3], default: a}
  size: {type: [integer, "null"], minimum: 1, multipleOf: 5}
  ports: {type: array, items: {type: integer, minimum: 1}, maxItems: 2}
  nested: {type: object, properties: {type: {type: string}, schema: {$ref: '#/$defs/Node'}}}
  any: {}
  "a-b": {oneOf: [{type: string}, {type: boolean}]}
  "${x}": {type: string}
  open: {type: object, properties: {a: {type: number, default: 1}}, additionalProperties: true}
$defs:
  Node: {type: object, properties: {next: {$ref: '#/$defs/Node'}, all: {$ref: '#/$defs/Nodes'}}}
  Nodes: {type: array, items: {$ref: '#/$defs/Node'}}
  NodeMixin: {allOf: [{$ref: '#/$defs/Node'}, {properties: {extra: {const: 1}}}]}
"#;

fn app(body: &str) -> String {
    ran("app.yaml", APP, &format!("import models\nx = models.MyApp {{{body}}}\n"))
}

#[test]
fn json_schema_judges_values() {
    let valid = "name = \"ab\", nested.$schema.next.all = [{}], \"a-b\" = True, size = 5, \
                 open = {b = 2}, ports = [80], regex = \"xy\", $any = [1]";
    assert!(app(valid).starts_with("x:\n  name: ab\n"), "{}", app(valid));
    for (body, message) in [
        ("name = \"a\"", "Check failed on the condition: name must have at least 2 characters"),
        ("name = \"A1\"", "Check failed on the condition: name must match ^[a-z]+$"),
        ("name = \"ab\", regex = \"y\"", "Check failed on the condition: regex must match ^x"),
        ("name = \"ab\", size = 0", "Check failed on the condition: size must be at least 1"),
        ("name = \"ab\", size = 7", "Check failed on the condition: size must be a multiple of 5"),
        (
            "name = \"ab\", ports = [0]",
            "Check failed on the condition: ports items must be at least 1",
        ),
        ("name = \"ab\", zzzzz = 1", "Cannot add member 'zzzzz' to schema 'MyApp'"),
        ("", "attribute 'name' of MyApp is required and can't be None or Undefined"),
    ] {
        assert_eq!(app(body), format!("error: {message}"), "{body}");
    }
    let wrong = app("name = \"ab\", mode = \"c\"");
    assert!(wrong.starts_with("error: "), "{wrong}");
}

#[test]
fn names_of_mixins_are_changed() {
    let program = "import models\nx = models.NodeMixinType {extra = 1}\n";
    assert_eq!(ran("app.yaml", APP, program), "x:\n  extra: 1");
}

const OPENAPI: &str = r##"{
  "swagger": "2.0",
  "definitions": {
    "io.k8s.api.apps.v1.Deployment": {
      "type": "object",
      "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "v1": {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"},
        "port": {"$ref": "#/definitions/io.k8s.util.IntOrString"}
      },
      "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    },
    "io.k8s.api.core.v1.Pod": {"type": "object", "properties": {"name": {"type": "string"}}},
    "io.k8s.util.IntOrString": {"type": "string", "format": "int-or-string"}
  }
}"##;

#[test]
fn definitions_are_grouped_into_packages() {
    let files = imported("k8s.json", OPENAPI, Mode::Auto).files;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["models/api/apps/v1/deployment.k", "models/api/core/v1/pod.k"]);
    let program = "import models.api.apps.v1\nx = v1.Deployment {v1.name = \"a\", port = 80}\n";
    assert_eq!(
        ran("k8s.json", OPENAPI, program),
        "x:\n  apiVersion: apps/v1\n  kind: Deployment\n  v1:\n    name: a\n  port: 80"
    );
}

#[test]
fn packages_that_import_each_other_become_one() {
    let text = r##"{"$defs": {
        "a.b.One": {"properties": {"two": {"$ref": "#/$defs/c.d.Two"}}},
        "c.d.Two": {"properties": {"one": {"$ref": "#/$defs/a.b.One"}}},
        "c.d.One": {"properties": {"x": {"type": "integer"}}}
    }}"##;
    let program = "import models\nx = models.One {two.one.two = {}}\nz = models.CDOne {x = 1}\n";
    let found = ran("circle.json", text, program);
    assert!(found.ends_with("z:\n  x: 1"), "{found}");
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  names: {kind: CronTab, plural: crontabs}
  versions:
  - name: v1
    served: true
    schema: &s
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string, minLength: 3}
              replicas: {type: integer, default: 1}
              raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
              port: {x-kubernetes-int-or-string: true}
  - name: v2
    served: true
    schema: *s
  - name: v0
    served: false
---
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: CronTabSpec}
  versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {a: {type: boolean}}}}}]
";

#[test]
fn each_served_version_of_a_definition_is_a_schema() {
    let files = imported("crd.yaml", CRD, Mode::Auto).files;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "models/example_com/v1/cron_tab.k",
            "models/example_com/v1/cron_tab_spec.k",
            "models/example_com/v1/object_meta.k",
            "models/example_com/v2/cron_tab.k",
            "models/example_com/v2/object_meta.k",
        ]
    );
    let program = "import models.example_com.v2\nx = v2.CronTab {\n    metadata.name = \"a\"\n    spec = \
                   {schedule = \"* *\", raw = {a.b = 1}, port = \"http\"}\n}\n";
    assert_eq!(
        ran("crd.yaml", CRD, program),
        "x:\n  apiVersion: example.com/v2\n  kind: CronTab\n  metadata:\n    name: a\n  spec:\n    \
         schedule: '* *'\n    replicas: 1\n    raw:\n      a:\n        b: 1\n    port: http"
    );
    // The name of a resource is kept, that of a part of another one is changed.
    let program = "import models.example_com.v1\nx = v1.CronTabSpec {a = True}\n";
    assert!(ran("crd.yaml", CRD, program).ends_with("a: true"));
}

const GO: &str = "\
package x

// Level says how much.
type Level string

// Server is a server.
type Server struct {
\tBase
\t// Name of it.
\tName string `json:\"name,omitempty\"` // behind
\tPorts []int32 `json:\"ports\"`
\tEnv map[string]*Value `json:\"env,omitempty\"`
\tLevel Level `json:\"level\"`
\tInner struct {
\t\tA, B int
\t} `json:\"inner\"`
\tF func(a int) error `json:\"-\"`
\thidden int
\tType interface{} `json:\"type\"`
}

type (
\tBase struct { ID string `json:\"id\"` }
\tValue struct { V float64 }
)

func (s *Server) Do() error { if true { return nil }; return nil }
";

#[test]
fn structs_of_go() {
    let program = "import models\nx = models.Server {\n    id = \"1\", ports = [1], env.a.V = 1.5\n    \
                   level = \"low\", inner = {A = 1, B = 2}, $type = 1\n}\n";
    let found = ran("server.go", GO, program);
    assert!(found.starts_with("x:\n  id: '1'\n  ports:\n  - 1\n"), "{found}");
    let text = imported("server.go", GO, Mode::Auto).files.remove(1).text;
    assert!(text.contains("    name : str, optional\n        Name of it.\n    \"\"\"\n"), "{text}");
}

const PROTO: &str = "\
syntax = \"proto3\";
package shop.v1;

// A user.
message User {
  string name = 1;
  repeated Address addresses = 2;
  map<string, shop.v1.User.Role> roles = 3;
  google.protobuf.Timestamp born = 4 [json_name = \"birthDate\", deprecated = true];
  oneof contact { string mail = 5; int64 phone = 6; }
  enum Role { option allow_alias = true; ADMIN = 0; USER = 1; }
  message Address { string street = 1; Kind kind = 2; }
  reserved 7, 8 to 10;
}
enum Kind { HOME = 0; WORK = 1; }
service S { rpc Get(User) returns (User) { option x = {a: 1}; } }
";

#[test]
fn messages_of_protocol_buffers() {
    let program = "import models\nx = models.User {\n    name = \"a\", roles.x = \"ADMIN\", birthDate = \
                   \"t\"\n    addresses = [{kind = \"WORK\"}]\n}\n";
    assert_eq!(
        ran("user.proto", PROTO, program),
        "x:\n  name: a\n  addresses:\n  - kind: WORK\n  roles:\n    x: ADMIN\n  birthDate: t"
    );
}

#[test]
fn schemas_of_terraform() {
    let text = r#"{"provider_schemas": {"registry.terraform.io/hashicorp/aws": {"resource_schemas":
        {"aws_instance": {"block": {"attributes": {"ami": {"type": "string", "required": true},
        "net": {"type": ["list", ["object", {"ip": "string"}]], "computed": true}}, "block_types":
        {"disk": {"nesting_mode": "list", "max_items": 1, "block": {"attributes":
        {"size": {"type": "number", "required": true}}}}}}}}}}}"#;
    let program = "import models.aws\nx = aws.AwsInstance {ami = \"a\", disk = [{size = 1}]}\n";
    assert_eq!(ran("aws.json", text, program), "x:\n  ami: a\n  disk:\n  - size: 1");
    let program =
        "import models.aws\nx = aws.AwsInstance {ami = \"a\", disk = [{size = 1}, {size = 2}]}\n";
    let found = ran("aws.json", text, program);
    assert_eq!(found, "error: Check failed on the condition: disk must have at most 1 items");
}

#[test]
fn broken_inputs_are_refused_with_their_place() {
    let message = |name: &str, text: &str, mode: Mode| {
        let options = kcl_import::Options { mode, ..kcl_import::Options::default() };
        let inputs = [(name.to_owned(), text.to_owned())];
        kcl_import::import(&inputs, &options).expect_err("not valid").1.to_string()
    };
    let found = message("a.proto", "message A {\n  string = 1;\n}", Mode::Proto);
    assert_eq!(found, "line 2, column 10: expected the name of a field, found `=`");
    let found = message("a.go", "type A struct {\n\tB\n", Mode::Go);
    assert_eq!(found, "line 2, column 4: expected `}`, found the end of the file");
    let found = message("a.json", "{", Mode::OpenApi);
    assert!(found.starts_with("JSON at line 1, column 1: "), "{found}");
    for (mode, text) in [
        (Mode::OpenApi, "a: 1"),
        (Mode::Crd, "a: 1"),
        (Mode::JsonSchema, "a: 1"),
        (Mode::Terraform, "a: 1"),
    ] {
        assert!(!message("a.yaml", text, mode).is_empty());
    }
    let found = message("a.yaml", "definitions: {A: {type: string}}", Mode::OpenApi);
    assert_eq!(found, "there is nothing to import: expected objects with properties");
    let deep = format!("type A {}int", "*".repeat(10_000));
    assert!(message("a.go", &deep, Mode::Go).contains("nested less deeply"));
    let deep = "message A { ".repeat(1_000);
    assert!(message("a.proto", &deep, Mode::Proto).contains("nested less deeply"));
}
