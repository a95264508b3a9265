//! Documents about a small program, in memory.

use base_system::MemorySystem;
use kcl_doc::{Docs, html, json_schema, markdown, openapi, proto, schema_types, template};
use kcl_driver::RunOptions;
use serde_json::json;

const BASE: &str = "\
schema Base:
    \"\"\"What all have.

    Attributes
    ----------
    name : str
        The name.
    \"\"\"
    name: str
";

const MAIN: &str = "\
import base

schema App(base.Base):
    \"\"\"An application.

    Attributes
    ----------
    replicas : int, default is 1
        How many,
        at most 10 | 20.

    Examples
    --------
    app = App {name = \"a\"}
    \"\"\"
    replicas: int = 1
    level?: \"low\" | \"high\" = \"low\"
    ready: bool = True
    env?: {str:str} = {
        a = \"b\", # why
        c = \"d\"
    }
    @deprecated(version=\"1.2\", reason=\"use level\", strict=False)
    old?: int
    peers: [base.Base]
    check:
        replicas < 11 if level == \"low\", \"too many\"
";

fn docs() -> Docs {
    let system = MemorySystem::new()
        .with_file("/m/kcl.mod", "")
        .with_file("/m/base/base.k", BASE)
        .with_file("/m/main.k", MAIN);
    let (docs, findings) =
        Docs::read(&system, &RunOptions::files(["/m/main.k"])).expect("there are schemas");
    assert!(findings.is_empty());
    docs
}

#[test]
fn markdown_is_one_page() {
    let wanted = "\
# Schemas

## Package __main__

### App

An application.

| Name | Type | Required | Default | Description |
| --- | --- | --- | --- | --- |
| env | {str:str} | no | {     a = \"b\"     c = \"d\" } |  |
| level | str(low) \\| str(high) | no | \"low\" |  |
| name | str | yes |  | The name. |
| old | int | no |  |  |
| peers | [Base] | yes |  |  |
| ready | bool | yes | True |  |
| replicas | int | yes | 1 | How many, at most 10 \\| 20. |

## Package base

### Base

What all have.

| Name | Type | Required | Default | Description |
| --- | --- | --- | --- | --- |
| name | str | yes |  | The name. |
";
    assert_eq!(markdown::write(&docs()), wanted);
}

#[test]
fn exact_documents_say_what_the_language_means() {
    let document = openapi::write(&docs(), None, openapi::Form::Exact);
    let app = &document["components"]["schemas"]["App"];
    assert_eq!(app["required"], json!(["peers", "name"]));
    let properties = &app["properties"];
    assert_eq!(
        properties["level"],
        json!({"type": "string", "enum": ["low", "high"], "default": "low"})
    );
    assert_eq!(properties["ready"]["default"], true);
    assert_eq!(properties["env"]["default"], json!({"a": "b", "c": "d"}));
    assert_eq!(properties["old"]["deprecated"], true);
    assert_eq!(app["x-kcl-checks"][0]["when"], "level == \"low\"");
}

#[test]
fn the_form_of_the_reference() {
    let document = openapi::write(&docs(), None, openapi::Form::Reference);
    let app = &document["components"]["schemas"]["App"]["allOf"];
    assert_eq!(app[0], json!({"$ref": "#/components/schemas/Base"}));
    assert_eq!(app[1]["properties"]["ready"]["default"], "True");
    assert_eq!(app[1]["required"], json!(["replicas", "ready", "peers", "name"]));
}

#[test]
fn json_schema_has_a_root() {
    let document = json_schema::write(&docs(), Some("App")).expect("there is an App");
    assert_eq!(document["$ref"], "#/$defs/App");
    assert_eq!(document["$defs"]["App"]["properties"]["peers"]["items"]["$ref"], "#/$defs/Base");
    assert!(json_schema::write(&docs(), Some("Ap")).is_err());
}

#[test]
fn proto_has_messages() {
    let text = proto::write(&docs(), "shop.v1").expect("all types have a form");
    assert!(text.starts_with("syntax = \"proto3\";\n\npackage shop.v1;\n"), "{text}");
    assert!(text.contains("    map<string, string> env = 1;\n"), "{text}");
    assert!(text.contains("    repeated Base peers = 5;\n"), "{text}");
}

#[test]
fn pages_are_linked_and_escaped() {
    let pages = html::write(&docs());
    let names: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
    assert_eq!(names, ["index.html", "schema-App.html", "schema-Base.html"]);
    let app = &pages[1].text;
    assert!(app.contains("[<a href=\"schema-Base.html\">Base</a>]"), "{app}");
    assert!(app.contains("<pre>app = App {name = &quot;a&quot;}</pre>"), "{app}");
    assert!(app.contains("<code>replicas &lt; 11</code> if"), "{app}");
    assert!(app.contains("Deprecated since 1.2: use level"), "{app}");
}

#[test]
fn deprecated_attributes_can_be_left_out() {
    let docs = docs().without_deprecated();
    let app = docs.find("__main__", "App").expect("there is an App");
    assert!(app.attributes.iter().all(|attribute| attribute.name != "old"));
}

#[test]
fn types_of_schemas_are_written_out() {
    let main = "\
import base

schema Node(base.Base):
    next?: Node
    name: str = \"n\"
    ports: {str:int} = {a.b = 1}
    @info(hidden=True)
    f: (int) -> str
    [...str]: int
first = base.Base {name = \"a\"}
other = [first]
";
    let system = MemorySystem::new()
        .with_file("/m/kcl.mod", "")
        .with_file("/m/base/base.k", BASE)
        .with_file("/m/main.k", main);
    let (docs, _) =
        Docs::read(&system, &RunOptions::files(["/m/main.k"])).expect("there are schemas");
    let types = schema_types::write(&docs, None).expect("few types");
    let names: Vec<&String> = types.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["Node", "first"]);
    assert_eq!(types["first"]["schema_name"], "Base");
    let node = &types["Node"];
    assert_eq!(node["base"], "Base");
    assert_eq!(node["required"], json!(["f", "name", "ports"]));
    // The attribute of the base is number 1; the one that replaces it comes in its own turn.
    assert_eq!(node["properties"]["name"], json!({"type": "str", "default": "\"n\"", "line": 3}));
    assert_eq!(node["properties"]["ports"]["default"], "{\n    a: {b = 1}\n}");
    let info = json!([{"name": "info", "args": [], "kwargs": {"hidden": "True"}}]);
    assert_eq!(node["properties"]["f"]["decorators"], info);
    let function =
        json!({"params": [{"name": "", "ty": {"type": "int"}}], "return": {"type": "str"}});
    assert_eq!(node["properties"]["f"]["function"], function);
    let index = json!({
        "key_name": "", "key": {"type": "str"}, "val": {"type": "int"}, "any_other": true,
    });
    assert_eq!(node["index_signature"], index);
    // A schema is written three times inside itself.
    let inner = &node["properties"]["next"]["properties"]["next"];
    assert!(inner["properties"]["next"].get("properties").is_none(), "{inner}");
    assert_eq!(inner["properties"]["next"]["schema_name"], "Node");
    let only = schema_types::write(&docs, Some("first")).expect("few types");
    assert_eq!(only.as_object().map(serde_json::Map::len), Some(1));
}

#[test]
fn own_templates_get_all_there_is_to_say() {
    let page = "{{#each packages}}{{#each schemas}}{{name}}:{{#each attributes}} {{name}}{{/each}}\
                {{#each rules}} [{{{condition}}}]{{/each}}\n{{/each}}{{/each}}";
    let filled = template::fill(page, &docs()).expect("the template is valid");
    assert_eq!(
        filled,
        "App: env level name old peers ready replicas [replicas < 11]\nBase: name\n"
    );
    let wrong = template::fill("a\n{{#each packages}}", &docs()).expect_err("a block is open");
    assert!(wrong.starts_with("line "), "{wrong}");
    let endless = "{{#*inline \"a\"}}{{> a}}{{/inline}}{{> a}}";
    let refused = template::fill(endless, &docs()).expect_err("it never ends");
    assert_eq!(refused, "an inline partial must not include partials");
}
