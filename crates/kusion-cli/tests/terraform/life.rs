//! The life of resources: lock, preview, apply, drift, status, rollback, destroy.

use crate::world::{Programs, World};

pub(crate) fn whole(programs: &Programs) {
    let world = World::new("life", programs);
    let follower = "{name = \"b\", text = \"$kusion_path.kusion:probe:probe_object:a.id\"}";
    let follower = world.resource("b", follower);
    world.write(&[world.resource("a", "{name = \"a\", text = \"one\"}"), follower.clone()]);
    let listed = world.ok(&["provider", "list", "shop/dev"]);
    assert!(listed.contains("registry.opentofu.org/kusion/probe `~> 1.0`: not locked"), "{listed}");
    let locked = world.ok(&["provider", "lock", "shop/dev"]);
    assert!(locked.contains("shop/.terraform.lock.hcl\n"), "{locked}");
    assert!(locked.contains("kusion/probe 1.0.0: locked"), "{locked}");
    let again = world.ok(&["provider", "lock", "shop/dev"]);
    assert!(again.contains("kusion/probe 1.0.0: unchanged"), "{again}");
    let error = world.fails(&["preview", "shop/dev"]);
    assert!(error.contains("its `providerMeta` (folder) is not trusted"), "{error}");
    assert!(error.contains("run `kusion trust shop/dev`"), "{error}");
    let trusted = world.ok(&["trust", "shop/dev"]);
    assert!(trusted.contains("starts `registry.opentofu.org/kusion/probe` with it"), "{trusted}");
    let preview = world.ok(&["preview", "shop/dev", "--full"]);
    assert!(preview.contains("(known after apply"), "{preview}");
    let applied = world.ok(&["apply", "shop/dev", "--yes"]);
    assert!(applied.contains("succeeded: 2 done"), "{applied}");
    assert_eq!(world.objects(), ["a@.json", "b@.json"]);
    assert!(world.object("b@.json").contains("\"text\":\"a@\""), "{}", world.object("b@.json"));
    let nothing = world.ok(&["preview", "shop/dev", "--exit-code"]);
    assert!(nothing.contains("no changes"), "{nothing}");
    let status = world.ok(&["status", "shop/dev"]);
    assert!(status.contains("2 of 2 resources ready"), "{status}");

    world.write(&[world.resource("a", "{name = \"a\", text = \"two\"}"), follower]);
    world.ok(&["apply", "shop/dev", "--yes"]);
    assert!(world.object("a@.json").contains("\"text\":\"two\""));
    // Somebody changes the object.
    let file = world.folder.join("objects/a@.json");
    let changed = world.object("a@.json").replace("two", "theirs");
    std::fs::write(file, changed).expect("a file");
    let drift = world.ok(&["preview", "shop/dev"]);
    assert!(drift.contains("theirs") && drift.contains("two"), "{drift}");
    world.ok(&["release", "rollback", "1", "shop/dev", "--yes"]);
    assert!(world.object("a@.json").contains("\"text\":\"one\""));
    let destroyed = world.ok(&["destroy", "shop/dev", "--yes"]);
    assert!(destroyed.contains("succeeded: 2 done"), "{destroyed}");
    assert_eq!(world.objects(), [""; 0]);
    assert_eq!(world.provider_count(), 0);
}

pub(crate) fn saved_plan(programs: &Programs) {
    let world = World::new("saved", programs);
    world.write(&[world.resource("a", "{name = \"a\", text = \"one\"}")]);
    world.prepare();
    world.ok(&["preview", "shop/dev", "--save", "plan.json"]);
    world.ok(&["apply", "shop/dev", "--plan", "plan.json"]);
    assert_eq!(world.objects(), ["a@.json"]);
    let again = world.fails(&["apply", "shop/dev", "--plan", "plan.json"]);
    assert!(again.contains("changed"), "{again}");
    world.ok(&["destroy", "shop/dev", "--yes"]);
}

pub(crate) fn mixed(programs: &Programs) {
    let world = World::new("mixed", programs);
    let database = world.resource("db", "{name = \"db\", secret = \"canary-db-4711\"}");
    let secret = r#"{
    apiVersion = "v1", kind = "Secret", metadata = {name = "db", namespace = "default"}
    stringData = {
        address = "db://$kusion_path.kusion:probe:probe_object:db.id"
        password = "$kusion_path.kusion:probe:probe_object:db.secret"
    }
}"#;
    let deployment = r#"{
    apiVersion = "apps/v1", kind = "Deployment", metadata = {name = "web", namespace = "default"}
    spec.selector.matchLabels.app = "web"
    spec.template.metadata.labels.app = "web"
    spec.template.spec.containers = [
        {name = "web", image = "web:1", envFrom = [{secretRef.name = "db"}]}
    ]
}"#;
    let account = world.resource(
        "dns",
        "{name = \"dns\", text = \"$kusion_path.v1:Secret:default:db.metadata.uid\"}",
    );
    world.write(&[database, secret.to_owned(), deployment.to_owned(), account]);
    world.prepare();
    let site = ["shop/dev", "--sandbox"];
    let preview = world.ok(&[&["preview"], &site[..]].concat());
    assert!(preview.contains("4 to create"), "{preview}");
    let applied = world.ok(&[&["apply", "--yes"], &site[..]].concat());
    assert!(applied.contains("succeeded: 4 done"), "{applied}");
    assert!(!applied.contains("canary"), "{applied}");
    assert_eq!(world.objects(), ["db@.json", "dns@.json"]);
    assert!(!world.object("dns@.json").contains("\"text\":\"\""), "the uid of the Secret");
    let nothing = world.ok(&[&["preview", "--exit-code"], &site[..]].concat());
    assert!(nothing.contains("no changes"), "{nothing}");
    let destroyed = world.ok(&[&["destroy", "--yes"], &site[..]].concat());
    assert!(destroyed.contains("succeeded: 4 done"), "{destroyed}");
    assert_eq!(world.objects(), [""; 0]);
    // Dependents end first.
    let place = |id: &str| destroyed.find(id).expect(id);
    assert!(place("Deployment:default:web") < place("Secret:default:db"), "{destroyed}");
}

pub(crate) fn schema(programs: &Programs) {
    let world = World::new("schema", programs);
    let schema = world.ok(&["provider", "schema", "kusion/probe", "probe_object"]);
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let attributes = &schema["block"]["attributes"];
    assert_eq!(attributes["secret"]["sensitive"], true);
    assert_eq!(attributes["tags"]["type"], serde_json::json!(["map", "string"]));
    assert_eq!(schema["block"]["block_types"]["rule"]["nesting_mode"], "set");
    let error = world.fails(&["provider", "schema", "kusion/probe", "probe_objekt"]);
    assert!(error.contains("did you mean `probe_object`?"), "{error}");
    let error = world.fails(&["provider", "schema", "kusion/probe", "--constraint", "~> 2.0"]);
    assert!(error.contains("`registry.opentofu.org/kusion/probe` is not installed"), "{error}");
}
