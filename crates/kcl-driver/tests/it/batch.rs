//! Many stacks at once: the same results as one by one, and only what changed again.

use base_system::{MemorySystem, System as _};
use kcl_driver::{
    BatchOptions, BatchReport, BatchScope, RunOptions, Stack, StackState, find_stacks, read_list,
    run, run_batch,
};
use std::path::{Path, PathBuf};

const MODELS: &str = "\
schema App:
    name: str
    replicas: int = 1
    labels: {str:str} = {}
    check:
        replicas < 10, \"too many\"

_kind = \"app\"

render = lambda app: App -> {str:any} {
    {kind = _kind, name = app.name, replicas = app.replicas, labels = app.labels}
}
";

/// Eight projects of two stacks; every third has schemas, a package or prints of its own.
fn repo() -> MemorySystem {
    let mut system = MemorySystem::new()
        .with_file("/r/kcl.mod", "[package]\nname = \"r\"\n")
        .with_file("/r/models/app.k", MODELS)
        .with_file("/r/loud/loud.k", "print('loaded')\nsize = 3\n");
    for i in 0..8 {
        let base = format!("import models\napp: models.App {{name = \"a{i}\"}}\n");
        system = system.with_file(format!("/r/p{i}/base/base.k"), base);
        for stack in ["dev", "prod"] {
            let folder = format!("/r/p{i}/{stack}");
            let own = match i % 4 {
                0 => "schema Own:\n    a: int = 1\nown = Own {}\n",
                1 => "import loud\nsize = loud.size\n",
                2 => "import .part\nown = part.value\n",
                _ => "stage = option('stage')\n",
            };
            let main = format!(
                "import models\n{own}app: models.App {{\n    replicas = {}\n    labels.stage = \
                 \"{stack}\"\n}}\nout = models.render(app)\n",
                i % 5
            );
            let settings = "kcl_cli_configs:\n  file:\n  - ../base/base.k\n  - main.k\n\
                            kcl_options:\n- key: stage\n  value: s\n";
            system = system
                .with_file(format!("{folder}/main.k"), main)
                .with_file(format!("{folder}/part/part.k"), format!("value = \"{folder}\"\n"))
                .with_file(format!("{folder}/kcl.yaml"), settings);
        }
    }
    system
}

/// The stacks below a folder.
fn stacks_of(system: &MemorySystem, folder: &str) -> Vec<Stack> {
    let found = find_stacks(system, Path::new(folder)).expect("there are stacks");
    found.into_iter().map(Stack::from).collect()
}

fn batch(system: &MemorySystem, stacks: &[Stack], options: &BatchOptions) -> BatchReport {
    run_batch(system, stacks, options).expect("the output can be written")
}

fn into(out: &str) -> BatchOptions {
    BatchOptions { threads: 2, out: Some(out.into()), ..BatchOptions::default() }
}

/// The names of the stacks that were compiled.
fn compiled(report: &BatchReport) -> Vec<&str> {
    let is_compiled = |state: &StackState| matches!(state, StackState::Compiled { .. });
    let outcomes = report.outcomes.iter().filter(|outcome| is_compiled(&outcome.state));
    outcomes.map(|outcome| outcome.name.as_str()).collect()
}

#[test]
fn every_result_is_that_of_a_run() {
    let system = repo();
    let stacks = stacks_of(&system, "/r");
    assert_eq!(stacks.len(), 16);
    for threads in [1, 2, 5] {
        let out = PathBuf::from(format!("/out{threads}"));
        let options = BatchOptions { threads, out: Some(out.clone()), ..BatchOptions::default() };
        let report = batch(&system, &stacks, &options);
        for (stack, outcome) in stacks.iter().zip(&report.outcomes) {
            let work_dir = Some(stack.folder.clone());
            let alone = run(&system, &RunOptions { work_dir, ..RunOptions::default() }).unwrap();
            let below = stack.folder.strip_prefix("/r").unwrap().display();
            let written = system.read_to_string(&out.join(format!("{below}.yaml"))).unwrap();
            assert_eq!(written, format!("{}\n", alone.result), "{below}");
            assert_eq!(outcome.printed, alone.printed, "{below}");
        }
    }
}

#[test]
fn a_stack_that_fails_does_not_stop_the_others() {
    let system = repo()
        .with_file("/r/p3/dev/main.k", "import models\napp: models.App {replicas = 'x'}\n")
        .with_file("/r/p5/prod/main.k", "import models\napp: models.App {replicas = 11}\n");
    let stacks = stacks_of(&system, "/r");
    let report = batch(&system, &stacks, &into("/out"));
    let failed: Vec<(&str, bool)> = report
        .outcomes
        .iter()
        .filter_map(|outcome| match &outcome.state {
            StackState::Failed(findings) => {
                let is_check = findings.iter().any(|it| it.message == "Instance check failed");
                Some((outcome.name.as_str(), is_check))
            }
            _ => None,
        })
        .collect();
    assert_eq!(failed, [("p3/dev", false), ("p5/prod", true)]);
    assert_eq!(compiled(&report).len(), 14);
    // What failed is tried again.
    let again = batch(&system, &stacks, &into("/out"));
    let is_failed = |state: &StackState| matches!(state, StackState::Failed(_));
    assert_eq!(again.outcomes.iter().filter(|o| is_failed(&o.state)).count(), 2);
    assert_eq!(compiled(&again), [""; 0]);
}

