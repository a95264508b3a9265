//! The commands of `kcl mod`.

use super::World;
use super::registry::{PASSWORD, Registry};

/// Puts a package with dependencies into the registry.
fn put(world: &World, name: &str, version: &str, dependencies: &str) {
    let folder = format!("made/{name}");
    let text = format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\n[dependencies]\n{dependencies}"
    );
    world.write(&format!("{folder}/kcl.mod"), &text);
    world.write(&format!("{folder}/x.k"), &format!("version = \"{version}\"\n"));
    let Registry { host, .. } = &world.registry;
    world.well(&folder, &format!("mod push oci://{host}/kcl-lang/{name}"));
}

/// Runs the commands of `docs/packages.md`, with the registry of the test in the place of the public
/// one; digests are only compared as far as they are shown.
#[test]
fn the_manual_shows_what_is_printed() {
    let world = World::new();
    put(&world, "k8s", "1.31", "");
    world.write("manual/token", PASSWORD);
    let page = std::fs::read_to_string(testkit::repository().join("docs/packages.md")).unwrap();
    let mut n_commands = 0;
    for (block, start) in page.split("```console\n").skip(1).zip(["manual", "lib"]) {
        let mut folder = start.to_owned();
        let block = block.split("```").next().unwrap_or_default();
        for command in block.split("$ ").skip(1) {
            let (line, expected) = command.split_once('\n').unwrap();
            if let Some(inner) = line.strip_prefix("cd ") {
                folder = format!("{folder}/{inner}");
                continue;
            }
            let line = line.trim_start_matches("kcl ").replace("ghcr.io", &world.registry.host);
            let (line, input) = line.split_once(" < ").unwrap_or((&line, ""));
            let mut command = world.command(&folder, line);
            if !input.is_empty() {
                let file = std::fs::File::open(world.path("manual").join(input)).unwrap();
                command.stdin(file);
            }
            let ended = world.end(command);
            let printed = format!("{}{}", ended.stderr, ended.stdout);
            let printed = printed.replace("${HOST}", "ghcr.io").replace("${DIR}", "/home/me");
            assert_eq!(ended.code, 0, "{line}: {printed}");
            let (expected, is_cut) = match expected.split_once('…') {
                Some((head, _)) => (head, true),
                None => (expected, false),
            };
            let fits = if is_cut { printed.starts_with(expected) } else { printed == expected };
            assert!(fits, "{line}:\n{printed}");
            n_commands += 1;
        }
    }
    assert_eq!(n_commands, 5);
}

#[test]
fn init_makes_a_module_that_runs() {
    let world = World::new();
    assert_eq!(world.well("", "mod init web-app"), "created the module `web-app`\n");
    assert!(world.read("web-app/kcl.mod").contains("name = \"web-app\""));
    assert_eq!(world.well("web-app", "run"), "The_first_kcl_program: Hello World!\n");
    assert!(world.fails("web-app", "mod init").contains("kcl.mod` already exists"));
    assert!(world.fails("", "mod init ../x").contains("invalid name `../x`"));
    assert!(world.fails("", "mod tree").contains("run `kcl mod init`"));
}

#[test]
fn tree_graph_and_metadata_show_one_version_of_each() {
    let world = World::new();
    put(&world, "base", "1.0.0", "");
    put(&world, "base", "1.2.0", "");
    put(&world, "web", "0.3.0", "base = \"1.2.0\"\n");
    world.write(
        "app/kcl.mod",
        "[package]\nname = \"app\"\nversion = \"0.0.1\"\n[dependencies]\nbase = \"1.0.0\"\nweb = \
         \"0.3.0\"\nlib = { path = \"../lib\" }\n",
    );
    assert_eq!(
        world.well("app", "mod tree -q"),
        "app 0.0.1\n├── base 1.2.0\n├── web 0.3.0\n│   └── base 1.2.0\n└── lib 0.1.0\n"
    );
    assert_eq!(
        world.well("app", "mod graph -q"),
        "app@0.0.1 base@1.2.0\napp@0.0.1 web@0.3.0\napp@0.0.1 lib@0.1.0\nweb@0.3.0 base@1.2.0\n"
    );
    let text = world.well("app", "mod metadata -q");
    assert!(text.starts_with("{\"packages\":{\"base\":{"), "{text}");
    assert!(text.contains("\"manifest_path\":\"${DIR}/lib\",\"name\":\"lib\""), "{text}");
    put(&world, "web", "0.4.0", "base = \"2.0.0\"\n");
    let message = world.fails("app", "mod update web:0.4.0");
    assert!(
        message.contains(
            "no version of `base` serves all modules:\n  app        asks for 1.0.0\n  web 0.4.0  \
             asks for 2.0.0\n"
        ),
        "{message}"
    );
    assert!(world.read("app/kcl.mod").contains("web = \"0.3.0\""));
}

