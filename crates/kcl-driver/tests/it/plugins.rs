//! Plugins of an embedding program.

use base_system::MemorySystem;
use kcl_driver::{Plugins, RunOptions, Runner, Session, Sharing, run};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn plugins() -> Plugins {
    Plugins::default()
        .with_function("math", "add", |arguments| {
            let positional = arguments.positional.iter();
            let sum: i64 =
                positional.chain(arguments.named.values()).filter_map(Value::as_i64).sum();
            Ok(sum.into())
        })
        .with_function("math", "fail", |_| Err("no\nway".to_owned()))
        .with_function("text", "show", |it| Ok(json!({"args": it.positional, "kwargs": it.named})))
}

/// Runs a program; returns the result, or the message of its first error.
fn result(program: &str, change: impl FnOnce(&mut RunOptions)) -> String {
    let system = MemorySystem::new().with_file("/m/main.k", program);
    let mut options = RunOptions { plugins: plugins(), ..RunOptions::files(["/m/main.k"]) };
    change(&mut options);
    match run(&system, &options) {
        Ok(output) => output.result,
        Err(error) => error.diagnostics[0].message().to_owned(),
    }
}

#[test]
fn functions_get_and_give_json() {
    let program = "import kcl_plugin.math\nimport kcl_plugin.text as t\n\
                   a = math.add(1, 2, x=3)\nb = t.show([1.0, None], k={x = True})\n";
    let expected = "a: 6\nb:\n  args:\n  - - 1.0\n    - null\n  kwargs:\n    k:\n      x: true";
    assert_eq!(result(program, |_| ()), expected);
}

#[test]
fn failures_are_errors_of_the_program() {
    let failed = |call: &str| result(&format!("import kcl_plugin.math\na = {call}\n"), |_| ());
    assert_eq!(failed("math.fail()"), "the plugin `math` failed: no\nway");
    assert_eq!(failed("math.nothing()"), "the plugin `math` has no function `nothing`");
    assert_eq!(failed("math.add(lambda { 1 })"), "the plugin `math` cannot be given a function");
    let big = "math.add(\"x\" * 20000000)";
    assert_eq!(failed(big), "the plugin `math` cannot be given more than 16777216 bytes");
    let caught =
        "import runtime\nimport kcl_plugin.math\na = runtime.catch(lambda { math.fail() })\n";
    assert!(result(caught, |_| ()).contains("the plugin `math` failed"));
    let other = "import kcl_plugin.other\na = other.f()\n";
    assert!(result(other, |_| ()).contains("`kcl_plugin.other` is not found"));
    let none = "import kcl_plugin.math\na = math.add(1)\n";
    assert!(result(none, |options| options.plugins = Plugins::default()).contains("is not found"));
    let no_io = result(none, |options| options.eval.no_io = true);
    assert_eq!(no_io, "math.add() is not allowed: `--no-io` is set");
}

#[test]
fn an_embedding_program_starts_no_executable() {
    let system = MemorySystem::new()
        .with_file("/m/kcl.mod", "[plugins]\np = \"sh plugins/p.sh\"\n")
        .with_file("/m/plugins/p.sh", "")
        .with_file("/m/main.k", "import kcl_plugin.p\na = p.f()\n");
    let said = |plugins: Plugins| {
        let options = RunOptions { plugins, ..RunOptions::files(["/m/main.k"]) };
        let error = run(&system, &options).expect_err("nothing is started");
        error.diagnostics[0].message().to_owned()
    };
    assert_eq!(said(Plugins::default()), "the plugin `p` cannot be called here");
    assert!(said(plugins()).contains("`kcl_plugin.p` is not found"));
}

#[test]
fn programs_of_a_session_share_no_call() {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let plugins = Plugins::default().with_function("count", "next", move |_| {
        Ok((counter.fetch_add(1, Ordering::Relaxed) + 1).into())
    });
    let system = MemorySystem::new()
        .with_file("/m/kcl.mod", "")
        .with_file("/m/lib/lib.k", "import kcl_plugin.count\nn = count.next()\n")
        .with_file("/m/a.k", "import lib\na = lib.n\n");
    for sharing in [Sharing::Evaluated, Sharing::Checked] {
        let session = Session::new();
        let mut runner = Runner::new(&session, &system, sharing);
        let options = RunOptions { plugins: plugins.clone(), ..RunOptions::files(["/m/a.k"]) };
        let mut next = || runner.run(&options, |output| output.result.clone()).expect("valid");
        let before = count.load(Ordering::Relaxed);
        assert_eq!(next(), format!("a: {}", before + 1));
        assert_eq!(next(), format!("a: {}", before + 2));
    }
}
