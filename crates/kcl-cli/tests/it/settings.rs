//! Settings files and modules.

use crate::sandbox::{Ended, Sandbox, done};

const SETTINGS: &str = "kcl_cli_configs:
  file: [../base/base.k, main.k, '${KCL_MOD}/render.k']
  disable_none: true
kcl_options:
- key: env
  value: prod
- {key: n, value: 1}
";

fn project() -> Sandbox {
    Sandbox::new(&[
        ("kcl.mod", ""),
        ("render.k", "z = b\n"),
        ("app/base/base.k", "b = option(\"env\")\nnone = None\n"),
        ("app/dev/main.k", "c = option(\"n\")\n"),
        ("app/dev/kcl.yaml", SETTINGS),
    ])
}

#[test]
fn kcl_yaml_of_the_folder_is_read() {
    let sandbox = project();
    assert_eq!(sandbox.kcl_in("app/dev", "run", ""), done("b: prod\nc: 1\nz: prod\n"));
    assert_eq!(sandbox.kcl("run -Y app/dev/kcl.yaml -D n=2 env=\"x\""), done("b: x\nc: 2\nz: x\n"));
}

#[test]
fn broken_settings_are_reported() {
    let sandbox = Sandbox::new(&[("main.k", "a = 1\n"), ("bad.yaml", "kcl_cli_configs: [\n")]);
    let failed = |text: &str| Ended {
        code: 1,
        stdout: String::new(),
        stderr: format!("error[E3M38]: EvaluationError\nFailed to load {text}\n\n\n"),
    };
    assert_eq!(
        sandbox.kcl("run main.k -Y bad.yaml"),
        failed("'bad.yaml', invalid setting file format")
    );
    assert_eq!(
        sandbox.kcl("run main.k -Y none.yaml"),
        failed("'none.yaml', no such file or directory")
    );
}

#[test]
fn a_module_runs_by_its_profile() {
    let sandbox = Sandbox::new(&[
        ("kcl.mod", "[profile]\nentries = [\"b.k\", \"a.k\"]\noptions = [\"n=3\"]\n"),
        ("a.k", "a = option(\"n\")\n"),
        ("b.k", "b = 1\n"),
        ("c.k", "c = 1\n"),
    ]);
    assert_eq!(sandbox.kcl("run"), done("b: 1\na: 3\n"));
    assert_eq!(sandbox.kcl("run ."), done("b: 1\na: 3\n"));
    assert_eq!(sandbox.kcl("run c.k"), done("c: 1\n"));
}
