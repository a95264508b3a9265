//! Questions, answers, and what is wrong with them.

use crate::support::{launch, of_words, start};
use base_plugin::{Limits, Problem, Process, SharedProcess};
use std::time::Duration;
use testkit::Suite;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("results_are_what_the_program_wrote", results);
    suite.add("long_messages_pass_in_both_directions", long_messages);
    suite.add("an_error_leaves_the_program_running", refused);
    suite.add("the_environment_and_the_folder_are_those_of_the_launch", environment);
    suite.add("what_is_no_answer_ends_the_program", no_answers);
    suite.add("a_program_that_cannot_be_started_is_named", not_started);
    suite.add("memory_is_limited", memory);
    suite.add("threads_share_one_program", shared);
    suite.add("a_failed_program_is_started_again_but_not_for_ever", restarted);
}

fn results() {
    let mut process = start(&["echo"]);
    let asked = process.ask("a", "{\"x\": [1.0,\n null]}", None).expect("an answer");
    let expected = r#"{"jsonrpc":"2.0","id":2,"method":"a","params":{"x": [1.0,  null]}}"#;
    assert_eq!(asked, expected);
}

fn long_messages() {
    let mut process = start(&["echo"]);
    let text = format!("\"{}\"", "x".repeat(3 << 20));
    let asked = process.ask("a", &text, None).expect("an answer");
    assert!(asked.len() > 3 << 20, "{}", asked.len());
    let too_long = format!("\"{}\"", "x".repeat(17 << 20));
    let failure = process.ask("a", &too_long, None).expect_err("too long");
    assert_eq!(failure.problem, Problem::LongRequest(16 << 20));
    assert!(process.ask("a", "1", None).is_ok(), "it goes on");
}

fn refused() {
    let mut process = start(&["refuse"]);
    for _ in 0..2 {
        let failure = process.ask("a", "[]", None).expect_err("refused");
        assert_eq!(failure.problem, Problem::Refused { code: 7, message: "no".to_owned() });
        assert_eq!(failure.to_string(), "the plugin `test` failed: no");
    }
}

fn environment() {
    let mut process = start(&["environment"]);
    let asked = process.ask("a", "[]", None).expect("an answer");
    let folder = std::env::temp_dir().canonicalize().expect("a folder").display().to_string();
    assert!(asked.contains("ONLY") && asked.contains(&folder), "{asked}");
    assert!(!asked.contains("HOME") && !asked.contains("CARGO"), "{asked}");
}

fn no_answers() {
    let said = |line: &str| {
        let failure = start(&["say", line]).ask("a", "[]", None).expect_err(line);
        failure.to_string()
    };
    assert_eq!(
        said("hello"),
        "the plugin `test` sent a line that is not an answer in JSON-RPC 2.0 and was stopped: \
         `hello`"
    );
    assert_eq!(
        said(r#"{"jsonrpc":"2.0","id":77,"result":1}"#),
        "the plugin `test` answered the request `77`, but `2` was asked, and was stopped"
    );
    // A notification is no answer.
    let told = "{\"jsonrpc\":\"2.0\",\"method\":\"log\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":@id@,\"result\":5}";
    assert_eq!(start(&["say", told]).ask("a", "[]", None), Ok("5".to_owned()));
    let early = format!("\"{}\"", "x".repeat(1 << 20));
    let failure = start(&["deaf"]).ask("a", &early, Some(Duration::from_millis(200)));
    assert!(matches!(failure.expect_err("deaf").problem, Problem::TimedOut(_)));
    let mut other = launch(&["echo"]);
    "other/2".clone_into(&mut other.protocol);
    let failure = Process::start(&other, None).expect_err("another protocol");
    let expected = "the plugin `test` speaks the protocol `test/1`, but `other/2` is needed";
    assert_eq!(failure.to_string(), expected);
}

fn not_started() {
    let failed = |words: &[&str]| {
        let launch = of_words(words.iter().map(ToString::to_string).collect());
        Process::start(&launch, None).expect_err("not started").to_string()
    };
    assert_eq!(
        failed(&["base-plugin-no-such-program"]),
        "the plugin `test` cannot be started: `base-plugin-no-such-program`: No such file or \
         directory (os error 2)"
    );
    assert_eq!(
        failed(&["/etc/passwd"]),
        "the plugin `test` cannot be started: `/etc/passwd`: Permission denied (os error 13)"
    );
    let mut nowhere = launch(&["echo"]);
    nowhere.folder = "/no/such/folder".into();
    let failure = Process::start(&nowhere, None).expect_err("no folder").to_string();
    assert!(failure.starts_with("the plugin `test` cannot be started: No such file"), "{failure}");
}

fn memory() {
    let mut little = launch(&["eat"]);
    assert_eq!(Process::start(&little, None).expect("started").ask("a", "[]", None), {
        Ok("64".to_owned())
    });
    little.limits = Limits { memory: 32 << 20, ..little.limits };
    let asked = Process::start(&little, None).expect("started").ask("a", "[]", None);
    // It either notices or is ended by its allocator.
    assert!(asked != Ok("64".to_owned()), "{asked:?}");
}

fn shared() {
    let process = SharedProcess::new(launch(&["echo"]));
    let ids: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            let text = process.ask("a", "[]", None).expect("an answer");
            text.split("\"id\":").nth(1).map(str::to_owned).unwrap_or_default()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|it| it.join().expect("joined")).collect()
    });
    let mut numbers: Vec<&str> = ids.iter().map(|it| it.split(',').next().unwrap_or("")).collect();
    numbers.sort_unstable();
    // One process, asked one question after the other.
    assert_eq!(numbers, ["2", "3", "4", "5", "6", "7", "8", "9"]);
}

fn restarted() {
    let process = SharedProcess::new(launch(&["crash"]));
    for _ in 0..3 {
        let failure = process.ask("a", "[]", None).expect_err("it crashes");
        assert_eq!(failure.problem, Problem::Ended("exit status 3".to_owned()));
    }
    let failure = process.ask("a", "[]", None).expect_err("given up");
    let expected = "the plugin `test` has failed 3 times and is not started again";
    assert_eq!(failure.to_string(), expected);
}
