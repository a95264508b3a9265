//! Each kind of resources, on this machine. Package managers, systemd, sysvinit and the tools for
//! users are stand-ins; runit is real.

use crate::world::{World, block_on, local_settings, problems};
use host_suite::{Folder, StandIns, Supervisor, resource};
use kusion_runtime_host::HostSettings;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("what_was_there_before_comes_back", || block_on(before()));
    suite.add("a_directory_is_made_before_its_files", || block_on(directories()));
    suite.add("a_command_runs_until_its_check_succeeds", || block_on(commands()));
    suite.add("packages_of_apt_dnf_and_apk", || block_on(packages()));
    suite.add("services_of_systemd", || block_on(systemd()));
    suite.add("users", || block_on(users()));
    let name = "services_of_runit";
    suite.add_with(name, Supervisor::find(), |()| block_on(runit()));
}

/// Returns settings in which other programs are found first.
fn with_path(stand_ins: &StandIns) -> HostSettings {
    let mut settings = local_settings();
    settings.ssh.environment.retain(|(name, _)| name != "PATH");
    settings.ssh.environment.push(("PATH".into(), stand_ins.path()));
    settings
}

async fn before() {
    let folder = Folder::new("before").expect("a folder");
    let world = World::local();
    let path = folder.path().join("motd");
    fs::write(&path, "by hand\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    let file = |text: &str| {
        let attributes = json!({"content": text, "mode": "0644"});
        resource("file", "here", &folder.join("motd"), attributes)
    };
    assert_eq!(world.planned(&[file("ours\n")]).await, [format!("Adopt {}", file("").id)]);
    world.make(&[file("ours\n")]).await;
    world.make(&[file("ours 2\n")]).await;
    assert_eq!(fs::read_to_string(&path).expect("a file"), "ours 2\n");
    world.destroy().await;
    assert_eq!(fs::read_to_string(&path).expect("a file"), "by hand\n");
    let mode = fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    // The same content, but managed only for a while.
    world
        .make(&[resource("file", "here", &folder.join("motd"), json!({"content": "by hand\n"}))])
        .await;
    world.destroy().await;
    assert_eq!(folder.files(), ["motd"]);
    // A link is never followed.
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).expect("a link");
    let link = resource("file", "here", &folder.join("link"), json!({"content": "x"}));
    let found = world.rejections(&[link]).await;
    assert!(found.contains("is a symbolic link"), "{found}");
}

