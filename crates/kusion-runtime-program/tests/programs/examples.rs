//! The conformance test on the examples, and on programs with one defect.

use base_plugin::{Guard, Launch, Limits};
use kusion_runtime_program::Program;
use kusion_runtime_program::check::{Sample, check};
use kusion_runtime_program::protocol::PROTOCOL;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testkit::{Missing, Suite};

pub(crate) fn add(suite: &mut Suite) {
    suite.add_with("the_dns_service_in_python_conforms", python(), |()| conforms_dns());
    suite.add_with("the_load_balancer_in_go_conforms", go(), |()| conforms_balancer());
    suite.add_with("a_defect_is_found_and_named", python(), |()| defects());
    suite.add_with("floods_hangs_and_garbage_end_in_an_error", python(), |()| bad_programs());
}

fn python() -> Result<(), Missing> {
    let found = Command::new("python3").arg("--version").output();
    found.map(|_| ()).map_err(|_| Missing::new("Python, for the example of a DNS service"))
}

fn go() -> Result<(), Missing> {
    let found = Command::new("go").arg("version").output();
    found.map(|_| ()).map_err(|_| Missing::new("Go, for the example of a load balancer"))
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/runtimes").join(name)
}

/// A folder of a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

fn program(words: &[&str], folder: &Path, more: &[(&str, &str)]) -> Program {
    let keep = |name: &str| std::env::var(name).ok().map(|value| (name.to_owned(), value));
    let mut environment: Vec<(String, String)> =
        ["PATH", "HOME"].into_iter().filter_map(keep).collect();
    environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Program::new(Launch {
        title: "the runtime `test`".to_owned(),
        words: words.iter().map(|it| (*it).to_owned()).collect(),
        folder: folder.to_owned(),
        environment,
        protocol: PROTOCOL.to_owned(),
        limits: Limits { answer: Duration::from_secs(20), ..Limits::default() },
        guard: Guard::this_program().expect("this program"),
    })
}

fn record() -> Sample {
    let sample = json!({
        "type": "record", "name": "www",
        "attributes": {"zone": "example.org", "address": "192.0.2.1", "ttl": 60},
        "changed": {"zone": "example.org", "address": "192.0.2.2", "ttl": 300},
    });
    serde_json::from_value(sample).expect("a sample")
}

/// Returns the rules that do not hold.
fn broken(program: &Program, sample: &Sample) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let findings = runtime.expect("a runtime").block_on(check(program, sample));
    program.stop();
    assert!(!findings.is_empty());
    let broken =
        findings.into_iter().filter_map(|it| Some(format!("{}: {}", it.rule, it.problem?)));
    broken.collect()
}

fn conforms_dns() {
    let folder = folder("dns");
    let script = example("dns/dns.py").display().to_string();
    let zones = folder.join("zones.json").display().to_string();
    let program = program(&["python3", &script], &folder, &[("DNS_ZONES", &zones)]);
    assert_eq!(broken(&program, &record()), [""; 0]);
}

fn conforms_balancer() {
    let folder = folder("balancer");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(folder.join("balancer"))
        .arg(".")
        .current_dir(example("balancer"))
        .env("CGO_ENABLED", "0")
        .status();
    assert!(built.expect("go runs").success());
    let words = folder.join("balancer").display().to_string();
    // The service of the example, on a port of its own.
    let mut service = Command::new(&words)
        .args(["serve", "127.0.0.1:0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("a service");
    let mut url = String::new();
    let output = service.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut url).expect("a line");
    let program = program(&[&words], &folder, &[("BALANCER_URL", url.trim())]);
    let sample = json!({
        "type": "pool", "name": "web",
        "attributes": {"port": 80, "backends": ["10.0.0.1:8080"]},
        "changed": {"port": 80, "backends": ["10.0.0.1:8080", "10.0.0.2:8080"]},
    });
    let found = broken(&program, &serde_json::from_value(sample).expect("a sample"));
    service.kill().expect("it ends");
    service.wait().expect("it ends");
    assert_eq!(found, [""; 0]);
}

fn defects() {
    let source = std::fs::read_to_string(example("dns/dns.py")).expect("a file");
    for (good, bad, expected) in [
        ("if not dry:", "if True:", "`dryRun` creates nothing: the object exists"),
        (
            "-32601",
            "-32000",
            "an unknown method is an error with the code -32601: the code is -32000",
        ),
        (
            "zones.pop(key(params), None)",
            "zones.get(key(params))",
            "`delete` deletes the object: the object exists",
        ),
    ] {
        assert!(source.contains(good), "{good}");
        let folder = folder("defect");
        let script = folder.join("dns.py").display().to_string();
        std::fs::write(&script, source.replace(good, bad)).expect("a file");
        let zones = folder.join("zones.json").display().to_string();
        let program = program(&["python3", &script], &folder, &[("DNS_ZONES", &zones)]);
        assert_eq!(broken(&program, &record()), [expected]);
    }
}

fn bad_programs() {
    let folder = folder("bad");
    for (script, expected) in [
        ("while True: print('x' * 65536, end='')", "sent a line of more than"),
        ("import time; time.sleep(1000)", "did not answer within"),
        ("print('hello'); input(); input()", "sent a line that is not an answer in JSON-RPC 2.0"),
        ("raise SystemExit(3)", "ended without an answer"),
    ] {
        let launch = |answer| Limits { answer, message: 1 << 20, ..Limits::default() };
        let program = Program::new(Launch {
            title: "the runtime `test`".to_owned(),
            words: ["python3", "-c", script].map(str::to_owned).to_vec(),
            folder: folder.clone(),
            environment: vec![("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())],
            protocol: PROTOCOL.to_owned(),
            limits: launch(Duration::from_secs(3)),
            guard: Guard::this_program().expect("this program"),
        });
        let found = broken(&program, &record());
        assert!(
            found[0].contains("the runtime `test`") && found[0].contains(expected),
            "{found:?}"
        );
    }
}
