//! What must not happen: other programs, secrets in the open, objects that are created twice.

use crate::world::{Programs, World, text};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

pub(crate) fn locked(programs: &Programs) {
    let world = World::new("locked", programs);
    world.write(&[world.resource("a", "{name = \"a\"}")]);
    world.ok(&["trust", "shop/dev"]);
    let error = world.fails(&["preview", "shop/dev"]);
    assert!(error.contains("is not in the lock file"), "{error}");
    assert!(error.contains("run `kusion provider lock shop/dev`"), "{error}");
    world.ok(&["provider", "lock", "shop/dev"]);
    world.ok(&["preview", "shop/dev"]);
    // Something else is installed as the same version.
    fs::write(world.installed().join("more.txt"), "changed").expect("a file");
    let error = world.fails(&["apply", "shop/dev", "--yes"]);
    assert!(error.contains("which is not in the lock file"), "{error}");
    let error = world.fails(&["provider", "lock", "shop/dev"]);
    assert!(error.contains("which is not in the lock file"), "{error}");
    assert_eq!(world.objects(), [""; 0]);
    world.ok(&["provider", "lock", "shop/dev", "--accept"]);
    world.ok(&["preview", "shop/dev"]);
    // A repository cannot name a version by a path.
    let lock = world.folder.join("shop/.terraform.lock.hcl");
    let good = fs::read_to_string(&lock).expect("a file");
    fs::write(&lock, good.replace("1.0.0", "../1.0.0")).expect("a file");
    let error = world.fails(&["preview", "shop/dev"]);
    assert!(error.contains("the lock file has version ../1.0.0"), "{error}");
    fs::write(&lock, good.replace("hashes = [", "hashes = [ 1")).expect("a file");
    let error = world.fails(&["preview", "shop/dev"]);
    assert!(error.contains(".terraform.lock.hcl:"), "{error}");
    // A program under development runs as it is.
    fs::write(&lock, "").expect("a file");
    let own = format!("kusion/probe={}", world.installed().display());
    world.ok(&["preview", "shop/dev", "--provider-override", &own]);
}

pub(crate) fn secrets(programs: &Programs) {
    let world = World::new("secrets", programs);
    let resource = |secret: &str, fail: &str| {
        let attributes = format!(
            "{{name = \"a\", secret = \"{secret}\", write_key = \"canary-2\", fail = {fail}}}"
        );
        world.resource("a", &attributes)
    };
    world.write(&[resource("canary-1", "None")]);
    world.prepare();
    let mut printed = String::new();
    let mut run = |words: &[&str]| {
        let output = world.command(words).env("KUSION_LOG", "trace").output().expect("it runs");
        printed.push_str(&text(&output.stdout));
        printed.push_str(&text(&output.stderr));
    };
    run(&["preview", "shop/dev", "--full", "--save", "home/plan.json"]);
    run(&["apply", "shop/dev", "--plan", "home/plan.json", "--output", "json"]);
    assert_eq!(world.objects(), ["a@.json"]);
    world.write(&[resource("canary-3", "\"update\"")]);
    run(&["preview", "shop/dev", "--output", "json"]);
    run(&["apply", "shop/dev", "--yes"]);
    run(&["release", "list", "shop/dev"]);
    run(&["release", "log", "1", "shop/dev"]);
    run(&["stack", "show", "shop/dev", "--output", "json"]);
    assert!(printed.contains("update fails on purpose"), "{printed}");
    let found: Vec<&str> = printed.lines().filter(|it| it.contains("canary")).collect();
    assert_eq!(found, [""; 0]);
    for (path, text) in world.files() {
        assert!(!text.contains("canary"), "{}", path.display());
    }
    // Credentials are no part of a Spec.
    let with_token =
        world.resource("a", "{name = \"a\"}").replace("{folder", "{token = \"t\", folder");
    world.write(&[with_token]);
    let error = world.fails(&["preview", "shop/dev", "--trust"]);
    assert!(error.contains("`providerMeta.token` is secret"), "{error}");
}

pub(crate) fn killed(programs: &Programs) {
    let world = World::new("killed", programs);
    let all = ["adopted", "forgotten"];
    for name in all {
        let attributes = format!("{{name = \"{name}\", fail = \"hang-created\"}}");
        world.write(&[world.resource(name, &attributes)]);
        world.prepare();
        let mut child = world
            .command(&["apply", "shop/dev", "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let file = world.folder.join(format!("objects/{name}@.json"));
        while !file.exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("it is killed");
        child.wait().expect("it ended");
        world.wait_for_providers();

        // The provider is healthy again.
        world.write(&[world.resource(name, &format!("{{name = \"{name}\"}}"))]);
        let id = format!("kusion:probe:probe_object:{name}");
        for words in [&["preview", "shop/dev"][..], &["apply", "shop/dev", "--yes"]] {
            let error = world.fails(words);
            assert!(error.contains("may have created"), "{error}");
            assert!(error.contains(&format!("--forget {id}")), "{error}");
            assert!(error.contains(&format!("--adopt {id}=OBJECT")), "{error}");
        }
        if name == "adopted" {
            let error =
                world.fails(&["state", "repair", "shop/dev", "--adopt", &format!("{id}=none@")]);
            assert!(error.contains("no object has the id none@"), "{error}");
            world.ok(&["state", "repair", "shop/dev", "--adopt", &format!("{id}={name}@")]);
            let serial = world.object("adopted@.json");
            world.ok(&["apply", "shop/dev", "--yes"]);
            assert!(serial.contains("\"serial\":1"), "it was created once: {serial}");
            world.ok(&["destroy", "shop/dev", "--yes"]);
            assert_eq!(world.objects(), [""; 0]);
        } else {
            world.ok(&["state", "repair", "shop/dev", "--forget", &id]);
            let preview = world.ok(&["preview", "shop/dev"]);
            assert!(preview.contains("1 to create"), "{preview}");
        }
    }
}
