//! `kusion sandbox`: start, look, reset, stop.

use crate::support::{Home, ask};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

fn up(home: &Home, words: &[&str]) -> Value {
    let all = [&["sandbox", "up", "--output", "json"], words].concat();
    serde_json::from_str(&home.ok(&all)).expect("JSON")
}

#[test]
fn a_sandbox_starts_answers_and_stops() {
    let home = Home::new("life");
    let up = up(&home, &[]);
    let url = up["url"].as_str().expect("url").to_owned();
    assert_eq!(home.ask("GET", "/readyz", ""), (200, "ok".to_owned()));
    assert!(home.ask("GET", "/api/v1/namespaces/default", "").1.contains("\"Active\""));
    assert!(home.ok(&["sandbox", "kubeconfig"]).contains(&url));
    assert!(Path::new(up["kubeconfig"].as_str().expect("path")).is_file());
    assert!(home.ok(&["sandbox", "status"]).contains("running"));
    assert!(home.ok(&["sandbox", "up"]).contains("already running"));
    assert!(home.ok(&["sandbox", "logs"]).contains(&url));
    assert!(home.ok(&["sandbox", "down"]).contains("stopped"));
    assert!(TcpStream::connect(url.trim_start_matches("https://")).is_err());
    assert!(home.ok(&["sandbox", "down"]).contains("not running"));
    assert!(home.fails(&["sandbox", "kubeconfig"]).contains("kusion sandbox up"));
}

