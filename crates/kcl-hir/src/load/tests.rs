//! Loading from memory.

use super::{LoadOptions, load};
use crate::entry::{Input, resolve_entries};
use crate::program::{ImportTarget, Program};
use base_diag::Diagnostic;
use base_system::MemorySystem;
use std::path::{Path, PathBuf};

fn files(files: &[(&str, &str)]) -> MemorySystem {
    files.iter().fold(MemorySystem::new(), |system, (path, text)| system.with_file(path, *text))
}

fn load_with(
    system: &MemorySystem,
    inputs: &[&str],
    options: &LoadOptions,
) -> (Program, Vec<Diagnostic>) {
    let inputs: Vec<Input> = inputs.iter().map(|path| Input::path(*path)).collect();
    let entries = resolve_entries(system, &inputs, Path::new("/w"), &options.packages).unwrap();
    let outcome = load(system, &entries, options).unwrap();
    (outcome.value, outcome.diagnostics)
}

fn check(system: &MemorySystem, inputs: &[&str]) -> (Vec<String>, Vec<String>) {
    let (program, found) = load_with(system, inputs, &LoadOptions::default());
    (packages(&program), messages(&program, &found))
}

fn packages(program: &Program) -> Vec<String> {
    let show = |package: &crate::Package| {
        let files: Vec<&str> =
            package.files.iter().map(|file| program.file(*file).path.as_str()).collect();
        format!("{}: {}", package.path, files.join(" "))
    };
    program.packages.iter().map(show).collect()
}

fn messages(program: &Program, found: &[Diagnostic]) -> Vec<String> {
    let show = |found: &Diagnostic| match found.labels[0].at {
        Some(at) => {
            let line = program.line_col(at.file, at.span).line;
            format!("{}:{line}: {}", program.file(at.file).path, found.message())
        }
        None => found.message().to_owned(),
    };
    found.iter().map(show).collect()
}

#[test]
fn imports_reach_packages_in_order() {
    let system = files(&[
        ("/w/kcl.mod", ""),
        ("/w/app/main.k", "import math\nimport base.net as n\nimport .lib\nimport ..one.x\n"),
        ("/w/base/net/b.k", "import base.deep\n"),
        ("/w/base/net/a.k", ""),
        ("/w/base/net/_p.k", ""),
        ("/w/base/net/a_test.k", ""),
        ("/w/base/deep/d.k", ""),
        ("/w/app/lib/l.k", ""),
        ("/w/one/x.k", ""),
        ("/w/one/y.k", ""),
    ]);
    let (program, found) = load_with(&system, &["app/main.k"], &LoadOptions::default());
    assert_eq!(messages(&program, &found), [""; 0]);
    assert_eq!(
        packages(&program),
        [
            "__main__: /w/app/main.k",
            "base.net: /w/base/net/a.k /w/base/net/b.k",
            "app.lib: /w/app/lib/l.k",
            "one.x: /w/one/x.k",
            "base.deep: /w/base/deep/d.k",
        ]
    );
    let imports = &program.files[0].imports;
    let names: Vec<&str> = imports.iter().map(|import| import.name.as_str()).collect();
    assert_eq!(names, ["math", "n", "lib", "x"]);
    assert_eq!(imports[0].target, ImportTarget::System);
}

#[test]
fn the_only_file_of_a_folder_means_the_folder() {
    let system = files(&[
        ("/w/main.k", "import a.b\nimport a\nimport c\n"),
        ("/w/a/b.k", ""),
        ("/w/c.k", ""),
    ]);
    assert_eq!(check(&system, &["main.k"]).0, ["__main__: /w/main.k", "a: /w/a/b.k", "c: /w/c.k"]);
}

