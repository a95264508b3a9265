//! Hostile names and contents, and secrets.

use crate::world::{World, block_on};
use host_suite::{Folder, resource};
use serde_json::json;
use std::fs;
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("hostile_names_and_contents_are_only_text", || block_on(names()));
    suite.add("invalid_resources_are_rejected_before_anything_is_done", || block_on(invalid()));
    suite.add("secrets_are_in_no_record_plan_or_event", || block_on(secrets()));
}

async fn names() {
    let folder = Folder::new("names").expect("a folder");
    let world = World::local();
    let trap = folder.join("trap");
    let names = [
        "a b".to_owned(),
        "it's".to_owned(),
        "$(touch trap)".to_owned(),
        "`touch trap`".to_owned(),
        "';touch trap;'".to_owned(),
        "-rf".to_owned(),
        "*".to_owned(),
        "\\".to_owned(),
        "\"x\"".to_owned(),
        "ü ✓".to_owned(),
        "a:b:c".to_owned(),
        "%s%n".to_owned(),
        "\u{1b}[31m".to_owned(),
    ];
    let contents =
        ["", "'", "$(touch trap)\n`id`\n", "\u{0}\u{1}", "EOF\nkusion_main\n}\n", "a\r\nb"];
    let mut all = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let content = contents[place % contents.len()];
        let content = if content.contains('\0') {
            json!({"contentBase64": "AAEC/w=="})
        } else {
            json!({"content": content})
        };
        all.push(resource("file", "here", &folder.join(name), content));
    }
    let command = json!({"check": format!("test -e '{}'", folder.join("made")),
                         "apply": format!("echo \"it's\" > '{}'", folder.join("made")),
                         "undo": format!("rm '{}'", folder.join("made"))});
    all.push(resource("command", "here", "$(touch trap)", command));
    world.make(&all).await;
    let mut expected: Vec<String> = names.iter().cloned().chain(["made".to_owned()]).collect();
    expected.sort();
    assert_eq!(folder.files(), expected);
    assert!(!std::path::Path::new(&trap).exists());
    for (place, name) in names.iter().enumerate() {
        let content = contents[place % contents.len()];
        let content = if content.contains('\0') { b"\x00\x01\x02\xff" } else { content.as_bytes() };
        assert_eq!(fs::read(folder.path().join(name)).expect("a file"), content, "{name}");
    }
    assert_eq!(world.planned(&all).await, [""; 0]);
    world.destroy().await;
    assert_eq!(folder.files(), [""; 0]);
}

async fn invalid() {
    let world = World::local();
    for (kind, host, name, attributes, expected) in [
        ("file", "here", "a", json!({}), "invalid path `a`"),
        ("file", "here", "/tmp/../x", json!({}), "invalid path"),
        ("file", "here", "/tmp/x", json!({"contnt": ""}), "did you mean `content`?"),
        ("file", "here", "/tmp/x", json!({"mode": 420}), "invalid `mode`: expected octal digits"),
        ("file", "here", "/tmp/x", json!({"owner": "a b"}), "invalid `owner`"),
        ("file", "heer", "/tmp/x", json!({}), "unknown host `heer` (did you mean `here`?)"),
        ("fil", "here", "/tmp/x", json!({}), "unknown kind `fil`"),
        ("package", "here", "-y", json!({}), "invalid name of a package `-y`"),
        ("package", "here", "vim", json!({"version": "1;id"}), "invalid `version`"),
        ("service", "here", "a b", json!({}), "invalid name of a service"),
        (
            "service",
            "here",
            "a",
            json!({"manager": "launchd"}),
            "expected systemd, runit or sysvinit",
        ),
        ("user", "here", "root;id", json!({}), "invalid name of a user"),
        ("user", "here", "joe", json!({"groups": ["a,b"]}), "invalid `groups`"),
        ("command", "here", "a", json!({"apply": "true"}), "`check` is required"),
        (
            "file",
            "here",
            "/no-such-folder/x",
            json!({}),
            "directory `here:/no-such-folder` does not exist",
        ),
    ] {
        let found = world.rejections(&[resource(kind, host, name, attributes)]).await;
        assert!(found.contains(expected), "{kind} {name}: {found}");
    }
}

async fn secrets() {
    let folder = Folder::new("secrets").expect("a folder");
    let world = World::local();
    let (first, second) = ("canary-4e1f-first", "canary-4e1f-second");
    let file = |text: &str| {
        let attributes = json!({"content": format!("password={text}\n"), "sensitive": true,
                                "mode": "0600"});
        resource("file", "here", &folder.join("secret"), attributes)
    };
    let command = |text: &str| {
        let made = folder.join("made");
        let attributes = json!({"check": format!("grep -q {text} '{made}'"), "sensitive": true,
                                "apply": format!("echo {text} > '{made}'; chmod 600 '{made}'"),
                                "undo": format!("rm '{made}' # {text}")});
        resource("command", "here", "secret", attributes)
    };
    world.make(&[file(first), command(first)]).await;
    let shown = format!(
        "{:?}",
        world.preview(&[file(second), command(second)]).await.expect("a plan").plan
    );
    assert!(!shown.contains("canary"), "{shown}");
    world.make(&[file(second), command(second)]).await;
    let text = fs::read_to_string(folder.path().join("secret")).expect("a file");
    assert_eq!(text, format!("password={second}\n"));
    let failing = json!({"check": "false", "apply": format!("echo {first} >&2; exit 3"),
                         "sensitive": true});
    let failing = resource("command", "here", "failing", failing);
    let report = world.apply(&[file(second), command(second), failing]).await.expect("a report");
    let failed = crate::world::problems(&report);
    assert!(failed[0].contains("the command failed with exit code 3"), "{failed:?}");
    world.destroy().await;
    assert_eq!(folder.files(), [""; 0]);
    let records = world.records().await;
    let found = records.find("canary").map(|at| &records[at.saturating_sub(200)..at + 20]);
    assert_eq!(found, None, "a secret was recorded");
}
