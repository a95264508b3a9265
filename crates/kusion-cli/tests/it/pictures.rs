//! The pictures of the README, recorded from the commands that it shows: `docs/pictures`.
//!
//! `UPDATE=1 cargo test -p kusion-cli pictures` records them anew.

use crate::recorder::{HELD, Recorder};
use crate::support::Home;
use std::path::{Path, PathBuf};
use testkit::terminal::{Attributes, Frame, Line, Run, svg};
use testkit::transcript::copy;

const STACK: &str = "konfig/appops/guestbook/dev";
const NAMESPACE: &str = "guestbook-dev";
/// Columns and lines of the terminal, enough for all that the commands print.
const SIZE: (u16, u16) = (96, 60);
/// The largest picture in a document, in bytes.
const MAX_SIZE: usize = 60_000;

#[test]
fn the_pictures_show_what_the_commands_print() {
    let home = Home::new("pictures");
    let work = home.folder.join("src");
    copy(&testkit::repository().join("konfig"), &work.join("konfig")).expect("konfig is copied");
    let recorder = Recorder::new(&home, work.clone(), SIZE);
    // Pods wait for the test, so that there is something to see before all is ready.
    let base = work.join("konfig/appops/guestbook/base/base.k");
    for name in ["guestbook", "store"] {
        let (old, new) = (
            format!("    name = \"{name}\"\n"),
            format!("    name = \"{name}\"\n    podAnnotations = {{{HELD}}}\n"),
        );
        replace(&base, &old, &new);
    }
    apply(&recorder);
    preview(&recorder, &work.join(STACK).join("main.k"));
    watch(&recorder, &home, &base, &work);
}

fn apply(recorder: &Recorder<'_>) {
    let command = ["apply", STACK, "--sandbox", "--watch", "--yes"];
    Recorder::next_second();
    let mut session = recorder.start(&command);
    let texts = ["4 of 6 ready", "Pod guestbook-", "Pod store-0"];
    let mut frames = vec![Frame::default(), recorder.frame(&mut session, 5, &texts)];
    recorder.let_pods_start(NAMESPACE, "store-");
    frames.push(recorder.frame(&mut session, 3, &["5 of 6 ready", "Pod guestbook-"]));
    recorder.let_pods_start(NAMESPACE, "guestbook-");
    let (last, code) = recorder.end(session);
    assert_eq!(code, Some(0), "{}", last.text());
    frames.push(last);
    check("apply", &command, frames);
}

fn preview(recorder: &Recorder<'_>, main: &Path) {
    let text = std::fs::read_to_string(main).expect("main.k");
    replace(main, "replicas = 1", "replicas = 2");
    replace(main, "cpu = \"50m\"", "cpu = \"100m\"");
    let command = ["preview", STACK, "--sandbox"];
    let (frame, code) = recorder.end(recorder.start(&command));
    assert_eq!(code, Some(0), "{}", frame.text());
    std::fs::write(main, text).expect("main.k");
    check("preview", &command, vec![frame]);
}

fn watch(recorder: &Recorder<'_>, home: &Home, base: &Path, work: &Path) {
    let command = ["watch", STACK, "--sandbox"];
    let mut session = recorder.start(&command);
    let mut frames =
        vec![Frame::default(), recorder.frame(&mut session, 0, &["6 of 6 ready", "Pod store-0"])];
    replace(base, "guestbook/ui:v5", "guestbook/ui:v6");
    Recorder::next_second();
    let stack = work.join(STACK).display().to_string();
    home.ok(&["apply", &stack, "--sandbox", "--yes"]);
    frames.push(recorder.frame(&mut session, 3, &["5 of 6 ready", "0 of 1 pods available"]));
    recorder.let_pods_start(NAMESPACE, "guestbook-");
    frames.push(recorder.frame(&mut session, 0, &["6 of 6 ready", "1 old ReplicaSet"]));
    session.interrupt().expect("it runs");
    let (last, code) = recorder.end(session);
    assert_eq!(code, Some(130), "{}", last.text());
    check("watch", &command, frames);
}

/// Compares a picture with its file; every frame starts with the command.
fn check(name: &str, command: &[&str], mut frames: Vec<Frame>) {
    let command = format!("kusion {}", command.join(" "));
    for frame in &mut frames {
        sort_steps(&mut frame.lines);
        frame.lines.insert(0, prompt(&command));
    }
    let picture = svg::picture(&command, usize::from(SIZE.0), &frames);
    assert!(picture.len() < MAX_SIZE, "{name} has {} bytes", picture.len());
    let result = testkit::golden::check(&folder().join(format!("{name}.svg")), &picture);
    let failure = result.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}

/// Sorts the lines of ended steps, which run in parallel.
fn sort_steps(lines: &mut [Line]) {
    let text = |line: &Line| line.iter().map(|run| run.text.as_str()).collect::<String>();
    for steps in lines.split_mut(|line| !text(line).starts_with("created ")) {
        steps.sort_by_key(text);
    }
}

fn folder() -> PathBuf {
    testkit::repository().join("docs/pictures")
}

fn prompt(command: &str) -> Line {
    let muted = Attributes { is_dim: true, ..Attributes::default() };
    let bold = Attributes { is_bold: true, ..Attributes::default() };
    vec![
        Run { attributes: muted, text: "$ ".to_owned() },
        Run { attributes: bold, text: command.to_owned() },
    ]
}

fn replace(path: &Path, old: &str, new: &str) {
    let text = std::fs::read_to_string(path).expect("a file");
    assert!(text.contains(old), "{} does not contain `{old}`", path.display());
    std::fs::write(path, text.replace(old, new)).expect("a file");
}