#[test]
fn ranges_follow_new_versions_on_update_only() {
    let world = World::new();
    put(&world, "base", "1.0.0", "");
    put(&world, "base", "1.2.0", "");
    world.write("app/kcl.mod", "[dependencies]\nbase = \">=1, <2\"\n");
    world.write("app/main.k", "import base\n\na = base.version\n");
    assert_eq!(world.well("app", "run"), "a: '1.2.0'\n");
    put(&world, "base", "1.3.0", "");
    put(&world, "base", "2.0.0", "");
    assert_eq!(world.well("app", "run"), "a: '1.2.0'\n");
    assert_eq!(world.well("app", "mod update"), "base: 1.2.0 -> 1.3.0\n");
    assert_eq!(world.well("app", "run"), "a: '1.3.0'\n");
    assert_eq!(world.well("app", "mod update"), "kcl.mod.lock is up to date\n");
    assert_eq!(world.well("app", "mod update base:2.0.0"), "base: 1.3.0 -> 2.0.0\n");
    assert!(world.read("app/kcl.mod").contains("base = \"2.0.0\""));
    assert_eq!(world.well("app", "mod add base"), "added base 2.0.0\n");
}

#[test]
fn vendored_packages_are_used_and_checked() {
    let world = World::with_lib();
    let text = world.well("app", "mod vendor");
    assert_eq!(text, "copied 1 package to ${DIR}/app/vendor\n");
    world.forget_downloads();
    assert_eq!(world.well("app", "run --offline"), "a: hello\n");
    world.write("app/vendor/lib_0.1.0/lib.k", "greeting = \"evil\"\n");
    let message = world.fails("app", "run --offline");
    assert!(message.contains("run `kcl mod vendor` to restore it"), "{message}");
    world.well("app", "mod vendor");
    assert_eq!(world.well("app", "run --offline"), "a: hello\n");
}

#[test]
fn add_and_remove_folders() {
    let world = World::new();
    assert_eq!(world.well("app", "mod add ../lib"), "added lib 0.1.0\n");
    assert!(world.read("app/kcl.mod").contains("lib = { path = \"../lib\" }\n"));
    assert_eq!(world.well("app", "run"), "a: hello\n");
    assert!(world.fails("app", "mod add .").contains("a module cannot depend on itself"));
    assert_eq!(world.well("app", "mod remove lib"), "removed lib\n");
    assert!(!world.read("app/kcl.mod").contains("lib"));
    assert!(world.fails("app", "mod remove lib").contains("kcl.mod has no dependency `lib`"));
    assert!(world.fails("app", "run").contains("E2F04"));
}

#[test]
fn pkg_pull_and_push_of_an_archive() {
    let world = World::new();
    world.write(
        "lib/kcl.mod",
        "[package]\nname = \"lib\"\nversion = \"0.2.0\"\nexclude = [\"data/*\"]\n",
    );
    assert_eq!(world.well("lib", "mod pkg --target ../out"), "packed ${DIR}/out/lib_0.2.0.tar\n");
    let url = format!("oci://{}/team/lib", world.registry.host);
    let text = world.well("lib", &format!("mod push {url} --tar_path ../out/lib_0.2.0.tar"));
    assert!(text.starts_with("pushed oci://${HOST}/team/lib:0.2.0\ndigest sha256:"), "{text}");
    let again = world.well("lib", &format!("mod push {url}"));
    assert_eq!(again, text);
    let text = world.well("app", &format!("mod pull {url} --tag 0.2.0"));
    assert!(text.starts_with("pulled lib 0.2.0 to ${DIR}/app/lib_0.2.0\nsum "), "{text}");
    assert_eq!(world.read("app/lib_0.2.0/lib.k"), "greeting = \"hello\"\n");
    assert!(!world.path("app/lib_0.2.0/data").exists());
    assert!(world.fails("app", &format!("mod pull {url}")).contains("already exists"));
    let sum = text.lines().last().unwrap_or_default().trim_start_matches("sum ").to_owned();
    let manifests = &world.registry.state.lock().unwrap().manifests;
    let manifest = String::from_utf8_lossy(manifests.values().next().unwrap()).into_owned();
    assert!(manifest.contains(&format!("\"org.kcllang.package.sum\":\"{sum}\"")), "{manifest}");
    assert!(
        manifest.contains("\"org.opencontainers.image.title\":\"lib_0.2.0.tar\""),
        "{manifest}"
    );
}

#[test]
fn a_missing_dependency_says_how_it_is_downloaded() {
    let world = World::new();
    world.push();
    world.write("app/kcl.mod", "[dependencies]\nlib = \"0.1.0\"\n");
    world.write("list", &format!("{}\tmain.k\n", world.path("app").display()));
    // A batch downloads nothing.
    let message = world.fails("", "batch list");
    assert!(
        message.contains("'lib' is in kcl.mod, but was not downloaded: run 'kcl mod pull'"),
        "{message}"
    );
    assert_eq!(world.well("app", "mod pull -q"), "");
    world.well("", "batch list -o out");
    assert_eq!(world.read("out/app.yaml"), "a: hello\n");
}
