//! The same files give the same bytes.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use crate::support::leaves;
use base_system::{MemorySystem, System, View};
use kusion_generate::{CompileOptions, compile, spec_json, spec_yaml};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use testkit::Rng;

/// A system that lists folders in another order each time.
struct Shuffled {
    inner: MemorySystem,
    rng: Mutex<Rng>,
}

impl View for Shuffled {
    type Behind = MemorySystem;

    fn behind(&self) -> &MemorySystem {
        &self.inner
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut entries = self.inner.read_dir(path)?;
        let mut rng = self.rng.lock().expect("no thread panics");
        for at in (1..entries.len()).rev() {
            entries.swap(at, rng.below(at + 1));
        }
        Ok(entries)
    }
}

/// All files of `konfig/`, a project with definitions, and a stack of several files.
fn files() -> MemorySystem {
    fn add(system: MemorySystem, folder: &Path, to: &Path) -> MemorySystem {
        let entries = std::fs::read_dir(folder).expect("the folder is there").flatten();
        entries.fold(system, |system, entry| {
            let (path, to) = (entry.path(), to.join(entry.file_name()));
            if path.is_dir() {
                add(system, &path, &to)
            } else {
                let text = std::fs::read_to_string(&path).expect("the file is text");
                system.with_file(to, text)
            }
        })
    }
    let mut system =
        add(MemorySystem::new(), &testkit::repository().join("konfig"), Path::new("/konfig"));
    for number in 0..5 {
        let (name, folder) = (format!("a{number}"), "/konfig/appops/many");
        system = system
            .with_file(
                format!("{folder}/crd/{name}.yaml"),
                format!(
                    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                     metadata: {{name: {name}.example.com}}\n"
                ),
            )
            .with_file(
                format!("{folder}/dev/{name}.k"),
                format!(
                    "{name} = {{apiVersion = \"v1\", kind = \"Secret\", metadata = {{name = \
                     \"{name}\"}}}}\n"
                ),
            );
    }
    system
        .with_file("/konfig/appops/many/project.yaml", "name: many\n")
        .with_file("/konfig/appops/many/dev/stack.yaml", "name: dev\n")
}

#[test]
fn fifty_runs_with_shuffled_folders_give_the_same_bytes() {
    let mut first: Option<String> = None;
    for seed in 0..50 {
        let system = Shuffled { inner: files(), rng: Mutex::new(Rng::new(7, seed)) };
        let options = CompileOptions {
            work_dir: Some("/konfig".into()),
            threads: 1 + seed as usize % 3,
            ..CompileOptions::default()
        };
        let mut text = String::new();
        for stack in compile(&system, &options).expect("all stacks compile") {
            text.push_str(&stack.stack.folder.to_string_lossy());
            text.push_str(&spec_yaml(&stack.spec));
            text.push_str(&spec_json(&stack.spec));
            write!(text, "{:?}{:?}", stack.warnings, stack.notes).expect("a string takes all");
            for resource in &stack.spec.resources {
                for path in leaves(resource) {
                    let origin = stack.origins.find(&resource.id, &path);
                    write!(text, "{origin:?}").expect("a string takes all");
                }
            }
        }
        assert!(text.len() > 10_000);
        match &first {
            Some(first) => assert!(*first == text, "run {seed} differs"),
            None => first = Some(text),
        }
    }
}