#[test]
fn a_sandbox_with_many_objects_and_watchers_stops_at_once() {
    let home = Home::new("many");
    let url = up(&home, &["--plain"])["url"].as_str().expect("url").to_owned();
    let kubeconfig = home.ok(&["sandbox", "kubeconfig"]);
    for number in 0..500 {
        let path = "/api/v1/namespaces/default/pods";
        let container = r#"{"name": "c", "image": "nginx"}"#;
        let name = format!(r#"{{"name": "p{number}"}}"#);
        let pod = format!(r#"{{"metadata": {name}, "spec": {{"containers": [{container}]}}}}"#);
        let (code, answer) = ask(&kubeconfig, "POST", path, &pod);
        assert_eq!(code, 201, "{answer}");
    }
    let address = url.trim_start_matches("http://");
    let watch = "GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut watchers: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("a server");
            stream.write_all(watch.as_bytes()).expect("a request");
            stream
        })
        .collect();
    // Nobody reads what the watches say: that must not hold up the end.
    assert!(home.ok(&["sandbox", "down"]).contains("is stopped"));
    assert!(TcpStream::connect(address).is_err());
    for stream in &mut watchers {
        // Cut off or reset, but ended.
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_sandbox_that_hangs_is_killed() {
    let home = Home::new("hangs");
    let up = up(&home, &[]);
    let pid = up["pid"].to_string();
    let done = std::process::Command::new("kill").args(["-STOP", &pid]).status();
    assert!(done.is_ok_and(|it| it.success()));
    let told = home.ok(&["sandbox", "down", "--timeout", "300ms"]);
    assert!(told.contains("did not stop in time and was killed"), "{told}");
    let address = up["url"].as_str().expect("url").trim_start_matches("https://").to_owned();
    assert!(TcpStream::connect(address).is_err());
    assert!(!home.folder.join("sandbox/default").exists());
}

#[test]
fn several_sandboxes_run_side_by_side() {
    let home = Home::new("several");
    let (one, two) = (up(&home, &["--name", "one"]), up(&home, &["--name", "two"]));
    assert_ne!(one["url"], two["url"]);
    let list: Value =
        serde_json::from_str(&home.ok(&["sandbox", "status", "-o", "json"])).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(2));
    home.ok(&["sandbox", "down", "--name", "one"]);
    assert!(home.fails(&["sandbox", "status", "--name", "one"]).contains("`one` does not exist"));
    assert!(home.ok(&["sandbox", "status", "--name", "two"]).contains("running"));
}

#[test]
fn reset_keeps_the_address_and_drops_the_objects() {
    let home = Home::new("reset");
    let url = up(&home, &[])["url"].as_str().expect("url").to_owned();
    let before = home.ok(&["sandbox", "kubeconfig"]);
    let first = home.ask("GET", "/api/v1/namespaces/default", "").1;
    assert!(home.ok(&["sandbox", "reset"]).contains(&url));
    assert_eq!(home.ok(&["sandbox", "kubeconfig"]), before);
    let uid = |answer: &str| answer.split("\"uid\":").nth(1).map(|it| it[..38].to_owned());
    assert_ne!(uid(&first), uid(&home.ask("GET", "/api/v1/namespaces/default", "").1));
}

#[test]
fn what_a_crash_left_behind_is_no_obstacle() {
    let home = Home::new("stale");
    let folder = home.folder.join("sandbox/default");
    std::fs::create_dir_all(&folder).expect("folder");
    let stale = r#"{"version":1,"name":"default","pid":1,"url":"http://127.0.0.1:1","port":1,"tls":false,"token":"t","control":1,"secret":"s"}"#;
    std::fs::write(folder.join("state.json"), stale).expect("file");
    assert!(home.ok(&["sandbox", "status"]).contains("stopped"));
    assert!(home.fails(&["sandbox", "reset"]).contains("is not running"));
    assert_eq!(up(&home, &[])["state"], "running");
}

#[test]
fn a_taken_port_is_named() {
    let home = Home::new("port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("address").port().to_string();
    let error = home.fails(&["sandbox", "up", "--port", &port]);
    assert!(error.contains(&format!("on port {port}")), "{error}");
}

#[test]
fn only_who_has_the_kubeconfig_gets_in() {
    let home = Home::new("tls");
    let up = up(&home, &[]);
    assert!(up["url"].as_str().is_some_and(|url| url.starts_with("https://")));
    let kubeconfig = home.ok(&["sandbox", "kubeconfig"]);
    let path = "/api/v1/namespaces/default/secrets";
    assert_eq!(ask(&kubeconfig, "GET", path, "").0, 200);
    let token = kubeconfig.lines().find(|line| line.contains("token: ")).expect("a token");
    for other in [String::new(), format!("{token}0")] {
        assert_eq!(ask(&kubeconfig.replace(token, &other), "GET", path, "").0, 401);
    }
    // The flag of earlier versions is still accepted.
    assert!(home.ok(&["sandbox", "up", "--name", "x", "--tls"]).contains("https://"));
    assert_eq!(home.run(&["sandbox", "up", "--tls", "--plain"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn files_with_secrets_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new("private");
    up(&home, &[]);
    let folder = home.folder.join("sandbox/default");
    let mode = |path: &Path| path.metadata().expect("a file").permissions().mode() & 0o777;
    for place in [&home.folder, &home.folder.join("sandbox"), &folder] {
        assert_eq!(mode(place), 0o700, "{}", place.display());
    }
    for name in ["kubeconfig", "state.json", "credentials.json", "log"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_proxy_is_not_asked_for_the_way_to_this_machine() {
    let home = Home::new("proxy");
    std::fs::create_dir_all(home.folder.join("src/dev")).expect("a folder");
    let write = |path: &str, text: &str| {
        std::fs::write(home.folder.join("src").join(path), text).expect("a file");
    };
    write("project.yaml", "name: shop\n");
    write("dev/stack.yaml", "name: dev\n");
    write("dev/main.k", "a = {apiVersion = \"v1\", kind = \"ConfigMap\", metadata.name = \"a\"}\n");
    let stack = home.folder.join("src/dev").display().to_string();
    let mut command = home.command(&["apply", "--yes", "--sandbox", &stack]);
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn commands_at_the_same_time_leave_one_sandbox_and_no_orphan() {
    let home = Home::new("parallel");
    let start = |_| {
        let mut command = home.command(&["sandbox", "up", "--output", "json"]);
        command.stdout(std::process::Stdio::piped()).spawn().expect("the binary runs")
    };
    let children: Vec<_> = (0..6).map(start).collect();
    let mut told: Vec<Value> = children
        .into_iter()
        .map(|child| child.wait_with_output().expect("it ends"))
        .map(|output| serde_json::from_slice(&output.stdout).expect("JSON"))
        .collect();
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(servers(&home), [told[0]["pid"].to_string()]);
    assert!(home.ok(&["sandbox", "down"]).contains("is stopped"));
    assert_eq!(servers(&home), [""; 0]);
}

/// Returns the numbers of the processes that run sandboxes of a home.
#[cfg(target_os = "linux")]
fn servers(home: &Home) -> Vec<String> {
    let wanted = format!("KUSION_HOME={}", home.folder.display());
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    entries
        .filter(|entry| {
            let has = |file: &str, word: &str| {
                let text = std::fs::read(entry.path().join(file)).unwrap_or_default();
                text.split(|byte| *byte == 0).any(|it| it == word.as_bytes())
            };
            has("environ", &wanted) && has("cmdline", "--foreground")
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn names_are_checked() {
    let home = Home::new("names");
    assert!(home.fails(&["sandbox", "up", "--name", "../x"]).contains("invalid sandbox name"));
    assert_eq!(home.run(&["sandbox", "up", "--port", "x"]).status.code(), Some(2));
}
