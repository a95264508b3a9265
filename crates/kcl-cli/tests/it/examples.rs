//! The examples print what their golden files say, and so does the README.

use crate::sandbox::Sandbox;
use std::path::Path;

/// Runs `kcl` in a folder of the repository and compares its output with a golden file.
fn check(folder: &Path, line: &str, golden: &Path) {
    let ended = Sandbox::new(&[]).kcl_in(&folder.display().to_string(), line, "");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    testkit::golden::check(golden, &ended.stdout).expect("the golden file is up to date");
}

#[test]
fn each_stack_of_the_web_shop_renders() {
    let webshop = testkit::repository().join("examples/webshop");
    for stack in ["dev", "prod"] {
        let folder = webshop.join(stack);
        check(&folder, "run", &folder.join("expected.yaml"));
    }
}

#[test]
fn a_stack_renders_from_any_folder() {
    let root = testkit::repository();
    let files = "examples/webshop/base/base.k examples/webshop/prod/main.k";
    let line = format!("run {files} -D log_level=warning");
    check(&root, &line, &root.join("examples/webshop/prod/expected.yaml"));
}

/// Returns the first code block in `language` of the README's small example.
fn readme_block(language: &str) -> Option<String> {
    let readme = std::fs::read_to_string(testkit::repository().join("README.md")).ok()?;
    let (_, example) = readme.split_once("## Five lines")?;
    let (_, rest) = example.split_once(&format!("```{language}\n"))?;
    Some(rest.split_once("```")?.0.to_owned())
}

#[test]
fn the_readme_shows_what_the_tool_says() {
    let block = |language| readme_block(language).expect("the README has the block");
    let program = block("python");
    let good = Sandbox::new(&[("main.k", &program)]).kcl("run main.k");
    assert_eq!(good.stdout, block("yaml"));
    let bad = Sandbox::new(&[("main.k", &program.replace("= 4", "= \"4\""))]).kcl("run main.k");
    assert_eq!(bad.code, 1);
    let shown = block("text");
    let lines: Vec<&str> = shown.lines().filter(|line| !line.contains("-->")).collect();
    for line in lines {
        assert!(bad.stderr.contains(line), "{line:?} is not in\n{}", bad.stderr);
    }
}
