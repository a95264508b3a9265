//! Packages of an OCI registry.

use super::World;
use super::registry::{Login, PASSWORD, USER};
use super::server::{Answer, serve};
use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use tar::{Builder, EntryType, Header};
use testkit::terminal::Session;

#[test]
fn a_package_is_pushed_added_and_run() {
    let world = World::new();
    world.push();
    assert_eq!(world.well("app", "mod add lib:0.1.0"), "added lib 0.1.0\n");
    let text = world.read("app/kcl.mod");
    assert_eq!(
        text,
        "[package]\nname = \"app\"\nversion = \"0.0.1\"\n\n[dependencies]\nlib = \"0.1.0\"\n"
    );
    let lock = world.read("app/kcl.mod.lock");
    // The sum is that of kcl.mod, data/more.k and lib.k, in this order.
    let head = "[dependencies]\n  [dependencies.lib]\n    name = \"lib\"\n    full_name = \
                \"lib_0.1.0\"\n    version = \"0.1.0\"\n    sum = \"";
    assert!(lock.starts_with(head), "{lock}");
    let rest = format!(
        "    reg = \"{}\"\n    repo = \"kcl-lang/lib\"\n    oci_tag = \"0.1.0\"\n    digest = \
         \"blake3:",
        world.registry.host
    );
    assert!(lock.contains(&rest), "{lock}");
    assert_eq!(world.well("app", "run"), "a: hello\n");
    assert_eq!(world.registry.downloads(), 1);
    // Everything is on disk now: nothing is asked of the registry.
    let before = world.registry.state.lock().unwrap().requests;
    assert_eq!(world.well("app", "run --offline --locked"), "a: hello\n");
    assert_eq!(world.well("app", "run main.k"), "a: hello\n");
    assert_eq!(world.registry.state.lock().unwrap().requests, before);
    assert_eq!(world.read("app/kcl.mod.lock"), lock);
    world.assert_nothing_is_left();
}

#[test]
fn run_downloads_what_is_missing() {
    let world = World::new();
    world.push();
    world.write("app/kcl.mod", "[dependencies]\nlib = \"0.1.0\"\n");
    let message = world.fails("app", "run --offline");
    assert!(
        message.contains(
            "oci://${HOST}/kcl-lang/lib:0.1.0 was not downloaded yet\nrun the command once without"
        ),
        "{message}"
    );
    let message = world.fails("app", "run --locked");
    assert!(message.contains("kcl.mod.lock is not complete: `lib`"), "{message}");
    let ended = world.kcl("app", "run");
    assert_eq!(ended.stdout, "a: hello\n");
    assert_eq!(ended.stderr, "downloading oci://${HOST}/kcl-lang/lib:0.1.0\n");
    assert!(world.read("app/kcl.mod.lock").contains("full_name = \"lib_0.1.0\""));
    assert_eq!(world.well("app", "run --locked"), "a: hello\n");
}

#[test]
fn a_package_is_run_by_its_url() {
    let world = World::new();
    world.push();
    world.write("app/kcl.yaml", "kcl_cli_configs:\n  file: [none.k]\n");
    let url = format!("oci://{}/kcl-lang/lib", world.registry.host);
    assert_eq!(world.well("app", &format!("run {url}")), "greeting: hello\n");
    assert_eq!(world.well("app", &format!("run {url} --tag 0.1.0 -q")), "greeting: hello\n");
    let message = world.fails("app", &format!("run {url} --tag 9.9"));
    assert!(
        message.contains("kcl-lang/lib:9.9 failed: ${HOST} does not have it (404)"),
        "{message}"
    );
    assert!(!world.path("lib/kcl.mod.lock").exists());
}

#[test]
fn a_tampered_package_is_refused() {
    let world = World::with_lib();
    let folder = world.stored().remove(0);
    fs::write(folder.join("lib.k"), "greeting = \"evil\"\n").unwrap();
    for line in ["run", "run --offline", "mod tree"] {
        let message = world.fails("app", line);
        assert!(
            message.contains("the package `lib` was changed: its checksum"),
            "{line}: {message}"
        );
        assert!(message.contains("delete the folder and run the command again"), "{message}");
    }
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(world.well("app", "run"), "a: hello\n");
    // A file more, under a name that the reference's sum does not cover.
    fs::write(folder.join("x.tar.k"), "b = 1\n").unwrap();
    assert!(world.fails("app", "run").contains("was changed"));
}

