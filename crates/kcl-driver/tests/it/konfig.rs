//! Every stack of `konfig/` prints what its golden file says.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use anyhow::{Context as _, anyhow};
use base_system::OsSystem;
use kcl_driver::{RunOptions, run};
use std::path::{Path, PathBuf};

#[test]
fn every_stack_prints_its_golden_file() -> anyhow::Result<()> {
    let stacks = stacks(&testkit::repository().join("konfig/appops"))?;
    assert!(stacks.len() >= 4, "only {stacks:?}");
    for stack in stacks {
        let options = RunOptions {
            work_dir: Some(stack.clone()),
            settings: vec!["kcl.yaml".into(), "ci-test/settings.yaml".into()],
            ..RunOptions::default()
        };
        let output = run(&OsSystem, &options)
            .map_err(|error| anyhow!("{error:?}"))
            .with_context(|| stack.display().to_string())?;
        testkit::golden::check(
            &stack.join("ci-test/stdout.golden.yaml"),
            &format!("{}\n", output.result),
        )?;
    }
    Ok(())
}

/// The folders of all stacks below a folder of projects, sorted.
fn stacks(projects: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for project in std::fs::read_dir(projects)? {
        for stack in std::fs::read_dir(project?.path())? {
            let stack = stack?.path();
            if stack.join("stack.yaml").is_file() {
                found.push(stack);
            }
        }
    }
    found.sort();
    Ok(found)
}
