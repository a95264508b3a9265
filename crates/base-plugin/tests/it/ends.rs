//! No process is left behind.

use crate::support::{Ids, launch, runs, start, this_program, wait_for_end};
use base_plugin::{Limits, Problem, Process};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("a_program_that_hangs_is_stopped", hang);
    suite.add("a_program_that_crashes_tells_its_last_words", crash);
    suite.add("endless_output_is_stopped", flood);
    suite.add("endless_errors_are_stopped", complain);
    suite.add("all_processes_end_with_the_value", dropped);
    suite.add("all_processes_end_with_a_hanging_program", hanging_family);
    suite.add("all_processes_end_with_a_crashing_program", crashing_family);
    suite.add("all_processes_end_when_the_one_who_asks_is_killed", killed);
    suite.add("a_guard_without_words_does_nothing", misused);
}

fn hang() {
    let mut process = start(&["hang"]);
    let failure = process.ask("a", "[]", Some(Duration::from_millis(300))).expect_err("hangs");
    assert_eq!(
        failure.to_string(),
        "the plugin `test` did not answer within 300ms and was stopped; its last line on standard \
         error: `waiting for \\u{1b}[31mthe server`"
    );
    let again = process.ask("a", "[]", None).expect_err("it has ended");
    assert!(matches!(again.problem, Problem::Ended(_)), "{again}");
}

fn crash() {
    let failure = start(&["crash"]).ask("a", "[]", None).expect_err("crashes");
    assert_eq!(
        failure.to_string(),
        "the plugin `test` ended without an answer (exit status 3); its last line on standard \
         error: `worse`"
    );
    let failure = start(&["abort"]).ask("a", "[]", None).expect_err("aborts");
    assert_eq!(failure.problem, Problem::Ended("signal 6".to_owned()));
}

fn flood() {
    let mut small = launch(&["flood"]);
    small.limits = Limits { message: 1 << 20, ..small.limits };
    let mut process = Process::start(&small, None).expect("started");
    let failure = process.ask("a", "[]", None).expect_err("floods");
    assert_eq!(failure.problem, Problem::LongMessage(1 << 20));
}

fn complain() {
    let failure = start(&["complain"]).ask("a", "[]", None).expect_err("complains");
    assert_eq!(failure.problem, Problem::ManyErrors(1 << 20));
    assert!(failure.last_line.is_some_and(|line| line.starts_with("yyy") && line.len() < 400));
}

fn dropped() {
    let ids = Ids::new("dropped");
    let mut process = start(&["family", &ids.path().display().to_string(), "answer"]);
    assert_eq!(process.ask("a", "[]", None), Ok("1".to_owned()));
    let family = ids.wait_for(3);
    assert!(family.iter().all(|id| runs(*id)), "{family:?}");
    drop(process);
    // Nothing is waited for: they ended before.
    assert!(!family.iter().any(|id| runs(*id)), "{family:?}");
}

fn hanging_family() {
    let ids = Ids::new("hanging");
    let mut process = start(&["family", &ids.path().display().to_string(), "hang"]);
    let failure = process.ask("a", "[]", Some(Duration::from_millis(100))).expect_err("hangs");
    assert!(matches!(failure.problem, Problem::TimedOut(_)), "{failure}");
    assert!(!ids.wait_for(3).iter().any(|id| runs(*id)));
}

fn crashing_family() {
    let ids = Ids::new("crashing");
    let mut process = start(&["family", &ids.path().display().to_string(), "crash"]);
    let failure = process.ask("a", "[]", None).expect_err("crashes");
    assert_eq!(failure.problem, Problem::Ended("exit status 4".to_owned()));
    assert!(!ids.wait_for(3).iter().any(|id| runs(*id)));
}

fn killed() {
    let ids = Ids::new("killed");
    let mut asker = Command::new(this_program())
        .args(["role", "asker"])
        .arg(ids.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    let output = asker.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert_eq!(line, "asked\n");
    let family = ids.wait_for(3);
    assert!(family.iter().all(|id| runs(*id)), "{family:?}");
    // SIGKILL: it can do nothing about it.
    asker.kill().expect("killed");
    asker.wait().expect("ended");
    wait_for_end(&family);
}

fn misused() {
    let output = Command::new(this_program()).arg("plugin-guard").output().expect("run");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text, "error: `plugin-guard` is for internal use\n");
}
