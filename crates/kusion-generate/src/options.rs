//! Options of the compilation.

use kcl_driver::Confinement;
use std::path::PathBuf;

/// Options of the compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// The folder that relative paths start from and that files are shown relative to; the
    /// working folder of the system if not given.
    pub work_dir: Option<PathBuf>,
    /// The folders: of a stack, of a project (all of its stacks), or any other (all stacks
    /// below). Without any, the working folder.
    pub folders: Vec<PathBuf>,
    /// Settings files, relative to the folder of each stack. Without any, `kcl.yaml` of the
    /// stack is taken.
    pub settings: Vec<PathBuf>,
    /// Top-level arguments, `key=value`.
    pub arguments: Vec<String>,
    /// Overrides of values in the program, `path=value`.
    pub overrides: Vec<String>,
    /// Names of arguments and environment variables whose values are secret.
    pub secret_inputs: Vec<String>,
    /// A selector: only these cells of stacks with cells are compiled.
    pub cells: Option<String>,
    /// What programs may use.
    pub confinement: Confinement,
    /// Number of threads; 0 means one per core.
    pub threads: usize,
}
