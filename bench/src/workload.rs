//! The workloads: our own, and those of `../shared/bench`.

use crate::generate::generate;
use crate::measure::Run;
use crate::tool::{Tool, Tools};
use std::path::{Path, PathBuf};

/// One workload of one size.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// The kind, such as `inst`.
    pub(crate) kind: String,
    /// The size; 0 if there is only one.
    pub(crate) n: usize,
    /// The folder with `kcl` and `jsonnet`.
    pub(crate) folder: PathBuf,
    /// The sources, seen from `place`.
    pub(crate) files: Vec<String>,
    /// Where KCL runs, below `kcl`.
    pub(crate) place: &'static str,
}

/// A kind with its sizes.
type Family = (&'static str, &'static [usize]);

const OWN: &[Family] = &[
    ("tiny", &[0]),
    ("app", &[0]),
    ("list", &[100, 316, 1_000]),
    ("dict", &[100, 316, 1_000]),
    ("vars", &[100, 1_000, 10_000]),
    ("fib", &[15, 20, 25]),
    ("comp", &[100, 1_000, 10_000]),
    ("str", &[1_000, 10_000, 100_000]),
    ("pub", &[1_000, 10_000, 100_000]),
    ("inst", &[1_000, 10_000]),
    ("static", &[100, 1_000, 10_000]),
    ("union", &[1_000, 10_000]),
    ("overlay", &[100, 1_000]),
    ("nest", &[10, 20, 100]),
    ("import", &[100, 1_000, 10_000]),
];

const SHARED: &[Family] = &[
    ("a_tiny", &[0]),
    ("b_oneapp", &[0]),
    ("d_list", &[100, 316, 1_000]),
    ("d_dict", &[100, 316, 1_000]),
    ("d_vars", &[100, 1_000, 10_000]),
    ("e_fib", &[15, 20, 25]),
    ("e_comp", &[100, 1_000, 10_000]),
    ("e_str", &[1_000, 10_000, 100_000]),
    ("e_pub", &[1_000, 10_000, 100_000]),
    ("f_inst", &[1_000, 10_000, 100_000]),
    ("f_static", &[100, 1_000, 10_000]),
    ("f_union", &[1_000, 10_000, 100_000]),
    ("f_overlay", &[100, 1_000]),
    ("f_nest", &[10, 20, 100]),
    ("g_import", &[100, 1_000, 10_000]),
];

/// Makes our own workloads in a folder, unless they are there.
///
/// # Errors
///
/// If files can't be written.
pub(crate) fn own(folder: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<Workload>> {
    let workloads = family(OWN, folder, wanted);
    for workload in &workloads {
        if !workload.folder.is_dir() {
            generate(&workload.kind, workload.n, &workload.folder)?;
        }
    }
    Ok(workloads)
}

/// The workloads that `../shared/bench/setup.sh` made, as far as they are there.
pub(crate) fn shared(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Workload> {
    let mut workloads = family(SHARED, folder, wanted);
    workloads.retain(|workload| workload.folder.is_dir());
    workloads
}

fn family(kinds: &[Family], folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for &(kind, sizes) in kinds {
        for &n in sizes {
            let name = if n == 0 { kind.to_owned() } else { format!("{kind}_{n}") };
            if !wanted(&name) {
                continue;
            }
            let is_app = matches!(kind, "app" | "b_oneapp");
            let files: &[&str] = if is_app { &["../base/base.k", "main.k"] } else { &["main.k"] };
            workloads.push(Workload {
                kind: kind.to_owned(),
                n,
                folder: folder.join(name),
                files: files.iter().map(|&file| file.to_owned()).collect(),
                place: if is_app { "prod" } else { "" },
            });
        }
    }
    workloads
}

impl Workload {
    /// The name in tables.
    pub(crate) fn name(&self) -> String {
        if self.n == 0 { self.kind.clone() } else { format!("{} {}", self.kind, self.n) }
    }

    /// How a tool runs it; `None` if that tool can't.
    pub(crate) fn run(&self, tools: &Tools, tool: Tool) -> Option<Run> {
        let (files, folder) = match tool {
            Tool::Jrsonnet => {
                let folder = self.folder.join("jsonnet");
                if !folder.join("main.jsonnet").is_file() {
                    return None;
                }
                (vec!["main.jsonnet".to_owned()], folder)
            }
            Tool::Reader => (
                self.files[self.files.len() - 1..].to_vec(),
                self.folder.join("kcl").join(self.place),
            ),
            Tool::Ours | Tool::Reference => {
                (self.files.clone(), self.folder.join("kcl").join(self.place))
            }
        };
        Some(Run { words: tools.words(tool, &files)?, folder, warm: false })
    }
}
