//! Questions on a terminal: one over several stacks, and the names of stacks that ask for them.

use crate::recorder::Recorder;
use crate::support::Project;
use std::fs;

const MAP: &str = r#"settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "NAME", namespace = "default"}
}
"#;
const DEV: &str = "/api/v1/namespaces/default/configmaps/dev";
const QUESTION: &str = "Apply these changes? [y/N] ";
const NAME: &str = "Type `shop/prod` to confirm its changes: ";

/// Runs a command on a terminal, and answers its questions; returns the screen and the exit code.
fn answered(
    recorder: &Recorder<'_>,
    words: &[&str],
    answers: &[(&str, &str)],
) -> (String, Option<i32>) {
    let mut session = recorder.start(words);
    for (prompt, answer) in answers {
        session.wait_for_prompt(prompt).expect("a prompt");
        session.type_text(answer).expect("an answer");
    }
    let (frame, code) = recorder.end(session);
    (frame.text(), code)
}

#[test]
fn several_stacks_have_one_question_and_names_are_typed() {
    let (dev, prod) = (MAP.replace("NAME", "dev"), MAP.replace("NAME", "prod"));
    let project = Project::new("questions", &[("dev", &dev), ("prod", &prod)]);
    fs::write(project.folder().join("prod/stack.yaml"), "name: prod\nconfirm: name\n")
        .expect("a file");
    let recorder = Recorder::new(&project.home, project.home.folder.join("src"), (100, 40));
    let apply = ["apply", "shop", "--sandbox", "--parallel", "1"];
    let (shown, code) = answered(&recorder, &apply, &[(QUESTION, "n\n")]);
    assert_eq!((code, shown.matches(QUESTION.trim()).count()), (Some(1), 1), "{shown}");
    assert!(shown.contains("2 stacks: 2 to create"), "{shown}");
    // The name of the stack alone is not enough: other projects may have the same.
    let (shown, code) = answered(&recorder, &apply, &[(QUESTION, "y\n"), (NAME, "prod\n")]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("cancelled; nothing was changed"), "{shown}");
    assert_eq!(project.live(DEV), None);
    // `--yes` answers the question, but not the name.
    let sure = [&apply[..], &["--yes"]].concat();
    let (shown, code) = answered(&recorder, &sure, &[(NAME, "shop/prod\n")]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("2 stacks: 2 done") && !shown.contains(QUESTION.trim()), "{shown}");
    assert!(project.live(DEV).is_some());
    // A typed name is all that one stack asks for.
    let destroy = ["destroy", "shop/prod", "--sandbox"];
    let (shown, code) = answered(&recorder, &destroy, &[(NAME, "shop/prod\n")]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");
}
