//! `kusion sandbox`: start, look, reset, stop.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home that is removed, with all its sandboxes, at the end of a test.
struct Home {
    folder: PathBuf,
}

impl Home {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kusion-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self { folder }
    }

    fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_kusion"))
            .arg("sandbox")
            .args(words)
            .env("KUSION_HOME", &self.folder)
            .output()
            .expect("the binary runs")
    }

    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn fails(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    fn up(&self, words: &[&str]) -> Value {
        let all = [&["up", "--output", "json"], words].concat();
        serde_json::from_str(&self.ok(&all)).expect("JSON")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.folder.join("sandbox")).into_iter().flatten().flatten()
        {
            let name = entry.file_name().into_string().unwrap_or_default();
            let _ = self.run(&["down", "--name", &name]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn get(url: &str, path: &str) -> String {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_sandbox_starts_answers_and_stops() {
    let home = Home::new("life");
    let up = home.up(&[]);
    let url = up["url"].as_str().expect("url").to_owned();
    assert!(get(&url, "/readyz").ends_with("ok"));
    assert!(get(&url, "/api/v1/namespaces/default").contains("\"Active\""));
    assert!(home.ok(&["kubeconfig"]).contains(&url));
    assert!(Path::new(up["kubeconfig"].as_str().expect("path")).is_file());
    assert!(home.ok(&["status"]).contains("running"));
    assert!(home.ok(&["up"]).contains("already running"));
    assert!(home.ok(&["logs"]).contains(&url));
    assert!(home.ok(&["down"]).contains("stopped"));
    assert!(TcpStream::connect(url.trim_start_matches("http://")).is_err());
    assert!(home.ok(&["down"]).contains("not running"));
    assert!(home.fails(&["kubeconfig"]).contains("kusion sandbox up"));
}

#[test]
fn several_sandboxes_run_side_by_side() {
    let home = Home::new("several");
    let (one, two) = (home.up(&["--name", "one"]), home.up(&["--name", "two"]));
    assert_ne!(one["url"], two["url"]);
    let list: Value = serde_json::from_str(&home.ok(&["status", "-o", "json"])).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(2));
    home.ok(&["down", "--name", "one"]);
    assert!(home.fails(&["status", "--name", "one"]).contains("no sandbox `one`"));
    assert!(home.ok(&["status", "--name", "two"]).contains("running"));
}

#[test]
fn reset_keeps_the_address_and_drops_the_objects() {
    let home = Home::new("reset");
    let url = home.up(&[])["url"].as_str().expect("url").to_owned();
    let before = home.ok(&["kubeconfig"]);
    let first = get(&url, "/api/v1/namespaces/default");
    assert!(home.ok(&["reset"]).contains(&url));
    assert_eq!(home.ok(&["kubeconfig"]), before);
    let uid = |answer: &str| answer.split("\"uid\":").nth(1).map(|it| it[..38].to_owned());
    assert_ne!(uid(&first), uid(&get(&url, "/api/v1/namespaces/default")));
}

#[test]
fn what_a_crash_left_behind_is_no_obstacle() {
    let home = Home::new("stale");
    let folder = home.folder.join("sandbox/default");
    std::fs::create_dir_all(&folder).expect("folder");
    let stale = r#"{"version":1,"name":"default","pid":1,"url":"http://127.0.0.1:1","port":1,"tls":false,"token":"t","control":1,"secret":"s"}"#;
    std::fs::write(folder.join("state.json"), stale).expect("file");
    assert!(home.ok(&["status"]).contains("stopped"));
    assert!(home.fails(&["reset"]).contains("is not running"));
    assert_eq!(home.up(&[])["state"], "running");
}

#[test]
fn a_taken_port_is_named() {
    let home = Home::new("port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("address").port().to_string();
    let error = home.fails(&["up", "--port", &port]);
    assert!(error.contains(&format!("on port {port}")), "{error}");
}

#[test]
fn with_tls_a_token_is_needed() {
    let home = Home::new("tls");
    let up = home.up(&["--tls"]);
    assert!(up["url"].as_str().is_some_and(|url| url.starts_with("https://")));
    assert!(home.ok(&["kubeconfig"]).contains("certificate-authority-data"));
}

#[test]
fn names_are_checked() {
    let home = Home::new("names");
    assert!(home.fails(&["up", "--name", "../x"]).contains("is no name for a sandbox"));
    assert_eq!(home.run(&["up", "--port", "x"]).status.code(), Some(2));
}
