//! The life of resources, by the runtime: real providers of both protocols.

use crate::found::{Folder, program};
use async_trait::async_trait;
use kusion_model::markers::unknown;
use kusion_model::{
    Action, AttemptId, FieldPath, Resource, ResourceId, ResourceState, ResourceType,
};
use kusion_runtime::{Applied, Change, Deletion, Live, Pending, Runtime, RuntimeError, Target};
use kusion_runtime_terraform::install::{
    Locked, LockedProviders, Mirror, Verified, folder_hash, platform,
};
use kusion_runtime_terraform::{
    Guard, Limits, NotFound, ProviderAddress, ProviderSource, TerraformRuntime, TerraformSettings,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use testkit::{Missing, Suite};

/// A runtime whose providers keep their objects in a folder.
pub(crate) struct World {
    pub(crate) runtime: TerraformRuntime,
    pub(crate) folder: Folder,
}

struct Programs;

#[async_trait]
impl ProviderSource for Programs {
    async fn program(&self, address: &ProviderAddress, _: &str) -> Result<PathBuf, NotFound> {
        program(&address.name).map_err(|missing| missing.to_string().into())
    }
}

impl World {
    pub(crate) fn new(name: &str) -> Self {
        let settings = TerraformSettings {
            source: Arc::new(Programs),
            environment: std::env::vars_os().collect(),
            guard: Some(Guard { program: std::env::current_exe().expect("this program") }),
            limits: Limits { apply: Duration::from_secs(5), ..Limits::default() },
            configs: std::collections::BTreeMap::new(),
            consent: None,
            pool: Arc::default(),
        };
        Self { runtime: TerraformRuntime::new(settings), folder: Folder::new(name) }
    }

    /// Returns a resource of a type; its provider is the first part of the type.
    pub(crate) fn resource(&self, type_name: &str, attributes: Value) -> Resource {
        let provider = type_name.split('_').next().expect("a provider");
        let mut extensions = json!({
            "provider": format!("kusion/{provider}/1.0.0"),
            "resourceType": type_name,
        });
        if matches!(provider, "probe" | "legacy") {
            extensions["providerMeta"] = json!({"folder": self.folder.text()});
        }
        let Value::Object(extensions) = extensions else { unreachable!("a map") };
        Resource {
            id: ResourceId::new(format!("kusion:{provider}:{type_name}:a")),
            resource_type: ResourceType::new("Terraform"),
            attributes: attributes.into(),
            depends_on: Vec::new(),
            extensions,
        }
    }

    /// Applies a resource to an object, if there is one.
    pub(crate) async fn apply(
        &self,
        desired: &Resource,
        live: Option<&Live>,
    ) -> Result<Applied, RuntimeError> {
        let change = Change { live, attempt: Some(attempt()), ..Change::new(desired) };
        self.runtime.apply(change).await
    }

    /// Plans a change; returns the attributes afterwards.
    pub(crate) async fn plan(
        &self,
        desired: &Resource,
        live: Option<&Live>,
    ) -> Result<Value, RuntimeError> {
        let change = Change { live, ..Change::new(desired) };
        Ok(self.runtime.dry_run(change).await?.after)
    }

    /// Reads the object again, as a later run would.
    pub(crate) async fn read(
        &self,
        desired: &Resource,
        live: &Live,
    ) -> Result<Option<Live>, RuntimeError> {
        let prior = recorded(desired, live);
        let target = Target { id: &desired.id, desired: Some(desired), prior: Some(&prior) };
        self.runtime.read(&[target]).await?.remove(0)
    }

    pub(crate) async fn delete(&self, desired: &Resource, live: &Live) -> Result<(), RuntimeError> {
        let prior = recorded(desired, live);
        self.runtime.delete(Deletion::new(&prior, attempt())).await
    }

    fn objects(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.folder.0).expect("a folder");
        let name = |it: std::io::Result<std::fs::DirEntry>| it.expect("a file").file_name();
        let mut names: Vec<String> =
            files.map(|it| name(it).to_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    }
}

fn recorded(desired: &Resource, live: &Live) -> ResourceState {
    let mut prior = ResourceState::new(desired.clone(), live.identity.clone(), 1);
    prior.runtime.clone_from(&live.runtime);
    prior
}

fn attempt() -> AttemptId {
    AttemptId { revision: 1, step: 1 }
}

/// A test with a name and its providers.
type Test = (&'static str, fn());

pub(crate) fn add(suite: &mut Suite) {
    let tests: &[Test] = &[
        ("an_object_lives_from_creation_to_deletion", || crate::run(life("probe_object"))),
        ("a_legacy_object_lives_from_creation_to_deletion", || crate::run(life("legacy_object"))),
        ("a_change_of_some_attributes_needs_a_new_object", || crate::run(replace())),
        ("drift_is_seen_and_missing_objects_are", || crate::run(drift())),
        ("objects_are_imported_by_id", || crate::run(import())),
        ("a_creation_that_fails_halfway_is_recorded_and_replaced", || crate::run(half_made())),
        ("a_failed_creation_leaves_nothing", || crate::run(failed())),
        ("a_crash_in_a_creation_is_ambiguous", || crate::run(crash())),
        ("a_creation_without_an_answer_is_ambiguous", || crate::run(hang())),
        ("a_creation_is_cancelled", || crate::run(cancelled())),
        ("a_result_that_was_not_planned_is_an_error", || crate::run(wrong_result())),
        ("unknown_values_are_planned", || crate::run(unknown_values())),
        ("problems_name_attributes", || crate::run(problems())),
        ("secrets_are_known_by_the_schema", || crate::run(secrets())),
        ("write_only_values_are_in_no_state", || crate::run(write_only())),
        ("published_providers_work", || crate::run(published())),
        ("a_changed_program_does_not_run", || crate::run(locked())),
        ("all_resources_of_a_configuration_share_a_process", || crate::run(one_process())),
    ];
    let found = || -> Result<(), Missing> {
        for name in ["probe", "legacy", "time", "local"] {
            program(name)?;
        }
        Ok(())
    };
    for (name, test) in tests {
        suite.add_with(format!("resources::{name}"), found(), move |()| test());
    }
}

fn full(name: &str) -> Value {
    json!({
        "name": name, "text": "first", "flag": true, "secret": "canary-secret",
        "tags": {"a": "1"}, "items": ["x", "y"], "members": ["m", "k"],
        "disk": [{"size": 10}, {"size": 20, "device": "/dev/own"}],
        "rule": [{"port": 80}, {"port": 443, "comment": "tls"}],
    })
}

async fn life(type_name: &str) {
    let world = World::new(&format!("life-{type_name}"));
    let mut desired = world.resource(type_name, full("one"));
    let planned = world.plan(&desired, None).await.expect("a plan");
    assert_eq!((&planned["id"], &planned["mode"]), (&unknown(), &unknown()));
    let created = world.apply(&desired, None).await.expect("an object");
    assert_eq!((created.failure, created.warnings), (None, Vec::new()));
    let live = created.live;
    assert_eq!(live.attributes["disk"][0]["device"], "/dev/disk0");
    assert_eq!(live.attributes["disk"][1]["device"], "/dev/own");
    assert_eq!(live.attributes["serial"], 1);

    let read = world.read(&desired, &live).await.expect("an answer").expect("an object");
    assert_eq!(read.attributes, *live.attributes);
    let planned = world.plan(&desired, Some(&read)).await.expect("a plan");
    assert_eq!(planned, *live.attributes, "nothing to do");
    let again = world.apply(&desired, Some(&read)).await.expect("an object");
    assert_eq!(again.live.attributes["serial"], 1, "no call was made");

    desired.attributes["text"] = json!("second");
    let planned = world.plan(&desired, Some(&read)).await.expect("a plan");
    assert_eq!((&planned["text"], &planned["serial"]), (&json!("second"), &unknown()));
    assert_eq!(planned["id"], live.attributes["id"]);
    let updated = world.apply(&desired, Some(&read)).await.expect("an object").live;
    assert_eq!(
        (&updated.attributes["text"], &updated.attributes["serial"]),
        (&json!("second"), &json!(2))
    );
    assert_eq!(updated.identity, live.identity);

    world.delete(&desired, &updated).await.expect("a deletion");
    assert_eq!(world.objects(), [""; 0]);
    assert_eq!(world.read(&desired, &updated).await.expect("an answer"), None);
    world.delete(&desired, &updated).await.expect("a second deletion does no harm");
    world.runtime.close().await;
}

async fn replace() {
    for type_name in ["probe_object", "legacy_object"] {
        let world = World::new(&format!("replace-{type_name}"));
        let mut desired = world.resource(type_name, json!({"name": "one", "zone": "a"}));
        let live = world.apply(&desired, None).await.expect("an object").live;
        desired.attributes["zone"] = json!("b");
        let error = world.plan(&desired, Some(&live)).await.expect_err("an error");
        let RuntimeError::Immutable { fields, .. } = &error else { unreachable!("{error:?}") };
        assert_eq!(fields, &[FieldPath::default().key("zone")]);
        // Create before destroy: both exist for a moment.
        let new = world.apply(&desired, None).await.expect("an object").live;
        assert_eq!(world.objects().len(), 2);
        world.delete(&desired, &live).await.expect("a deletion");
        assert_eq!(world.objects().len(), 1);
        assert_ne!(new.identity, live.identity);
        world.runtime.close().await;
    }
}

async fn drift() {
    let world = World::new("drift");
    let desired = world.resource("probe_object", json!({"name": "one", "text": "mine"}));
    let live = world.apply(&desired, None).await.expect("an object").live;
    let file = world.folder.0.join("one@.json");
    let other = std::fs::read_to_string(&file).expect("a file").replace("mine", "theirs");
    std::fs::write(&file, other).expect("a file");
    let read = world.read(&desired, &live).await.expect("an answer").expect("an object");
    assert_eq!(read.attributes["text"], "theirs");
    let planned = world.plan(&desired, Some(&read)).await.expect("a plan");
    assert_eq!(planned["text"], "mine");
    std::fs::remove_file(&file).expect("a deletion");
    assert_eq!(world.read(&desired, &live).await.expect("an answer"), None);
    world.runtime.close().await;
}

async fn import() {
    let world = World::new("import");
    let desired = world.resource("probe_object", json!({"name": "one", "text": "kept"}));
    world.apply(&desired, None).await.expect("an object");
    let mut named = desired.clone();
    named.extensions.insert("importId".to_owned(), "one@".into());
    let target = Target { id: &named.id, desired: Some(&named), prior: None };
    let live = world.runtime.read(&[target]).await.expect("answers").remove(0);
    let live = live.expect("an answer").expect("an object");
    assert_eq!(live.attributes["text"], "kept");
    let planned = world.plan(&named, Some(&live)).await.expect("a plan");
    assert_eq!(planned["text"], "kept");
    named.extensions.insert("importId".to_owned(), "none".into());
    let target = Target { id: &named.id, desired: Some(&named), prior: None };
    let error = world.runtime.read(&[target]).await.expect("answers").remove(0);
    let error = error.expect_err("an error").to_string();
    assert!(error.contains("no object has the id none"), "{error}");
    world.runtime.close().await;
}

async fn half_made() {
    let world = World::new("half");
    let mut desired = world.resource("probe_object", json!({"name": "one", "fail": "created"}));
    let made = world.apply(&desired, None).await.expect("an object");
    assert!(made.failure.expect("a failure").contains("created fails on purpose"));
    assert_eq!(world.objects().len(), 1, "it exists and is recorded");
    desired.attributes["fail"] = Value::Null;
    let live = world.read(&desired, &made.live).await.expect("an answer").expect("an object");
    let error = world.plan(&desired, Some(&live)).await.expect_err("an error");
    assert!(matches!(error, RuntimeError::Immutable { .. }), "it is replaced: {error:?}");
    world.delete(&desired, &live).await.expect("a deletion");
    assert_eq!(world.objects(), [""; 0]);
    world.runtime.close().await;
}

async fn failed() {
    for type_name in ["probe_object", "legacy_object"] {
        let world = World::new(&format!("failed-{type_name}"));
        let desired = world.resource(type_name, json!({"name": "one", "fail": "create"}));
        let error = world.apply(&desired, None).await.expect_err("an error");
        assert!(error.to_string().contains("create fails on purpose"), "{error}");
        assert!(matches!(error, RuntimeError::Invalid(_)), "{error:?}");
        world.runtime.close().await;
    }
}

async fn crash() {
    let world = World::new("crash");
    let desired = world.resource("probe_object", json!({"name": "one", "fail": "crash-create"}));
    let error = world.apply(&desired, None).await.expect_err("an error");
    let RuntimeError::Ambiguous(message) = &error else { unreachable!("{error:?}") };
    assert!(message.contains("the provider `kusion/probe 1.0.0` ended (exit code 3)"), "{message}");
    let pending = Pending {
        attempt: attempt(),
        id: &desired.id,
        action: Action::Create,
        desired: Some(&desired),
        prior: None,
    };
    let error = world.runtime.recover(pending).await.expect_err("an error");
    assert!(matches!(error, RuntimeError::Ambiguous(_)), "{error:?}");
    // The next call starts the provider again.
    let fine = world.resource("probe_object", json!({"name": "two"}));
    world.apply(&fine, None).await.expect("an object");
    world.runtime.close().await;
}

async fn hang() {
    let world = World::new("hang");
    let desired = world.resource("legacy_object", json!({"name": "one", "fail": "hang-create"}));
    let error = world.apply(&desired, None).await.expect_err("an error");
    let RuntimeError::Ambiguous(message) = &error else { unreachable!("{error:?}") };
    assert!(
        message.contains("did not answer, cannot apply a change: timed out after 5 s"),
        "{message}"
    );
    world.runtime.close().await;
}

async fn cancelled() {
    for type_name in ["probe_object", "legacy_object"] {
        let world = World::new(&format!("cancelled-{type_name}"));
        let desired = world.resource(type_name, json!({"name": "one", "fail": "hang-create"}));
        world.runtime.prepare(&[&desired]).await.expect("a provider");
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            world.runtime.cancel().await;
        };
        let (made, ()) = futures::join!(world.apply(&desired, None), cancel);
        let error = made.expect_err("an error").to_string();
        assert!(error.contains("context canceled"), "{error}");
        world.runtime.close().await;
    }
}

async fn wrong_result() {
    let world = World::new("wrong");
    let desired =
        world.resource("probe_object", json!({"name": "one", "text": "a", "fail": "wrong-result"}));
    let made = world.apply(&desired, None).await.expect("an object");
    let failure = made.failure.expect("a failure");
    assert_eq!(
        failure,
        "the provider `kusion/probe 1.0.0` did not do what it planned; `text` is not as planned"
    );
    world.runtime.close().await;
}

async fn unknown_values() {
    let world = World::new("unknown");
    let desired =
        world.resource("probe_object", json!({"name": "one", "text": "$kusion_path.x.y"}));
    let unknown_paths = [FieldPath::default().key("text")];
    let change = Change { unknown: &unknown_paths, ..Change::new(&desired) };
    let planned = world.runtime.dry_run(change).await.expect("a plan").after;
    assert_eq!((&planned["text"], &planned["name"]), (&unknown(), &json!("one")));
    world.runtime.close().await;
}

async fn problems() {
    let world = World::new("problems");
    for (attributes, message) in [
        (json!({}), "`name`: is required"),
        (json!({"name": "a", "id": "x"}), "`id`: is set by the provider; remove it"),
        (json!({"name": "a", "txt": "x"}), "`txt`: unknown attribute (did you mean `text`?)"),
        (
            json!({"name": "a", "items": {"x": 1}}),
            "`items`: expected a list of string, found a map",
        ),
        (
            json!({"name": "a", "disk": [{"size": 1}, {"size": "big"}]}),
            "`disk[1].size`: expected a number, found a string",
        ),
        (json!({"name": "invalid"}), "`name`: invalid name: `invalid` cannot be a name"),
    ] {
        let desired = world.resource("probe_object", attributes);
        let error = world.plan(&desired, None).await.expect_err("an error");
        assert!(matches!(error, RuntimeError::Rejected(_)), "{error:?}");
        assert_eq!(error.to_string(), message);
    }
    let mut desired = world.resource("probe_object", json!({"name": "a"}));
    desired.extensions.insert("resourceType".to_owned(), "probe_other".into());
    let error = world.plan(&desired, None).await.expect_err("an error").to_string();
    assert!(error.contains("it has no resource type `probe_other`"), "{error}");
    desired.extensions.insert("provider".to_owned(), "probe".into());
    let error = world.plan(&desired, None).await.expect_err("an error").to_string();
    assert!(
        error.contains("invalid provider `probe`: expected `namespace/name/version`"),
        "{error}"
    );
    world.runtime.close().await;
}

async fn secrets() {
    let world = World::new("secrets");
    let desired = world.resource("probe_object", full("one"));
    let secret = FieldPath::default().key("secret");
    let before = world.runtime.secret_paths(&desired, &desired.attributes);
    assert_eq!(before, [FieldPath::default()], "without a schema, everything is secret");
    world.runtime.prepare(&[&desired]).await.expect("a schema");
    assert_eq!(
        world.runtime.secret_paths(&desired, &desired.attributes),
        std::slice::from_ref(&secret)
    );
    assert!(world.runtime.is_secret_path(&desired, &secret));
    assert!(!world.runtime.is_secret_path(&desired, &FieldPath::default().key("text")));
    let live = world.apply(&desired, None).await.expect("an object").live;
    let data = live.runtime.expect("data");
    assert!(data.is_secret && data.value.to_string().contains("canary-secret"));
    world.runtime.close().await;
}

async fn write_only() {
    for type_name in ["probe_object", "legacy_object"] {
        let world = World::new(&format!("write-only-{type_name}"));
        let desired = world.resource(type_name, json!({"name": "one", "write_key": "canary-key"}));
        let made = world.apply(&desired, None).await.expect("an object");
        assert_eq!(made.failure, None);
        let text = format!("{:?}", made.live);
        assert!(!text.contains("canary-key"), "{text}");
        world.runtime.close().await;
    }
}

async fn published() {
    let world = World::new("published");
    let file = world.folder.0.join("greeting.txt");
    let content = json!({"filename": file, "content": "hello"});
    let mut desired = world.resource("local_file", content);
    let live = world.apply(&desired, None).await.expect("a file").live;
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "hello");
    let read = world.read(&desired, &live).await.expect("an answer").expect("an object");
    assert_eq!(world.plan(&desired, Some(&read)).await.expect("a plan"), *read.attributes);
    desired.attributes["content"] = json!("other");
    let error = world.plan(&desired, Some(&read)).await.expect_err("an error");
    assert!(matches!(error, RuntimeError::Immutable { .. }), "{error:?}");
    world.delete(&desired, &live).await.expect("a deletion");
    assert!(!file.exists());

    let desired = world.resource("time_static", json!({"triggers": {"a": "b"}}));
    let live = world.apply(&desired, None).await.expect("a time").live;
    assert!(live.attributes["rfc3339"].is_string());
    let planned = world.plan(&desired, Some(&live)).await.expect("a plan");
    assert_eq!(planned, *live.attributes);
    world.delete(&desired, &live).await.expect("a deletion");
    world.runtime.close().await;
}

