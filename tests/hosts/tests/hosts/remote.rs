//! Hosts behind an SSH server.

use crate::world::{World, block_on, problems};
use host_suite::{Behaviour, Folder, Server, resource};
use kusion_engine::{EngineError, Goal};
use kusion_model::{FieldPath, Resource};
use kusion_runtime_host::Escalation;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    let tests: &[(&str, fn())] = &[
        ("a_hundred_files_on_twenty_hosts", || block_on(many_files())),
        ("a_wrong_host_key_is_refused", || block_on(wrong_key())),
        ("a_host_that_is_down_fails_its_own_resources", || block_on(host_down())),
        ("a_host_that_hangs_floods_or_answers_garbage_is_an_error", || block_on(bad_hosts())),
        ("scripts_become_another_user", || block_on(becomes())),
        ("a_connection_that_was_cut_is_made_again", || block_on(cut())),
    ];
    for (name, test) in tests {
        suite.add_with(*name, Server::find(), move |()| test());
    }
}

fn start(name: &str, n_hosts: usize, behaviour: Behaviour) -> Server {
    Server::start(name, n_hosts, behaviour).expect("a server")
}

/// Returns five files for each of twenty hosts.
fn files(folder: &Folder, text: &str) -> Vec<Resource> {
    let mut all = Vec::new();
    for host in 0..20 {
        for file in 0..5 {
            let path = folder.join(&format!("host{host}/{file}.conf"));
            let attributes = json!({"content": format!("{text} {host} {file}\n"), "mode": "0640"});
            all.push(resource("file", &format!("web{host}"), &path, attributes));
        }
    }
    all
}

async fn many_files() {
    let server = start("many", 20, Behaviour::Sound);
    let folder = Folder::new("many").expect("a folder");
    for host in 0..20 {
        fs::create_dir(folder.path().join(format!("host{host}"))).expect("a folder");
    }
    let world = World::new(server.settings());
    let first = files(&folder, "first");
    world.make(&first).await;
    assert_eq!(world.hosts.write_count(), 100);
    let path = folder.path().join("host19/4.conf");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "first 19 4\n");
    let metadata = fs::metadata(&path).expect("a file");
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o640);
    // Without a change nothing is written.
    assert_eq!(world.planned(&first).await, [""; 0]);
    world.make(&first).await;
    assert_eq!(world.hosts.write_count(), 100);
    let again = fs::metadata(&path).expect("a file");
    assert_eq!((again.ino(), again.mtime_nsec()), (metadata.ino(), metadata.mtime_nsec()));
    // One change is one write, and is shown.
    let mut second = first.clone();
    second[99].attributes["content"] = json!("second\n");
    let previewed = world.preview(&second).await.expect("a plan");
    let changed: Vec<_> = previewed.plan.steps.iter().filter(|it| it.action.is_change()).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].changes[0].path, FieldPath::default().key("content"));
    world.make(&second).await;
    assert_eq!(world.hosts.write_count(), 101);
    assert_eq!(fs::read_to_string(&path).expect("a file"), "second\n");
    // What was changed outside is found, and the release before comes back.
    fs::write(&path, "outside\n").expect("a file");
    assert_eq!(world.planned(&second).await.len(), 1);
    let report = world.run(Goal::Rollback { to: 1 }).await.expect("a report");
    assert_eq!(problems(&report), [""; 0]);
    assert_eq!(fs::read_to_string(&path).expect("a file"), "first 19 4\n");
    world.destroy().await;
    assert_eq!(folder.files().len(), 20, "only the folders stay: {:?}", folder.files());
}

async fn wrong_key() {
    let server = start("key", 1, Behaviour::Sound);
    let folder = Folder::new("key").expect("a folder");
    let file = resource("file", "web0", &folder.join("a"), json!({"content": "a"}));
    server.forge_known_hosts().expect("another key");
    let text = failure(World::new(server.settings()).apply(std::slice::from_ref(&file)).await);
    assert!(text.contains("cannot reach host `web0`: its host key has changed"), "{text}");
    server.clear_known_hosts().expect("no key");
    let text = failure(World::new(server.settings()).apply(&[file]).await);
    assert!(text.contains("host key is not known; run `ssh 127.0.0.1` once"), "{text}");
    assert_eq!(folder.files(), [""; 0]);
}