#[test]
fn a_changed_tag_is_refused() {
    let world = World::with_lib();
    let lock = world.read("app/kcl.mod.lock");
    world.write("lib/lib.k", "greeting = \"other\"\n");
    world.push();
    // What was downloaded still serves.
    assert_eq!(world.well("app", "run"), "a: hello\n");
    world.forget_downloads();
    let message = world.fails("app", "run");
    assert!(
        message
            .contains("oci://${HOST}/kcl-lang/lib:0.1.0 has changed since kcl.mod.lock was written\n  found     blake3:"),
        "{message}"
    );
    assert!(message.contains("run `kcl mod update lib`"), "{message}");
    assert_eq!(world.read("app/kcl.mod.lock"), lock);
    assert_eq!(world.well("app", "mod update lib"), "lib: new content\n");
    assert_eq!(world.well("app", "run"), "a: other\n");
}

#[test]
fn a_sum_of_the_reference_is_checked() {
    let world = World::with_lib();
    let lock = world.read("app/kcl.mod.lock");
    let without = |lock: &str| -> String {
        let lines: Vec<&str> = lock.lines().filter(|it| !it.contains("digest = ")).collect();
        lines.join("\n") + "\n"
    };
    world.write("app/kcl.mod.lock", &without(&lock));
    world.forget_downloads();
    assert_eq!(world.well("app", "run"), "a: hello\n");
    let changed = without(&lock).replace("sum = \"", "sum = \"A");
    world.write("app/kcl.mod.lock", &changed);
    world.forget_downloads();
    let message = world.fails("app", "run");
    assert!(message.contains("recorded  A"), "{message}");
}

#[test]
fn a_truncated_download_is_refused_and_leaves_nothing() {
    let world = World::new();
    world.push();
    world.registry.state.lock().unwrap().cuts = true;
    let message = world.fails("app", "mod add lib:0.1.0");
    assert!(
        message.contains("the download of oci://${HOST}/kcl-lang/lib:0.1.0 is not complete:\n"),
        "{message}"
    );
    assert_eq!(world.registry.downloads(), 3);
    assert!(world.stored().is_empty());
    world.assert_nothing_is_left();
    assert!(!world.read("app/kcl.mod").contains("lib"));
    assert!(!world.path("app/kcl.mod.lock").exists());
    world.registry.state.lock().unwrap().cuts = false;
    assert_eq!(world.well("app", "mod add lib:0.1.0"), "added lib 0.1.0\n");
}

