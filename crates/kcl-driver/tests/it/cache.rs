//! Runs with packages that earlier runs have checked.

use base_diag::Colour;
use base_system::{MemorySystem, System as _};
use kcl_driver::{RunOptions, run};
use std::path::Path;
use std::time::Duration;

const MODELS: &str = "\
import file

print(\"models\")
_count = 1

schema App:
    name: str
    port?: Port
    check:
        len(name) < 9, \"too long\"

schema Port:
    number: int

schema Old:
    @deprecated(version=\"2\", reason=\"old\", strict=False)
    name: str

schema Log:
    line: str
    _done = file.append(\"log.txt\", line)
";

fn system(main: &str) -> MemorySystem {
    MemorySystem::new()
        .with_file("/m/kcl.mod", "")
        .with_file("/m/models/models.k", MODELS)
        .with_file("/m/models/more.k", "schema More:\n    a: int = 1\n")
        .with_file("/m/main.k", main)
        .with_env("KCL_CACHE_DIR", "/cache")
        .with_env("KCL_CACHE", "always")
        .with_now(Duration::from_secs(100))
}

/// Output, warnings or errors of a run, as one text.
fn show(system: &MemorySystem, use_cache: bool) -> String {
    let options = RunOptions { use_cache, ..RunOptions::files(["/m/main.k"]) };
    match run(system, &options) {
        Ok(output) => {
            let warnings = base_diag::render_text(&output.warnings, &output.program, Colour::Never);
            format!("{}|{}|{warnings}", output.printed, output.result)
        }
        Err(error) => format!("{}|{}", error.printed, error.to_text(Colour::Never)),
    }
}

/// Compares a run without a cache with one that fills it and two that use it.
fn check(system: &MemorySystem) -> String {
    let expected = show(system, false);
    for round in ["fills", "uses", "uses again"] {
        assert_eq!(show(system, true), expected, "{round}");
    }
    expected
}

#[test]
fn results_are_the_same() {
    let shown = check(&system("import models\na = models.App {name = \"a\"}\n"));
    assert_eq!(shown, "models\n|a:\n  name: a|");
}

#[test]
fn so_are_errors() {
    for main in [
        "import models\na = models.App {name = 1}\n",
        "import models\na = models.App {name = \"much too long\"}\n",
        "import models\na = models.Missing {}\n",
        "import models\na = models.Ap {name = \"a\"}\n",
        "import models\na = \n",
    ] {
        let good = system("import models\na = models.App {name = \"a\"}\n");
        check(&good);
        good.write(Path::new("/m/main.k"), main).expect("memory can be written");
        assert!(check(&good).contains("error["), "{main}");
    }
}

#[test]
fn and_warnings() {
    let shown = check(&system("import models\na = models.Old {name = \"a\"}\n"));
    assert!(shown.contains("deprecated"), "{shown}");
}

#[test]
fn an_error_in_a_package_is_found_however_it_comes_in() {
    let system = system("import models\na = models.App {name = \"a\"}\n");
    check(&system);
    for text in ["schema More:\n    a: int = \"1\"\n", "schema More:\n    a: Nothing\n", "schema\n"]
    {
        system.write(Path::new("/m/models/more.k"), text).expect("memory can be written");
        assert!(check(&system).contains("error["), "{text}");
    }
    system.remove(Path::new("/m/models/more.k")).expect("memory can be written");
    assert_eq!(check(&system), "models\n|a:\n  name: a|");
}

#[test]
fn files_are_changed_once() {
    let system = system("import models\na = models.Log {line = \"x\"}\n");
    for n in 1..=3 {
        show(&system, true);
        let log =
            system.read_to_string(Path::new("/m/models/log.txt")).expect("the log was written");
        assert_eq!(log, "x".repeat(n));
    }
}

#[test]
fn eight_writers_at_once_do_no_harm() {
    let system = system("import models\na = models.App {name = \"a\"}\n");
    let expected = show(&system, false);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    assert_eq!(show(&system, true), expected);
                }
            });
        }
    });
}

#[test]
fn foreign_files_do_no_harm() {
    let system = system("import models\na = models.App {name = \"a\"}\n");
    let expected = check(&system);
    for path in system.read_dir(Path::new("/cache")).expect("the cache is there") {
        system.write(&path, "not ours").expect("memory can be written");
        assert_eq!(show(&system, true), expected);
    }
    assert_eq!(check(&system), expected);
}