async fn directories() {
    let folder = Folder::new("directories").expect("a folder");
    let world = World::local();
    let outer = resource("directory", "here", &folder.join("app"), json!({"mode": "0750"}));
    let mut inner = resource("directory", "here", &folder.join("app/conf.d"), json!({}));
    inner.depends_on = vec![outer.id.clone()];
    let mut file =
        resource("file", "here", &folder.join("app/conf.d/a.conf"), json!({"content": "a"}));
    file.depends_on = vec![inner.id.clone()];
    let all = [file, inner, outer];
    world.make(&all).await;
    assert_eq!(folder.files(), ["app", "app/conf.d", "app/conf.d/a.conf"]);
    assert_eq!(world.planned(&all).await, [""; 0]);
    // What others put into it is not deleted with it.
    fs::write(folder.path().join("app/other"), "").expect("a file");
    let report = world.run(kusion_engine::Goal::Destroy).await.expect("a report");
    let failed = problems(&report);
    assert!(failed.len() == 1 && failed[0].contains("not empty"), "{failed:?}");
    assert_eq!(folder.files(), ["app", "app/other"]);
    fs::remove_file(folder.path().join("app/other")).expect("a file");
    world.destroy().await;
    assert_eq!(folder.files(), [""; 0]);
    // A directory that existed before stays, as it was.
    let own = resource("directory", "here", &folder.join(""), json!({"mode": "0700"}));
    let path = folder.path().display().to_string();
    let own =
        kusion_model::Resource { id: format!("host:directory:here:{path}").as_str().into(), ..own };
    world.make(&[own]).await;
    world.destroy().await;
    let mode = fs::metadata(folder.path()).expect("a folder").permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

async fn commands() {
    let folder = Folder::new("commands").expect("a folder");
    let world = World::local();
    let made = folder.join("made");
    let command = |apply: &str, trigger: &str| {
        let attributes = json!({"check": format!("cat '{made}'"), "apply": apply,
                                "undo": format!("rm '{made}'"), "triggers": [trigger]});
        resource("command", "here", "make it", attributes)
    };
    let appends = format!("echo x >> '{made}'");
    world.make(&[command(&appends, "1")]).await;
    world.make(&[command(&appends, "1")]).await;
    assert_eq!(fs::read_to_string(&made).expect("a file"), "x\n");
    world.make(&[command(&appends, "2")]).await;
    assert_eq!(fs::read_to_string(&made).expect("a file"), "x\nx\n");
    fs::remove_file(&made).expect("a file");
    assert_eq!(world.planned(&[command(&appends, "2")]).await.len(), 1);
    world.make(&[command(&appends, "2")]).await;
    world.destroy().await;
    assert_eq!(folder.files(), [""; 0]);
    let report = world.apply(&[command("true", "1")]).await.expect("a report");
    let failed = problems(&report);
    assert!(failed[0].contains("the check fails although the command succeeded"), "{failed:?}");
    let report = world.apply(&[command("echo no luck; exit 4", "1")]).await.expect("a report");
    let failed = problems(&report);
    assert!(failed[0].contains("the command failed with exit code 4: no luck"), "{failed:?}");
}

async fn packages() {
    for manager in ["apt", "dnf", "apk"] {
        let stand_ins = StandIns::new(&format!("packages-{manager}")).expect("stand-ins");
        stand_ins.add_package_manager(manager).expect("a stand-in");
        let world = World::new(with_path(&stand_ins));
        let package = |version: &str| {
            let attributes = json!({"manager": manager, "version": version});
            resource("package", "here", "hello", attributes)
        };
        stand_ins.write("kept", "0.9").expect("a package");
        let kept = resource("package", "here", "kept", json!({"manager": manager}));
        world.make(&[package("1.0-r1"), kept.clone()]).await;
        assert_eq!(stand_ins.read("hello").as_deref(), Some("1.0-r1"), "{manager}");
        assert_eq!(world.planned(&[package("1.0-r1"), kept.clone()]).await, [""; 0]);
        world.make(&[package("1.1-r1"), kept]).await;
        assert_eq!(stand_ins.read("hello").as_deref(), Some("1.1-r1"), "{manager}");
        world.destroy().await;
        assert_eq!(stand_ins.read("hello"), None, "{manager}");
        assert_eq!(stand_ins.read("kept").as_deref(), Some("0.9"), "{manager}");
        let missing = resource("package", "here", "missing", json!({"manager": manager}));
        let failed = problems(&world.apply(&[missing]).await.expect("a report"));
        assert!(failed[0].contains("no such package"), "{failed:?}");
    }
}

async fn systemd() {
    let stand_ins = StandIns::new("systemd").expect("stand-ins");
    stand_ins.add_systemd().expect("a stand-in");
    stand_ins.write("web.unit", "inactive disabled 0").expect("a unit");
    let world = World::new(with_path(&stand_ins));
    let service = |trigger: &str| {
        let attributes = json!({"manager": "systemd", "running": true, "enabled": true,
                                "triggers": [trigger]});
        resource("service", "here", "web", attributes)
    };
    world.make(&[service("1")]).await;
    assert_eq!(stand_ins.read("web.unit").as_deref(), Some("active enabled 0"));
    assert_eq!(world.planned(&[service("1")]).await, [""; 0]);
    world.make(&[service("2")]).await;
    assert_eq!(stand_ins.read("web.unit").as_deref(), Some("active enabled 1"));
    world.destroy().await;
    assert_eq!(stand_ins.read("web.unit").as_deref(), Some("inactive disabled 1"));
    let missing =
        resource("service", "here", "nobody", json!({"manager": "systemd", "running": true}));
    let failed = problems(&world.apply(&[missing]).await.expect("a report"));
    assert!(failed[0].contains("service `nobody` does not exist on host `here`"), "{failed:?}");
}

async fn users() {
    let stand_ins = StandIns::new("users").expect("stand-ins");
    stand_ins.add_user_tools().expect("stand-ins");
    let world = World::new(with_path(&stand_ins));
    let user = |shell: &str| {
        resource(
            "user",
            "here",
            "deploy",
            json!({"uid": 1500, "home": "/srv/deploy", "shell": shell}),
        )
    };
    world.make(&[user("/bin/sh")]).await;
    let line = "deploy:x:1500:1500::/srv/deploy:/bin/sh";
    assert_eq!(stand_ins.read("passwd.deploy").as_deref(), Some(line));
    assert_eq!(world.planned(&[user("/bin/sh")]).await, [""; 0]);
    world.make(&[user("/bin/false")]).await;
    let line = "deploy:x:1500:1500::/srv/deploy:/bin/false";
    assert_eq!(stand_ins.read("passwd.deploy").as_deref(), Some(line));
    world.destroy().await;
    assert_eq!(stand_ins.read("passwd.deploy"), None);
}

async fn runit() {
    let folder = Folder::new("runit").expect("a folder");
    let supervisor = Supervisor::start(&folder).expect("a supervisor");
    let mut settings = local_settings();
    settings.ssh.environment.push(("SVDIR".into(), supervisor.linked().into()));
    let world = World::new(settings);
    let count = folder.path().join("count");
    supervisor
        .add_service("web", &format!("echo x >> '{}'; exec sleep 1000", count.display()))
        .expect("a service");
    let service = |running: bool, trigger: &str| {
        let attributes = json!({"manager": "runit", "running": running, "enabled": true,
                                "triggers": [trigger]});
        resource("service", "here", "web", attributes)
    };
    world.make(&[service(true, "1")]).await;
    let starts = || fs::read_to_string(&count).unwrap_or_default().lines().count();
    // The supervisor says that a service runs before its script has run its first line.
    let started = async |times| {
        for _ in 0..1000 {
            if starts() == times {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(starts(), times);
    };
    started(1).await;
    assert_eq!(world.planned(&[service(true, "1")]).await, [""; 0]);
    world.make(&[service(true, "2")]).await;
    started(2).await;
    world.make(&[service(false, "2")]).await;
    assert_eq!(world.planned(&[service(false, "2")]).await, [""; 0]);
    world.destroy().await;
    assert!(!supervisor.linked().join("web").exists());
    assert_eq!(starts(), 2);
}
