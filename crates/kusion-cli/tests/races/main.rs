//! Eight processes apply one stack at the same time, on every backend.

#[path = "../it/support.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::collections::BTreeSet;
use std::process::{Child, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use support::{Project, text};
use testkit::{Suite, server};

const PROCESSES: usize = 8;
/// How often the test looks.
const LOOK: Duration = Duration::from_millis(20);
/// When a test gives up that would else never end.
const STUCK: Duration = Duration::from_mins(3);
const HELD: &str = "/api/v1/namespaces/race/configmaps/held";
const PLAIN: &str = "/api/v1/namespaces/race/configmaps/plain";

/// A stack whose object `held` is replaced in every round; it goes only when the test takes its
/// finalizer away, so that whoever replaces it holds the stack for as long as the test wants.
fn program(round: u32) -> String {
    format!(
        r#"namespace = {{
    apiVersion = "v1"
    kind = "Namespace"
    metadata.name = "race"
}}
held = {{
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {{name = "held", namespace = "race", finalizers = ["kusion.io/race"]}}
    immutable = True
    data.round = "{round}"
}}
plain = {{
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {{name = "plain", namespace = "race"}}
    data.round = "{round}"
}}
"#
    )
}

/// How many rounds are run; more where that is asked for.
fn rounds() -> u32 {
    std::env::var("KUSION_TEST_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(2)
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add("on_sqlite_one_of_eight_processes_applies_a_stack", || {
        one_of_eight_applies("sqlite", None);
    });
    suite.add_with(
        "on_postgres_one_of_eight_processes_applies_a_stack",
        server("KUSION_TEST_POSTGRES"),
        |backend| one_of_eight_applies("postgres", Some(&backend)),
    );
    suite.add_with(
        "on_s3_one_of_eight_processes_applies_a_stack",
        server("KUSION_TEST_S3"),
        |backend| one_of_eight_applies("s3", Some(&backend)),
    );
    suite.run()
}

fn one_of_eight_applies(name: &str, backend: Option<&str>) {
    let mut project = Project::new(&format!("races-{name}"), &[("dev", &program(0))]);
    project.home.backend = backend.map(str::to_owned);
    project.ok(&["apply", "--yes"]);
    for round in 1..=rounds() {
        project.write("dev", &program(round));
        let before = uid(&project, HELD);
        let winner = race(&project, round);
        assert_ne!(uid(&project, HELD), before, "round {round}: it was replaced");
        for path in [HELD, PLAIN] {
            let live = project.live(path).expect("the object");
            assert_eq!(live["data"]["round"], round.to_string(), "round {round}: {path}");
        }
        let releases = project.json(&["release", "list"]);
        let count = usize::try_from(round).expect("a few rounds") + 1;
        assert_eq!(releases.len(), count, "round {round}: {releases:?}");
        let operator = releases[count - 1]["head"]["operator"].as_str().expect("an operator");
        assert!(operator.contains(&winner), "round {round}: {winner} is not {operator}");
    }
    let releases = project.json(&["release", "list"]);
    let revisions: BTreeSet<u64> =
        releases.iter().filter_map(|it| it["head"]["revision"].as_u64()).collect();
    assert_eq!(revisions.len(), releases.len(), "{releases:?}");
    assert!(releases.iter().all(|it| it["phase"] == "succeeded"), "{releases:?}");
    assert!(project.ok(&["preview"]).ends_with("no changes; 3 unchanged\n"));
}

/// Lets eight processes apply at the same time: one replaces the held object, the others say who
/// that is. Returns how it is named.
fn race(project: &Project, round: u32) -> String {
    let folder = project.folder().display().to_string();
    let words = ["apply", "--yes", "--sandbox", "-w", &folder];
    let start = || {
        let mut command = project.home.command(&words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    };
    let mut running: Vec<Child> = (0..PROCESSES).map(|_| start()).collect();
    let mut refused: Vec<Output> = Vec::new();
    let begun = Instant::now();
    while running.len() > 1 {
        if begun.elapsed() > STUCK {
            let pids: Vec<u32> = running.iter().map(Child::id).collect();
            for child in &mut running {
                let _ = child.kill();
            }
            assert!(pids.len() < 2, "round {round}: several processes hold the stack: {pids:?}");
        }
        for place in (0..running.len()).rev() {
            if running[place].try_wait().expect("a child").is_some() {
                refused.push(running.remove(place).wait_with_output().expect("it ended"));
            }
        }
        std::thread::sleep(LOOK);
    }
    let winner = running.remove(0);
    let holder = format!("(process {}, `kusion apply`)", winner.id());
    for output in &refused {
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "round {round}: {out}{err}");
        let is_named = err.contains("stack `shop/dev` is locked by ") && err.contains(&holder);
        assert!(is_named, "round {round}, {holder} holds it: {err}");
    }
    // The winner is still at it: the old object is marked as deleted, or will be soon.
    let deleted = || {
        let live = project.live(HELD).expect("it is held");
        live["metadata"]["deletionTimestamp"].is_string()
    };
    while !deleted() {
        std::thread::sleep(LOOK);
    }
    project.patch(HELD, r#"{"metadata":{"finalizers":null}}"#);
    let output = winner.wait_with_output().expect("it ends");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "round {round}: {out}{err}");
    assert!(out.contains(&format!("release {} succeeded: 2 done", round + 1)), "{out}");
    holder
}

fn uid(project: &Project, path: &str) -> String {
    let live = project.live(path).expect("the object");
    live["metadata"]["uid"].as_str().expect("a uid").to_owned()
}
