//! The programs that are compared.

use anyhow::Context as _;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Ours.
    pub ours: PathBuf,
    /// The reference without Python, with the library it loads.
    pub reference: Option<PathBuf>,
    /// Jrsonnet.
    pub jrsonnet: Option<PathBuf>,
    /// The program that only reads a file.
    pub reader: PathBuf,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
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
    pub const fn name(self) -> &'static str {
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
    pub fn find(ours: Option<PathBuf>, cache: &Path) -> anyhow::Result<Self> {
        let folder = env::current_exe()?.parent().context("no folder")?.to_path_buf();
        let made = env::var_os("KCL_BENCH_WORK").map(PathBuf::from);
        let existing = |path: PathBuf| path.is_file().then_some(path);
        let find = |path: &str| {
            let shared = made.as_ref().and_then(|made| existing(made.join(path)));
            shared.or_else(|| existing(cache.join(path)))
        };
        let reference = find("kclref").filter(|_| env::var_os("KCL_LIB_SO").is_some());
        Ok(Self {
            ours: match ours {
                Some(path) => path.canonicalize()?,
                None => folder.join("kcl").canonicalize().context("build kcl-cli first")?,
            },
            reference: reference.or_else(|| existing(cache.join("reference"))),
            jrsonnet: find("peers/bin/jrsonnet"),
            reader: folder.join("read-file"),
        })
    }

    /// The command that runs files of a workload.
    pub fn words(&self, tool: Tool, files: &[String]) -> Option<Vec<String>> {
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

/// What kind of machine this is, in general words.
pub fn describe_machine() -> String {
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
