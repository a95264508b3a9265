//! What functions may ask of the evaluator.

use base_system::System;
use kcl_value::output::Stream;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::path::Path;

/// The fault of a function whose result would be larger than [`Host::room`].
#[cold]
pub fn too_much_memory() -> Box<Fault> {
    Fault::new("the program was stopped: it takes too much memory")
}

/// The evaluator, as built-in functions see it.
pub trait Host {
    /// Files, environment and clock.
    fn system(&self) -> &dyn System;
    /// Checks whether the code being evaluated may use files and the environment.
    ///
    /// # Errors
    ///
    /// If it may not; the message names the function.
    fn check_io(&self, function: &str) -> Result<()>;
    /// The folder of `kcl.mod`, which `file.modpath()` shows; empty if there is none.
    fn module_root(&self) -> &Path;
    /// The working folder that was asked for, which `file.workdir()` shows; may be empty.
    fn work_dir(&self) -> &Path;
    /// The path of the file being evaluated, absolute unless the file is in memory only.
    ///
    /// Paths that `file` functions get are relative to its folder and must stay in it.
    fn current_file(&self) -> &str;
    /// The value of a top-level argument (`-D key=value`), already parsed.
    fn option(&self, key: &str) -> Option<Value>;
    /// Adds text to what the program printed.
    ///
    /// # Errors
    ///
    /// If the program prints more than it may.
    fn print(&mut self, text: &str) -> Result<()>;
    /// How many bytes one more value may take. What makes a value that is larger than its
    /// arguments checks this before it does so.
    fn room(&self) -> usize;
    /// Replaces the program's output by a stream of documents; the last call wins.
    fn set_stream(&mut self, stream: Stream);
    /// Calls a function value.
    fn call(&mut self, func: &Value, args: CallArgs) -> Result<Value>;
    /// The declared type of a function's parameter as text, if it has one.
    ///
    /// `None` as well if there is no such parameter.
    fn param_type(&self, func: &Value, index: usize) -> Option<String>;
    /// The union of two values, as `left | right` gives it.
    fn union(&mut self, left: &Value, right: &Value) -> Result<Value>;
    /// Whether numbers have 32 bits (`-r`).
    fn strict_range(&self) -> bool;
    /// Whether debug mode is on (`-d`).
    fn debug(&self) -> bool;
}
