//! Imports in memory, compiled and run.

use base_system::MemorySystem;
use kcl_driver::{RunOptions, run};
use kcl_import::{Imported, Mode, Options, import};

/// Imports one file.
pub(crate) fn imported(name: &str, text: &str, mode: Mode) -> Imported {
    let options = Options { mode, ..Options::default() };
    let inputs = [(name.to_owned(), text.to_owned())];
    import(&inputs, &options).expect("the input can be imported")
}

/// Imports one file, and runs a program beside it: its output, or its first message.
pub(crate) fn ran(name: &str, text: &str, program: &str) -> String {
    let imported = imported(name, text, Mode::Auto);
    let mut system =
        MemorySystem::new().with_file("/m/kcl.mod", "").with_file("/m/main.k", program);
    for file in &imported.files {
        system = system.with_file(format!("/m/{}", file.path), file.text.as_str());
    }
    match run(&system, &RunOptions::files(["/m/main.k"])) {
        Ok(output) => output.result,
        Err(error) => {
            let found = error.diagnostics.iter().flat_map(|it| &it.labels).next_back();
            format!("error: {}", found.map_or("", |label| label.message.as_str()))
        }
    }
}
