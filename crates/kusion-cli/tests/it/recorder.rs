//! Runs commands on a terminal; the test decides how far a rollout gets before a frame is taken.

use crate::support::Home;
use fancy_regex::Regex;
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use testkit::terminal::{Frame, Session};

/// What keeps the pods of a template from becoming ready, until [`Recorder::let_pods_start`].
pub(crate) const HELD: &str = r#""sandbox.kusion.io/never-ready" = "true""#;

/// What differs between two runs or two redraws, and what is shown instead.
const MASKS: &[(&str, &str)] = &[
    ("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋"),
    (r"\b\d+s\b", "2s"),
    (r"(-[0-9a-f]{8,10}-|EndpointSlice \S+-)[a-z0-9]{5}\b", "${1}x7k2p"),
];

/// Runs commands in a folder of a home.
pub(crate) struct Recorder<'a> {
    home: &'a Home,
    folder: PathBuf,
    /// Columns and lines of the terminal.
    size: (u16, u16),
    rules: Vec<(Regex, &'static str)>,
}

impl<'a> Recorder<'a> {
    /// Returns a recorder for terminals with a number of columns and lines.
    pub(crate) fn new(home: &'a Home, folder: PathBuf, size: (u16, u16)) -> Self {
        let rule = |(pattern, text): &(&str, &'static str)| {
            (Regex::new(pattern).expect("a pattern"), *text)
        };
        Self { home, folder, size, rules: MASKS.iter().map(rule).collect() }
    }

    /// Starts a command on a terminal.
    pub(crate) fn start(&self, words: &[&str]) -> Session {
        let mut command = self.home.command(words);
        command.current_dir(&self.folder).env("HOME", &self.home.folder).env("TZ", "UTC");
        command.env_remove("NO_COLOR").env_remove("KUBERNETES_SERVICE_HOST");
        Session::start(command, self.size.0, self.size.1).expect("a terminal")
    }

    /// Waits for a board that stays the same, with all the texts and a number of progressing
    /// objects.
    pub(crate) fn frame(
        &self,
        session: &mut Session,
        n_progressing: usize,
        texts: &[&str],
    ) -> Frame {
        let is_expected = |shown: &str| {
            shown.matches('◌').count() == n_progressing
                && texts.iter().all(|text| shown.contains(text))
        };
        let frame = session.wait_for(&is_expected, &|text| self.mask(text));
        let failure = frame.as_ref().err().map(|it| format!("{texts:?}: {it:#}"));
        assert!(frame.is_ok(), "{}", failure.unwrap_or_default());
        frame.unwrap_or_default()
    }

    /// Waits for the end; returns the last screen and the exit code.
    pub(crate) fn end(&self, session: Session) -> (Frame, Option<i32>) {
        let (frame, status) = session.finish().expect("the command ends");
        (frame.masked(&|text| self.mask(text)), status.code())
    }

    fn mask(&self, text: &str) -> String {
        let home = self.home.folder.display().to_string();
        let text = text.replace(&home, "~/.local/share/kusion");
        let text = text.replace(env!("CARGO_BIN_EXE_kusion"), "kusion");
        self.rules.iter().fold(text, |text, (rule, with)| rule.replace_all(&text, *with).into())
    }

    /// Waits for the next second: objects are listed by age, and those of one second by name,
    /// which is random for pods.
    pub(crate) fn next_second() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
        std::thread::sleep(Duration::from_nanos(1_000_000_000 - u64::from(now.subsec_nanos())));
    }

    /// Lets the pods of a namespace become ready whose names start with `prefix`, if they are held.
    pub(crate) fn let_pods_start(&self, namespace: &str, prefix: &str) {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let pods = self.home.live(&path).expect("a list of pods");
        let pods = pods["items"].as_array().expect("items");
        let is_held = |pod: &&Value| {
            pod["metadata"]["annotations"]["sandbox.kusion.io/never-ready"] == "true"
        };
        let names = pods.iter().filter(is_held).filter_map(|it| it["metadata"]["name"].as_str());
        for name in names.filter(|name| name.starts_with(prefix)) {
            let patch = r#"{"metadata":{"annotations":{"sandbox.kusion.io/never-ready":"false"}}}"#;
            self.home.patch(&format!("{path}/{name}"), patch);
        }
    }
}