#[test]
fn missing_packages_are_reported_twice_as_the_reference_does() {
    let system = files(&[
        ("/w/main.k", "import x.y\nimport a\nimport ..up\nimport kcl_plugin.hello\n"),
        ("/w/a/a.k", "a = 1 +\nimport z\n"),
    ]);
    let found = check(&system, &["main.k"]).1;
    assert_eq!(found[0], "/w/main.k:1: pkgpath x.y not found in the program");
    assert!(found[1].starts_with("/w/main.k:4: the plugin package `kcl_plugin.hello` is not"));
    assert!(found[2].starts_with("/w/a/a.k:1: expected one of"));
    assert_eq!(
        found[found.len() - 4..],
        [
            "/w/a/a.k:2: pkgpath z not found in the program",
            "/w/main.k:1: Cannot find the module x.y from /w/x/y",
            "/w/main.k:3: Failed to import the module ..up from /w/. No KCL files found in the \
         specified folder",
            "/w/a/a.k:2: Cannot find the module z from /w/z",
        ]
    );
}

#[test]
fn cycles_name_their_files() {
    let system = files(&[
        ("/w/main.k", "import a\n"),
        ("/w/a/a.k", "import b\n"),
        ("/w/a/other.k", ""),
        ("/w/b/b.k", "import a\n"),
    ]);
    assert_eq!(
        check(&system, &["main.k"]).1,
        ["Could not compiles due to cyclic import statements\n- /w/b/b.k\n- /w/a/a.k"]
    );
}

#[test]
fn a_file_may_be_in_two_packages() {
    let system = files(&[
        ("/w/main.k", "import lib.a\nimport lib\n"),
        ("/w/lib/a.k", ""),
        ("/w/lib/b.k", ""),
    ]);
    assert_eq!(
        check(&system, &["main.k", "main.k"]).0,
        ["__main__: /w/main.k", "lib.a: /w/lib/a.k", "lib: /w/lib/a.k /w/lib/b.k"]
    );
}

#[test]
fn external_packages_have_their_own_root() {
    let system = files(&[
        ("/w/main.k", "import k8s.api.v1\nimport both\nimport vend.sub\nimport bad\n"),
        ("/k8s/kcl.mod", ""),
        ("/k8s/api/v1/pod.k", "import meta\nimport ..v2\nimport k8s.meta as m\n"),
        ("/k8s/api/v2/x.k", ""),
        ("/k8s/meta/m.k", ""),
        ("/w/both/b.k", ""),
        ("/both/b.k", ""),
        ("/vendor/vend/kcl.mod", ""),
        ("/vendor/vend/sub/s.k", ""),
        ("/vendor/bad/s.k", ""),
    ]);
    let path = |name: &str| (name.to_owned(), PathBuf::from(format!("/{name}")));
    let options = LoadOptions {
        packages: [path("k8s"), path("both")].into_iter().collect(),
        vendors: vec!["/vendor".into()],
        plugins: None,
    };
    let (program, found) = load_with(&system, &["main.k"], &options);
    assert_eq!(
        packages(&program),
        [
            "__main__: /w/main.k",
            "k8s.api.v1: /k8s/api/v1/pod.k",
            "vend.sub: /vendor/vend/sub/s.k",
            "k8s.meta: /k8s/meta/m.k",
            "k8s.api.v2: /k8s/api/v2/x.k",
        ]
    );
    assert_eq!(
        messages(&program, &found),
        [
            "/w/main.k:2: the `both` is found multiple times in the current package and vendor package",
            "/w/main.k:4: pkgpath bad not found in the program",
            "/w/main.k:2: Failed to import the module both from /w/both. No KCL files found in the \
         specified folder",
            "/w/main.k:4: Cannot find the module bad from /w/bad",
        ]
    );
    assert_eq!(
        found[0].labels[0].note.as_deref(),
        Some("current package: /w (/w/both/b.k)\nvendor package: /both (/both/b.k)")
    );
}

#[test]
fn text_instead_of_a_file() {
    let system = files(&[("/w/lib/a.k", "")]);
    let input = Input::text("stdin.k", "import lib\n");
    let options = LoadOptions::default();
    let entries = resolve_entries(&system, &[input], Path::new("/w"), &options.packages).unwrap();
    let program = load(&system, &entries, &options).unwrap().value;
    assert_eq!(packages(&program), ["__main__: /w/stdin.k", "lib: /w/lib/a.k"]);
}
