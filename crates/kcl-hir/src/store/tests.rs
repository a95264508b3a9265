//! Tests of packages that were checked before.

use crate::{Input, LoadOptions, Loaded, PackageMap, PackageStore, load_reduced, resolve_entries};
use base_cache::{Cache, CacheMode};
use base_system::{MemorySystem, System as _};
use std::path::Path;
use std::time::Duration;

const MODELS: &str = "\
import base

_count = 1

schema App(Named):
    port?: Port

schema Named:
    name: base.Name

schema Port:
    number: int

@deprecated(strict=False)
schema Other:
    names: [base.Name]

type Alias = Port
";

/// A module with a package of models; nothing changes any more at second 100.
fn system(main: &str) -> MemorySystem {
    MemorySystem::new()
        .with_file("/m/kcl.mod", "")
        .with_file("/m/base/base.k", "type Name = str\n\nschema Unused:\n    a: int\n")
        .with_file("/m/models/models.k", MODELS)
        .with_file("/m/models/more.k", "schema More:\n    a: int\n")
        .with_file("/m/main.k", main)
        .with_now(Duration::from_secs(100))
}

fn cache(build: u64) -> Cache {
    Cache::new("/cache".into(), build, CacheMode::Always)
}

/// Loads as a process of its own would, and keeps what it finds.
fn load(system: &MemorySystem, build: u64) -> Loaded {
    let store = PackageStore::default().with_cache(system, Some(cache(build)));
    load_with(system, &store)
}

fn load_with(system: &MemorySystem, store: &PackageStore) -> Loaded {
    let inputs = [Input::path("/m/main.k")];
    let entries = resolve_entries(system, &inputs, Path::new("/m"), &PackageMap::default());
    let loaded = load_reduced(system, &entries.unwrap(), &LoadOptions::default(), store).unwrap();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    store.keep(system, &loaded.program, &loaded.known);
    loaded
}

/// The packages with the names of what they define.
fn globals(loaded: &Loaded) -> Vec<String> {
    let package = |package: &crate::Package| {
        let names: Vec<&str> = package.globals.keys().map(|name| name.as_str()).collect();
        format!("{}: {}", package.path, names.join(" "))
    };
    loaded.program.packages.iter().map(package).collect()
}

const ALL: [&str; 3] =
    ["__main__: a", "models: _count App Named Port Other Alias More", "base: Name Unused"];

#[test]
fn only_what_is_reached_is_parsed() {
    let system = system("import models\na = models.App {}\n");
    assert_eq!(globals(&load(&system, 1)), ALL);
    let warm = load(&system, 1);
    assert!(warm.known.is_reduced());
    assert_eq!(globals(&warm), ["__main__: a", "models: _count App Named Port", "base: Name"]);
    // Nodes stand where they do in the whole file.
    let app = warm.program.packages[1].globals.get(&base_text::Name::new("Port")).unwrap();
    let (file, stmt) = app.definitions[0];
    let span = warm.program.file(file).module[stmt].span;
    assert!(span.slice(MODELS).starts_with("schema Port:"));
    assert_eq!(warm.program.line_col(file, span).line, 11);
}

#[test]
fn a_package_named_without_a_name_is_parsed_as_a_whole() {
    let system = system("import models\na = models\n");
    load(&system, 1);
    let warm = load(&system, 1);
    assert!(warm.known.is_reduced());
    assert_eq!(globals(&warm)[1], ALL[1]);
}

#[test]
fn keys_of_configs_are_no_uses() {
    let system = system("import models\na = {models = models.Port {number = 1}}\n");
    load(&system, 1);
    assert_eq!(globals(&load(&system, 1))[1], "models: _count Port");
}

#[test]
fn decorators_belong_to_their_statement() {
    let system = system("import models\na = models.Other {}\n");
    load(&system, 1);
    assert_eq!(globals(&load(&system, 1))[1], "models: _count Other");
}

#[test]
fn a_changed_file_counts_at_once() {
    let system = system("import models\na = models.App {}\n");
    load(&system, 1);
    system.write(Path::new("/m/models/more.k"), "schema More:\n    a: str\n").unwrap();
    assert!(!load(&system, 1).known.packages.iter().skip(1).take(1).any(Option::is_some));
    assert!(load(&system, 1).known.is_reduced());
}

#[test]
fn a_change_in_an_imported_package_means_a_new_check() {
    let system = system("import models\na = models.App {}\n");
    load(&system, 1);
    system.write(Path::new("/m/base/base.k"), "type Name = int\n").unwrap();
    let loaded = load(&system, 1);
    assert_eq!(globals(&loaded)[1], ALL[1]);
    assert!(loaded.known.packages.iter().all(Option::is_none));
    assert_eq!(globals(&load(&system, 1))[1], "models: _count App Named Port");
}

#[test]
fn files_that_come_and_go_count_at_once() {
    let system = system("import models\na = models.App {}\n");
    load(&system, 1);
    system.write(Path::new("/m/models/new.k"), "new = 1\n").unwrap();
    assert_eq!(globals(&load(&system, 1))[1], format!("{} new", ALL[1]));
    system.remove(Path::new("/m/models/new.k")).unwrap();
    assert_eq!(globals(&load(&system, 1))[1], "models: _count App Named Port");
    system.remove(Path::new("/m/models/more.k")).unwrap();
    assert_eq!(globals(&load(&system, 1))[1], "models: _count App Named Port Other Alias");
}

#[test]
fn what_another_build_wrote_is_not_there() {
    let system = system("import models\na = models.App {}\n");
    load(&system, 1);
    assert!(!load(&system, 2).known.is_reduced());
    assert!(load(&system, 2).known.is_reduced());
}

#[test]
fn a_file_with_a_racy_time_is_read_again() {
    // The file changes when it is looked at, and again in the same moment, to something of
    // the same length; only the content tells.
    let system = system("import models\na = models.App {}\n");
    system.write(Path::new("/m/models/more.k"), "schema More:\n    a: int\n").unwrap();
    load(&system, 1);
    let text = "schema More:\n    a: str\n";
    system.write_in_place(Path::new("/m/models/more.k"), text);
    let loaded = load(&system, 1);
    assert!(loaded.known.packages[1].is_none());
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let system = system("import models\na = models.App {}\n");
    load(&system, 1);
    let whole = globals(&load(&system, 1));
    for path in system.read_dir(Path::new("/cache")).unwrap() {
        let bytes = system.read(&path).unwrap();
        for at in (0..bytes.len()).step_by(5) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 16;
            system.write_bytes(&path, &damaged).unwrap();
            let found = globals(&load(&system, 1));
            for (at, found) in found.iter().enumerate() {
                assert!(found == ALL[at] || *found == whole[at], "{found}");
            }
        }
        system.write_bytes(&path, &bytes).unwrap();
    }
}

#[test]
fn programs_of_one_process_share_packages() {
    let models = format!("{MODELS}\n# {}\n", "-".repeat(5000));
    let system =
        system("import models\na = models.App {}\n").with_file("/m/models/models.k", models);
    let store = PackageStore::shared();
    assert!(!load_with(&system, &store).known.is_reduced());
    for _ in 0..2 {
        let warm = load_with(&system, &store);
        assert_eq!(globals(&warm)[1], "models: _count App Named Port");
    }
}