fn failure(result: Result<kusion_engine::Report, EngineError>) -> String {
    match result {
        Ok(report) => problems(&report).join("\n"),
        Err(error) => error.to_string(),
    }
}

async fn host_down() {
    let server = start("down", 3, Behaviour::Sound);
    let folder = Folder::new("down").expect("a folder");
    let mut settings = server.settings();
    let hosts: Vec<_> = settings.hosts.iter().cloned().collect();
    // Nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    settings.hosts = hosts
        .into_iter()
        .map(|mut host| {
            if host.name == "web1" {
                host.port = Some(port);
            }
            host
        })
        .collect();
    let world = World::new(settings);
    let all: Vec<Resource> = (0..3)
        .map(|it| {
            let path = folder.join(&it.to_string());
            resource("file", &format!("web{it}"), &path, json!({"content": "a"}))
        })
        .collect();
    let report = world.apply(&all).await.expect("a report");
    let failed = problems(&report);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].starts_with(all[1].id.as_str()), "{failed:?}");
    assert!(failed[0].contains("cannot reach host `web1`"), "{failed:?}");
    assert_eq!(folder.files(), ["0", "2"]);
}

async fn bad_hosts() {
    for (behaviour, expected) in [
        (Behaviour::Hang, "host `web0` did not answer: timed out after 1 s"),
        (Behaviour::Flood, "host `web0` sent more than 1000000 bytes"),
        (Behaviour::Garbage, "cannot run a script on host `web0`"),
        (Behaviour::Silent, "cannot reach host `web0`: timed out after 2 s"),
    ] {
        let server = start(&format!("{behaviour:?}"), 1, behaviour);
        let folder = Folder::new("bad").expect("a folder");
        let mut settings = server.settings();
        if matches!(behaviour, Behaviour::Hang | Behaviour::Silent) {
            settings.limits.connect = Duration::from_secs(2);
            settings.limits.read = Duration::from_secs(1);
        }
        settings.limits.output = 1_000_000;
        let world = World::new(settings);
        let file = resource("file", "web0", &folder.join("a"), json!({"content": "a"}));
        let text = failure(world.apply(&[file]).await);
        assert!(text.contains(expected), "{behaviour:?}: {text}");
    }
}

async fn becomes() {
    let server = start("become", 1, Behaviour::Sound);
    let folder = Folder::new("become").expect("a folder");
    let mut settings = server.settings();
    let host = |user: &str| {
        let host = settings.hosts.get("web0").expect("a host").clone();
        kusion_runtime_host::Host { escalation: Escalation::Sudo(user.to_owned()), ..host }
    };
    let (root, nobody) = (host("root"), host("no-such-user"));
    let file = resource("file", "web0", &folder.join("a"), json!({"content": "a"}));
    settings.hosts = [nobody].into_iter().collect();
    let text = failure(World::new(settings.clone()).apply(std::slice::from_ref(&file)).await);
    assert!(text.contains("cannot run a script on host `web0`"), "{text}");
    if !std::path::Path::new("/usr/bin/sudo").exists() {
        return;
    }
    settings.hosts = [root].into_iter().collect();
    let world = World::new(settings);
    world.make(&[file]).await;
    assert_eq!(folder.files(), ["a"]);
    world.destroy().await;
}

async fn cut() {
    let server = start("cut", 1, Behaviour::Sound);
    let folder = Folder::new("cut").expect("a folder");
    let world = World::new(server.settings());
    let file = |text: &str| resource("file", "web0", &folder.join("a"), json!({"content": text}));
    // The command ends the connection that it came by, and with it all others of the host.
    let kill = "kill $(ps -o ppid= -p $(ps -o ppid= -p $PPID)); sleep 5";
    let deadly = resource("command", "web0", "cut", json!({"check": "false", "apply": kill}));
    world.make(&[file("a")]).await;
    let text = failure(world.apply(&[file("a"), deadly]).await);
    assert!(text.contains("host:command:web0:cut"), "{text}");
    world.make(&[file("b")]).await;
    assert_eq!(fs::read_to_string(folder.path().join("a")).expect("a file"), "b");
}
