//! The programs that are compared.

use crate::measure::{Cost, Run};
use crate::suite::MOST_ROUNDS;
use anyhow::Context as _;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the programs are.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    /// Ours.
    pub(crate) ours: PathBuf,
    /// The reference.
    pub(crate) reference: Option<PathBuf>,
    /// What the reference costs before it begins: that of Python, if it is called from there.
    pub(crate) reference_start: Option<Cost>,
    /// Jrsonnet.
    pub(crate) jrsonnet: Option<PathBuf>,
    /// The program that only reads a file.
    pub(crate) reader: PathBuf,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Ours.
    Ours,
    /// The reference.
    Reference,
    /// Jrsonnet.
    Jrsonnet,
    /// The program that only reads a file.
    Reader,
}

impl Tool {
    /// The name in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ours => "kcl",
            Self::Reference => "reference",
            Self::Jrsonnet => "jrsonnet",
            Self::Reader => "reads only",
        }
    }
}

impl Tools {
    /// Finds the programs: ours beside this one, those of others in the folder that
    /// `../shared/bench/setup.sh` made (`KCL_BENCH_WORK`), or made by `bench/run`.
    ///
    /// # Errors
    ///
    /// If our own programs are not built.
    pub(crate) fn find(ours: Option<PathBuf>, cache: &Path) -> anyhow::Result<Self> {
        let folder = env::current_exe()?.parent().context("no folder")?.to_path_buf();
        let made = env::var_os("KCL_BENCH_WORK").map(PathBuf::from);
        let existing = |path: PathBuf| path.is_file().then_some(path);
        let find = |path: &str| {
            let shared = made.as_ref().and_then(|made| existing(made.join(path)));
            shared.or_else(|| existing(cache.join(path)))
        };
        let reference = find("kclref").filter(|_| env::var_os("KCL_LIB_SO").is_some());
        let (reference, reference_start) = match reference {
            Some(native) => (Some(native), None),
            None => match existing(cache.join("reference")) {
                Some(script) => (Some(script.clone()), start_cost(&script)),
                None => (None, None),
            },
        };
        Ok(Self {
            ours: match ours {
                Some(path) => path.canonicalize()?,
                None => folder.join("kcl").canonicalize().context("build kcl-cli first")?,
            },
            reference,
            reference_start,
            jrsonnet: find("peers/bin/jrsonnet"),
            reader: folder.join("read-file"),
        })
    }

    /// The command that runs files of a workload.
    pub(crate) fn words(&self, tool: Tool, files: &[String]) -> Option<Vec<String>> {
        let (program, options): (&Path, &[&str]) = match tool {
            Tool::Ours => (&self.ours, &["run"]),
            Tool::Reference => (self.reference.as_deref()?, &["run"]),
            Tool::Jrsonnet => (self.jrsonnet.as_deref()?, &["--max-stack", "100000"]),
            Tool::Reader => (&self.reader, &[]),
        };
        let mut words = vec![program.display().to_string()];
        words.extend(options.iter().map(|&word| word.to_owned()));
        words.extend_from_slice(files);
        Some(words)
    }
}

/// What a program costs that is given nothing to do. It runs as often as with a workload: the
/// least of few runs would be too much, and taken from the least of many.
fn start_cost(program: &Path) -> Option<Cost> {
    let words = vec![program.display().to_string()];
    let run = Run { words, folder: env::temp_dir(), warm: false };
    let costs = (0..MOST_ROUNDS).filter_map(|_| run.measure(Duration::from_mins(1), None).ok());
    costs.min_by(|a, b| a.cpu.total_cmp(&b.cpu))
}

/// What kind of machine this is, in general words.
pub(crate) fn describe_machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let read = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let kind = read("uname", &["-sm"]).unwrap_or_default();
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kilobytes: u64 = text.lines().next()?.split_whitespace().nth(1)?.parse().ok()?;
        Some(format!(", {} GB of memory", kilobytes.div_ceil(1 << 20)))
    });
    format!("{kind}, {cores} cores{}", memory.unwrap_or_default())
}