#[test]
fn a_killed_download_leaves_nothing_that_counts() {
    let world = World::new();
    world.push();
    world.write("app/kcl.mod", "[dependencies]\nlib = \"0.1.0\"\n");
    world.registry.state.lock().unwrap().hangs = true;
    let mut child =
        world.command("app", "run").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while world.registry.downloads() == 0 {
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(world.stored().is_empty());
    assert!(!world.path("app/kcl.mod.lock").exists());
    world.registry.state.lock().unwrap().hangs = false;
    assert_eq!(world.well("app", "run"), "a: hello\n");
    // What the killed process left was removed.
    world.assert_nothing_is_left();
}

#[test]
fn a_checked_package_is_read_again_when_it_changes() {
    let world = World::with_lib();
    let folder = world.stored().remove(0);
    // Older than the time in which a change could go unnoticed.
    thread::sleep(Duration::from_secs(3));
    for _ in 0..2 {
        assert_eq!(world.well("app", "run --offline"), "a: hello\n");
    }
    let facts = fs::metadata(folder.join("lib.k")).unwrap();
    let text = fs::read_to_string(folder.join("lib.k")).unwrap().replace("hello", "world");
    let file = fs::File::options().write(true).open(folder.join("lib.k")).unwrap();
    (&file).write_all(text.as_bytes()).unwrap();
    // The same size, inode and time of modification.
    file.set_modified(facts.modified().unwrap()).unwrap();
    assert!(world.fails("app", "run --offline").contains("the package `lib` was changed"));
}

#[test]
fn damaged_content_is_refused() {
    let world = World::new();
    world.push();
    for blob in world.registry.state.lock().unwrap().blobs.values_mut() {
        blob[0] ^= 1;
    }
    let message = world.fails("app", "mod add lib:0.1.0");
    assert!(message.contains("is damaged\n  digest    sha256:"), "{message}");
    assert!(world.stored().is_empty());
}

fn archive(entries: &[(EntryType, &str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, name, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        // The library refuses such names: write them as they are.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        let is_file = *kind == EntryType::Regular;
        header.set_size(if is_file { content.len() as u64 } else { 0 });
        if !is_file {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_cksum();
        let content = if is_file { content.as_bytes() } else { &[] };
        builder.append(&header, content).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn archives_that_leave_their_folder_are_refused() {
    let file = EntryType::Regular;
    let link = EntryType::Symlink;
    for (entries, text) in [
        (vec![(file, "../evil.k", "x")], "the entry `../evil.k` leaves the folder of the package"),
        (vec![(file, "a/../../evil.k", "x")], "leaves the folder of the package"),
        (vec![(file, "/tmp/kcl-evil.k", "x")], "leaves the folder of the package"),
        (vec![(link, "l", "/etc/passwd")], "is a link that leads out of the package"),
        (vec![(link, "a/l", "../../kpm")], "a link that leads out"),
        (vec![(link, "p/q/r", "../.."), (link, "l", "p/q/r/../..")], "a link that leads out"),
        (vec![(link, "d", "."), (file, "d/x.k", "x")], "twice, as a link and as something else"),
        (
            vec![(link, "d", "."), (link, "d/up", ".."), (link, "d/up/evil.k", "x.k")],
            "the entry `d` is in it twice, as a link and as something else",
        ),
        (vec![(EntryType::Link, "h", "/etc/passwd")], "is a hard link"),
        (vec![(EntryType::Fifo, "f", "")], "is neither a file nor a folder nor a link"),
        (vec![(file, "a.k", "x"), (file, "./a.k", "y")], "is in it twice"),
    ] {
        let world = World::new();
        world.registry.put("kcl-lang/lib", "0.1.0", &archive(&entries));
        let message = world.fails("app", "mod add lib:0.1.0");
        assert!(message.contains(text), "{message}");
        assert!(world.stored().is_empty());
        world.assert_nothing_is_left();
        assert!(!world.path("evil.k").exists() && !world.path(".kcl/evil.k").exists());
    }
}

#[test]
fn eight_runs_download_once_and_agree() {
    let world = World::new();
    world.push();
    world.write("app/kcl.mod", "[dependencies]\nlib = \"0.1.0\"\n");
    let mut children = Vec::new();
    for _ in 0..8 {
        let mut command = world.command("app", "run");
        children.push(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    }
    let threads: Vec<_> = children
        .into_iter()
        .map(|child| thread::spawn(move || child.wait_with_output().unwrap()))
        .collect();
    for thread in threads {
        let output = thread.join().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a: hello\n", "{errors}");
    }
    assert_eq!(world.registry.downloads(), 1);
    assert_eq!(world.stored().len(), 1);
    world.assert_nothing_is_left();
    assert_eq!(world.well("app", "run --locked --offline"), "a: hello\n");
}

#[test]
fn a_login_on_a_terminal_asks_and_does_not_show_the_password() {
    let world = World::with_login(Login::Basic);
    let command = world.command("lib", &format!("registry login {}", world.registry.host));
    let mut session = Session::start(command, 100, 10).unwrap();
    session.wait_for_prompt("Username: ").unwrap();
    session.type_text(&format!("{USER}\n")).unwrap();
    session.wait_for_prompt("Password: ").unwrap();
    session.type_text(&format!("{PASSWORD}\n")).unwrap();
    let (frame, status) = session.finish().unwrap();
    let text = frame.text();
    assert!(status.success(), "{text}");
    assert!(text.contains("logged in to") && text.contains(USER), "{text}");
    assert!(!text.contains(PASSWORD), "{text}");
    world.push();
}

#[test]
fn logins_of_docker_podman_and_helpers_are_used() {
    let auth = BASE64.encode(format!("{USER}:{PASSWORD}").as_bytes());
    for (path, text) in [
        (".docker/config.json", r#"{"auths":{"HOST":{"auth":"AUTH"}}}"#),
        (".config/containers/auth.json", r#"{"auths":{"HOST/kcl-lang":{"auth":"AUTH"}}}"#),
        (".docker/config.json", r#"{"credHelpers":{"HOST":"test"}}"#),
        (".docker/config.json", r#"{"credsStore":"test"}"#),
    ] {
        let world = World::with_login(Login::Bearer);
        let text = text.replace("HOST", &world.registry.host).replace("AUTH", &auth);
        world.write(path, &text);
        world.write(
            "bin/docker-credential-test",
            &format!("#!/bin/sh\nread host\necho '{{\"Username\":\"{USER}\",\"Secret\":\"{PASSWORD}\"}}'\n"),
        );
        let helper = world.path("bin/docker-credential-test");
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
        let folders = std::env::var("PATH").unwrap_or_default();
        let url = format!("oci://{}/kcl-lang/lib", world.registry.host);
        let mut command = world.command("lib", &format!("mod push {url}"));
        command.env("PATH", format!("{}:{folders}", world.path("bin").display()));
        let ended = world.end(command);
        assert_eq!(ended.code, 0, "{text}: {}", ended.stderr);
    }
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_host() {
    let world = World::with_login(Login::Basic);
    let host = world.registry.host.clone();
    world.well("lib", &format!("registry login {host} -u {USER} -p {PASSWORD}"));
    world.push();
    let state = std::sync::Arc::clone(&world.registry.state);
    let blobs = state.lock().unwrap().blobs.clone();
    let package = blobs.into_values().max_by_key(Vec::len).unwrap();
    let port = serve(move |request| {
        let is_clean = request.header("authorization").is_none();
        Answer::new(if is_clean { 200 } else { 400 }, package.clone())
    });
    state.lock().unwrap().elsewhere = Some(format!("http://127.0.0.1:{port}/blob"));
    world.well("app", "mod add lib:0.1.0");
    assert_eq!(world.well("app", "run"), "a: hello\n");
    // Plain HTTP does not leave this machine, also not by a redirect.
    state.lock().unwrap().elsewhere = Some("http://192.0.2.1/blob".to_owned());
    world.forget_downloads();
    world.well("lib", &format!("registry login {host} -u {USER} -p {PASSWORD}"));
    let message = world.fails("app", "run");
    assert!(message.contains("plain HTTP is only used on this machine"), "{message}");
}

#[test]
fn archives_with_gzip_are_accepted() {
    let world = World::new();
    let file = EntryType::Regular;
    let plain = archive(&[(file, "kcl.mod", ""), (file, "lib.k", "greeting = \"hello\"\n")]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&plain).unwrap();
    world.registry.put("kcl-lang/lib", "0.1.0", &packed.finish().unwrap());
    world.well("app", "mod add lib:0.1.0");
    assert_eq!(world.well("app", "run"), "a: hello\n");
    // A damaged one is refused.
    let cut = &plain[..plain.len() / 2 - 100];
    world.registry.put("kcl-lang/lib", "0.2.0", cut);
    let message = world.fails("app", "mod add lib:0.2.0");
    assert!(message.contains("is refused"), "{message}");
    world.assert_nothing_is_left();
}

#[test]
fn logins_are_checked_stored_used_and_removed() {
    for login in [Login::Basic, Login::Bearer] {
        let world = World::with_login(login);
        let url = format!("oci://{}/kcl-lang/lib", world.registry.host);
        let message = world.fails("lib", &format!("mod push {url}"));
        assert!(message.contains("${HOST} denies access (401)"), "{message}");
        assert!(message.contains("run `kcl registry login ${HOST}`"), "{message}");
        let host = world.registry.host.clone();
        let message = world.fails("lib", &format!("registry login {host} -u {USER} -p wrong"));
        assert!(message.contains("user or password is wrong"), "{message}");
        let text = world.well("lib", &format!("registry login {host} -u {USER} -p {PASSWORD}"));
        assert_eq!(
            text,
            "logged in to ${HOST}, stored in ${DIR}/.kcl/kpm/.kpm/config/config.json\n"
        );
        world.push();
        world.well("app", "mod add lib:0.1.0");
        assert_eq!(world.well("app", "run"), "a: hello\n");
        assert_eq!(
            world.well("lib", &format!("registry logout {host}")),
            "logged out of ${HOST}\n"
        );
        let message = world.fails("lib", &format!("mod push {url}"));
        assert!(message.contains("denies access (401)"), "{message}");
        assert!(!message.contains(PASSWORD), "{message}");
    }
}