async fn one_process() {
    let world = World::new("one-process");
    let all: Vec<Resource> =
        (0..20).map(|n| world.resource("probe_plain", json!({"name": format!("n{n}")}))).collect();
    let made = futures::future::join_all(all.iter().map(|it| world.apply(it, None))).await;
    assert!(made.iter().all(Result::is_ok));
    assert_eq!(world.objects().len(), 20);
    assert_eq!(world.runtime.provider_count(), 1);
    world.runtime.close().await;
    assert_eq!(world.runtime.provider_count(), 0);
}

/// Installs a provider in a folder as a mirror does, and runs it only as it is locked.
async fn locked() {
    let world = World::new("locked");
    let address = ProviderAddress::parse("registry.opentofu.org/kusion/probe").expect("an address");
    let place = format!("{address}/1.0.0/{}", platform());
    let folder = world.folder.0.join("mirror").join(place);
    std::fs::create_dir_all(&folder).expect("a folder");
    let copy = folder.join("terraform-provider-probe_v1.0.0");
    std::fs::copy(program("probe").expect("a program"), copy).expect("a copy");
    let hash = folder_hash(&folder).expect("a hash");
    let mut providers = LockedProviders {
        mirrors: vec![Mirror(world.folder.0.join("mirror"))],
        ..LockedProviders::default()
    };
    let find = async |providers: &LockedProviders, version: &str| {
        // As another process, which has read nothing yet.
        let fresh = LockedProviders { verified: Verified::default(), ..providers.clone() };
        fresh.program(&address, version).await.map_err(|it| it.message)
    };
    let error = find(&providers, "1.0.0").await.expect_err("an error");
    assert_eq!(error, "`registry.opentofu.org/kusion/probe` is not in the lock file");
    let version = "1.0.0".to_owned();
    let locked = Locked { version, hashes: vec![hash.clone()], ..Locked::default() };
    providers.lock.insert(address.clone(), locked);
    assert!(find(&providers, "1.0.0").await.is_ok());
    let error = find(&providers, "1.0.1").await.expect_err("an error");
    assert_eq!(error, "the lock file has version 1.0.0, which is not `1.0.1`");
    assert!(find(&providers, "~> 1.0").await.is_ok());
    std::fs::write(folder.join("more.txt"), "changed").expect("a file");
    let error = find(&providers, "1.0.0").await.expect_err("an error");
    assert!(error.contains("which is not in the lock file"), "{error}");
    providers.mirrors.clear();
    let error = find(&providers, "1.0.0").await.expect_err("an error");
    assert!(error.starts_with("version 1.0.0 for "), "{error}");
    assert!(error.contains("is not installed"), "{error}");
    let own = world.folder.0.join("own");
    std::fs::create_dir_all(&own).expect("a folder");
    providers.overrides.insert(address.clone(), own.clone());
    let error = find(&providers, "9.9.9").await.expect_err("an error");
    assert!(error.ends_with("there is no program `terraform-provider-probe`"), "{error}");
    std::fs::copy(program("probe").expect("a program"), own.join("terraform-provider-probe"))
        .expect("a copy");
    assert!(find(&providers, "9.9.9").await.is_ok());
}