#[test]
fn only_what_a_change_reaches_is_compiled_again() {
    let system = repo();
    let stacks = stacks_of(&system, "/r");
    let again = |path: &str, text: &str| {
        system.write(Path::new(path), text).unwrap();
        let report = batch(&system, &stacks, &into("/out"));
        compiled(&report).join(" ")
    };
    assert_eq!(compiled(&batch(&system, &stacks, &into("/out"))).len(), 16);
    assert_eq!(again("/r/notes.txt", "nothing"), "");
    assert_eq!(again("/r/p3/dev/main.k", "stage = 1\n"), "p3/dev");
    let base = "import models\napp: models.App {name = 'other'}\n";
    assert_eq!(again("/r/p3/base/base.k", base), "p3/dev p3/prod");
    assert_eq!(again("/r/loud/loud.k", "size = 4\n"), "p1/dev p1/prod p5/dev p5/prod");
    // One more file in a package, a result that is not ours.
    assert_eq!(again("/r/p2/dev/part/more.k", "more = 1\n"), "p2/dev");
    assert_eq!(again("/out/p7/dev.yaml", "stage: other\n"), "p7/dev");
    let models = again("/r/models/app.k", &MODELS.replace("app\"", "application\""));
    assert_eq!(models.split(' ').count(), 16);
    let full = BatchOptions { scope: BatchScope::All, ..into("/out") };
    assert_eq!(compiled(&batch(&system, &stacks, &full)).len(), 16);
    // A file that was looked for and not there: the module now ends at the project.
    system.write(Path::new("/r/p6/kcl.mod"), "").unwrap();
    let report = batch(&system, &stacks, &into("/out"));
    let failed = |state: &StackState| matches!(state, StackState::Failed(_));
    assert_eq!(report.outcomes.iter().filter(|outcome| failed(&outcome.state)).count(), 2);
}

#[test]
fn only_what_named_files_reach_is_compiled() {
    let system = repo();
    let stacks = stacks_of(&system, "/r");
    for out in ["/none", "/out"] {
        let touch = |paths: &[&str]| {
            let paths = paths.iter().map(PathBuf::from).collect();
            let scope = BatchScope::Touched(paths);
            let report = batch(&system, &stacks, &BatchOptions { scope, ..into(out) });
            compiled(&report).join(" ")
        };
        if out == "/out" {
            batch(&system, &stacks, &into(out));
        }
        assert_eq!(touch(&["/r/p0/dev/main.k"]), "p0/dev", "{out}");
        assert_eq!(touch(&["/r/p0/base/base.k"]), "p0/dev p0/prod", "{out}");
        assert_eq!(touch(&["/r/loud/removed.k"]), "p1/dev p1/prod p5/dev p5/prod", "{out}");
        assert_eq!(touch(&["/r/p3/prod/kcl.yaml"]), "p3/prod", "{out}");
        assert_eq!(touch(&["/r/readme.md"]), "", "{out}");
    }
}

#[test]
fn a_damaged_record_counts_as_none() {
    let system = repo();
    let stacks = stacks_of(&system, "/r");
    batch(&system, &stacks, &into("/out"));
    let path = Path::new("/out/.kcl-batch");
    let text = system.read_to_string(path).unwrap();
    for damaged in [&text[..text.len() / 2], &text.replace("kcl-batch 2", "kcl-batch 0"), "", "\n"]
    {
        system.write(path, damaged).unwrap();
        assert_eq!(compiled(&batch(&system, &stacks, &into("/out"))).len(), 16);
    }
}

#[test]
fn lists_name_folders_files_and_arguments() {
    let system = MemorySystem::new()
        .with_file("/l/stacks.list", "# all\na\tmain.k\t-Dcount=3\n\n/l/b\n")
        .with_file("/l/a/main.k", "count = option('count')\n")
        .with_file("/l/b/kcl.yaml", "kcl_cli_configs:\n  files: [b.k]\n")
        .with_file("/l/b/b.k", "b = 1\n");
    let stacks = read_list(&system, Path::new("/l/stacks.list")).unwrap();
    let report = batch(&system, &stacks, &into("/out"));
    assert_eq!(compiled(&report), ["a", "b"]);
    assert_eq!(system.read_to_string(Path::new("/out/a.yaml")).unwrap(), "count: 3\n");
    assert_eq!(system.read_to_string(Path::new("/out/b.yaml")).unwrap(), "b: 1\n");
    assert!(read_list(&system, Path::new("/l/none.list")).is_err());
}

#[test]
fn stacks_are_found_by_the_rule_of_the_engine() {
    let system = MemorySystem::new()
        .with_file("/r/project.yaml", "name: r")
        .with_file("/r/main.k", "")
        .with_file("/r/dev/stack.yaml", "name: dev")
        .with_file("/r/dev/inner/stack.yaml", "name: inner")
        .with_file("/r/prod/kcl.yaml", "")
        .with_file("/r/base/main.k", "")
        .with_file("/r/ci-test/kcl.yaml", "")
        .with_file("/r/crd/kcl.yaml", "")
        .with_file("/r/vendor/a/kcl.yaml", "")
        .with_file("/r/.cache/kcl.yaml", "");
    let folders = |folder: &str| -> Vec<PathBuf> {
        stacks_of(&system, folder).into_iter().map(|stack| stack.folder).collect()
    };
    assert_eq!(folders("/r"), [Path::new("/r/dev"), Path::new("/r/prod")]);
    assert_eq!(folders("/r/dev"), [Path::new("/r/dev")]);
    assert_eq!(folders("/r/base"), [Path::new("/r/base")]);
}
