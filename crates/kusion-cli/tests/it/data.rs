//! Sandboxes that keep their objects in a folder, and copies of clusters.

use crate::support::{Home, ask, try_ask};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string()
}

fn uid(home: &Home, path: &str) -> String {
    let (code, body) = home.ask("GET", path, "");
    assert_eq!(code, 200, "{body}");
    let object: Value = serde_json::from_str(&body).expect("JSON");
    object["metadata"]["uid"].as_str().expect("a uid").to_owned()
}

#[test]
fn objects_in_a_folder_survive_down_and_end_with_reset() {
    let home = Home::new("data");
    let data = home.folder.join("objects");
    let up = ["sandbox", "up", "--data", data.to_str().expect("a path")];
    home.ok(&up);
    assert_eq!(home.ask("POST", MAPS, &map("a")).0, 201);
    let (cluster, object) =
        (uid(&home, "/api/v1/namespaces/kube-system"), uid(&home, &format!("{MAPS}/a")));
    // The same again is fine, another folder is not.
    assert!(home.ok(&up).contains("already running"));
    let error = home.fails(&["sandbox", "up", "--data", "/tmp"]);
    assert!(error.contains("is already running"), "{error}");
    let error = home.fails(&["sandbox", "up", "--name", "b", "--data", up[3]]);
    assert!(error.contains("another sandbox uses this folder"), "{error}");
    let inside = home.folder.join("sandbox/default/objects");
    let error = home.fails(&["sandbox", "up", "--name", "b", "--data", &inside.to_string_lossy()]);
    assert!(error.contains("`kusion sandbox down` deletes"), "{error}");

    home.ok(&["sandbox", "down"]);
    home.ok(&up);
    assert_eq!(uid(&home, "/api/v1/namespaces/kube-system"), cluster);
    assert_eq!(uid(&home, &format!("{MAPS}/a")), object);

    home.ok(&["sandbox", "reset"]);
    assert_ne!(uid(&home, "/api/v1/namespaces/kube-system"), cluster);
    assert_eq!(home.ask("GET", &format!("{MAPS}/a"), "").0, 404);
    // After a reset, the folder is still used.
    assert_eq!(home.ask("POST", MAPS, &map("b")).0, 201);
    home.ok(&["sandbox", "down"]);
    home.ok(&up);
    assert_eq!(home.ask("GET", &format!("{MAPS}/b"), "").0, 200);
}

/// Starts a server that this process can kill; returns it with its kubeconfig.
fn start(home: &Home, data: &str) -> (Child, String) {
    let words = ["sandbox", "up", "--foreground", "--data", data, "--output", "json"];
    let mut child = home.command(&words).stdout(Stdio::piped()).spawn().expect("a process");
    let mut line = String::new();
    let out = child.stdout.take().expect("an output");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let state: Value = serde_json::from_str(&line).expect("the state of the sandbox");
    let path = state["kubeconfig"].as_str().expect("a path");
    (child, std::fs::read_to_string(path).expect("a kubeconfig"))
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let rounds = std::env::var("KUSION_TEST_KILLS").ok().and_then(|it| it.parse().ok());
    let rounds: usize = rounds.unwrap_or(3);
    let home = Home::new("kills");
    let data = home.folder.join("objects").to_str().expect("a path").to_owned();
    let acknowledged: Arc<Mutex<Vec<String>>> = Arc::default();
    let next = Arc::new(AtomicUsize::new(0));
    for round in 0..rounds {
        let (mut child, kubeconfig) = start(&home, &data);
        let is_over = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let (kubeconfig, acknowledged, next, is_over) =
                    (kubeconfig.clone(), acknowledged.clone(), next.clone(), is_over.clone());
                std::thread::spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        let name = format!("m{}", next.fetch_add(1, Ordering::Relaxed));
                        if try_create(&kubeconfig, &name) {
                            acknowledged.lock().expect("a lock").push(name);
                        }
                    }
                })
            })
            .collect();
        // Some writes are under way, at another point each time.
        let least = acknowledged.lock().expect("a lock").len() + 5 + round % 7;
        while acknowledged.lock().expect("a lock").len() < least {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        is_over.store(true, Ordering::Relaxed);
        child.wait().expect("ended");
        for writer in writers {
            writer.join().expect("a thread");
        }
    }
    let (mut child, kubeconfig) = start(&home, &data);
    let (_, body) = ask(&kubeconfig, "GET", MAPS, "");
    let list: Value = serde_json::from_str(&body).expect("JSON");
    let names: Vec<&str> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|it| it["metadata"]["name"].as_str())
        .collect();
    let acknowledged = acknowledged.lock().expect("a lock");
    let lost: Vec<&String> =
        acknowledged.iter().filter(|it| !names.contains(&it.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?} of {}", acknowledged.len());
    println!("{rounds} kills, {} acknowledged objects, none lost", acknowledged.len());
    child.kill().expect("killed");
    child.wait().expect("ended");
}

/// Creates an object; false if the server did not say that it did.
fn try_create(kubeconfig: &str, name: &str) -> bool {
    try_ask(kubeconfig, "POST", MAPS, &map(name)).is_some_and(|(code, _)| code == 201)
}

#[test]
fn a_sandbox_is_a_copy_of_a_cluster() {
    let home = Home::new("copies");
    home.ok(&["sandbox", "up"]);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "canary"}});
    let path = "/api/v1/namespaces/default/secrets";
    assert_eq!(home.ask("POST", path, &secret.to_string()).0, 201);
    let from = home.ok(&["sandbox", "kubeconfig", "--path"]);
    let words =
        ["sandbox", "up", "--name", "copy", "--from", from.trim(), "--namespace", "default"];
    let output = home.run(&words);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("copied "), "{text}");
    let kubeconfig = home.ok(&["sandbox", "kubeconfig", "--name", "copy"]);
    let (code, body) = ask(&kubeconfig, "GET", &format!("{path}/key"), "");
    assert!(code == 200 && body.contains("cmVwbGFjZWQ=") && !body.contains("Y2FuYXJ5"), "{body}");
    let again = home.fails(&words);
    assert!(again.contains("is already running"), "{again}");
    // A cluster that does not answer leaves no half sandbox behind.
    home.ok(&["sandbox", "down"]);
    let broken = home.folder.join("broken");
    let text = "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n\
        users: [{name: a, user: {}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n";
    std::fs::write(&broken, text).expect("written");
    let broken = broken.to_str().expect("a path");
    let error = home.fails(&["sandbox", "up", "--name", "half", "--from", broken]);
    assert!(error.starts_with("error: cannot copy the cluster of"), "{error}");
    home.fails(&["sandbox", "status", "--name", "half"]);
}
