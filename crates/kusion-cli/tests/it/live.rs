//! The live board and the confirmation prompt, on a terminal of 80 columns, with and without
//! colour: the golden files in `tests/snapshots/live`.

use crate::recorder::{HELD, Recorder};
use crate::support::Project;
use std::fmt::Write as _;
use std::path::Path;
use testkit::terminal::Frame;

const SHOP: &str = r#"namespace = {
    apiVersion = "v1"
    kind = "Namespace"
    metadata.name = "shop"
}
settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "settings", namespace = "shop", finalizers = ["example.com/held"]}
}
web = {
    apiVersion = "apps/v1"
    kind = "Deployment"
    metadata = {name = "web", namespace = "shop"}
    spec = {
        replicas = 1
        selector.matchLabels.app = "web"
        template = {
            metadata = {labels.app = "web", annotations = {ANNOTATION}}
            spec.containers = [{name = "web", image = "nginx"}]
        }
    }
}
"#;
const ADMIN: &str = r#"settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "settings", namespace = "default"}
}
"#;
const SETTINGS: &str = "/api/v1/namespaces/shop/configmaps/settings";

/// A golden file: commands, and the frames that they show.
struct Golden {
    is_coloured: bool,
    text: String,
}

impl Golden {
    fn command(&mut self, words: &[&str]) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{gap}$ kusion {}", words.join(" "));
    }

    fn frame(&mut self, when: &str, frame: &Frame) {
        let shown = if self.is_coloured { frame.escaped() } else { frame.text() };
        let _ = writeln!(self.text, "{when}:");
        for line in shown.lines() {
            let _ = writeln!(self.text, "    {line}");
        }
    }

    fn end(&mut self, (frame, code): (Frame, Option<i32>)) {
        let code = code.map_or_else(|| "a signal".to_owned(), |it| it.to_string());
        self.frame(&format!("at the end, exit {code}"), &frame);
    }
}

#[test]
fn the_board_without_colour() {
    check("plain", "never");
}

#[test]
fn the_board_with_colour() {
    check("coloured", "auto");
}

fn check(name: &str, color: &str) {
    let shop = SHOP.replace("ANNOTATION", HELD);
    let project = Project::new(&format!("live-{name}"), &[("dev", &shop), ("admin", ADMIN)]);
    let recorder = Recorder::new(&project.home, project.home.folder.join("src"), (80, 24));
    let mut golden = Golden { is_coloured: color != "never", text: String::new() };
    let words =
        |words: &'static str| -> Vec<&str> { words.split(' ').chain(["--color", color]).collect() };
    confirm(&recorder, &mut golden, &words);
    roll_out(&project, &recorder, &mut golden, &words);
    fail(&project, &recorder, &mut golden, &words);
    delete(&project, &recorder, &mut golden, &words);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/live");
    let result = testkit::golden::check(&folder.join(format!("{name}.txt")), &golden.text);
    let failure = result.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}

type Words<'a> = &'a dyn Fn(&'static str) -> Vec<&'a str>;

/// A plan is declined, then confirmed.
fn confirm(recorder: &Recorder<'_>, golden: &mut Golden, words: Words<'_>) {
    for answer in ["n\n", "y\n"] {
        let words = words("apply shop/admin --sandbox");
        golden.command(&words);
        let mut session = recorder.start(&words);
        session.wait_for_prompt("Apply these changes? [y/N] ").expect("a prompt");
        session.type_text(answer).expect("an answer");
        golden.end(recorder.end(session));
    }
}

/// A stack is applied and watched; then two stacks are watched while one of them changes.
fn roll_out(project: &Project, recorder: &Recorder<'_>, golden: &mut Golden, words: Words<'_>) {
    let apply = words("apply shop/dev --sandbox --yes --watch --parallel 1");
    golden.command(&apply);
    let mut session = recorder.start(&apply);
    let frame = recorder.frame(&mut session, 3, &["2 of 3 ready", "Pod web-"]);
    golden.frame("while the pod is not ready", &frame);
    recorder.let_pods_start("shop", "web-");
    golden.end(recorder.end(session));

    let watch = words("watch shop --sandbox");
    golden.command(&watch);
    let mut session = recorder.start(&watch);
    let frame = recorder.frame(&mut session, 0, &["4 of 4 ready", "Pod web-"]);
    golden.frame("while all resources are ready", &frame);
    let shop = SHOP.replace("ANNOTATION", HELD);
    project.write("dev", &shop.replace("replicas = 1", "replicas = 2"));
    Recorder::next_second();
    project.ok(&["apply", "--yes", "--all"]);
    let frame = recorder.frame(&mut session, 3, &["3 of 4 ready", "1 of 2 pods available"]);
    golden.frame("while a second pod is not ready", &frame);
    session.interrupt().expect("it runs");
    golden.end(recorder.end(session));
}

/// A pod cannot get its image, and its deployment gives up.
fn fail(project: &Project, recorder: &Recorder<'_>, golden: &mut Golden, words: Words<'_>) {
    let broken = r#""sandbox.kusion.io/image-pull-error" = "true""#;
    let shop = SHOP.replace("ANNOTATION", broken);
    let shop = shop.replace("replicas = 1", "replicas = 1\n        progressDeadlineSeconds = 2");
    let web = shop.split_once("web = ").map(|it| it.1.replace("\"shop\"", "\"default\""));
    project.write("admin", &format!("web = {}", web.unwrap_or_default()));
    let apply = words("apply shop/admin --sandbox --yes --watch --allow-mass-delete --parallel 1");
    golden.command(&apply);
    golden.end(recorder.end(recorder.start(&apply)));
}

/// A finalizer delays a step.
fn delete(project: &Project, recorder: &Recorder<'_>, golden: &mut Golden, words: Words<'_>) {
    let destroy = words("destroy shop/dev --sandbox --yes --parallel 1");
    golden.command(&destroy);
    let mut session = recorder.start(&destroy);
    let frame = recorder.frame(&mut session, 0, &["deleting 2s waiting for"]);
    golden.frame("while a finalizer delays a step", &frame);
    project.patch(SETTINGS, r#"{"metadata":{"finalizers":null}}"#);
    golden.end(recorder.end(session));
}
