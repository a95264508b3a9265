//! Measures the tool side by side with others and writes what it found into a report.
//!
//! Workloads come from generators (`generate`) and, where present, from `../shared/bench`. All
//! tools run in turn, each in a process of its own (`measure`); the least of several rounds
//! counts. Start reading at `suite.rs`; `monorepo.rs` compares many stacks in one process.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

mod compare;
mod generate;
mod import;
mod measure;
mod monorepo;
mod report;
mod suite;
mod tool;
mod workload;

use anyhow::{Context as _, bail};
use report::Report;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};
use suite::Effort;
use tool::Tools;

const USAGE: &str = "\
usage: kcl-bench [options]                  measure, and write bench/RESULTS.md
       kcl-bench generate KIND N FOLDER     make one workload

  --only PREFIX,…    only workloads whose names start so (repo: the monorepo)
  --rounds N         at least so many rounds (3)
  --budget SECONDS   more rounds until so much time has passed (2)
  --no-counts        do not count instructions with callgrind
  --founding         also the repository of 5,700 projects (minutes, and gigabytes of disk)
  --projects N       the size of the monorepo (1000)
  --kcl FILE         the tool, if not the one beside this program
  --work FOLDER      where workloads are made (bench-work in the system's temporary folder)
  --out FILE         the report (bench/RESULTS.md)";

struct Options {
    only: Vec<String>,
    effort: Effort,
    founding: bool,
    n_projects: usize,
    kcl: Option<PathBuf>,
    work: PathBuf,
    out: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some(measure::COMMAND) => measure::stand_between(&words[1..]),
        Some("generate") => {
            let [kind, n, folder] = &words[1..] else { bail!(USAGE) };
            generate::generate(kind, n.parse().context(USAGE)?, Path::new(folder))
        }
        _ => run(&read_options(words)?),
    }
}

fn read_options(words: Vec<String>) -> anyhow::Result<Options> {
    let mut options = Options {
        only: Vec::new(),
        effort: Effort {
            rounds: 3,
            budget: Duration::from_secs(2),
            limit: Duration::from_mins(5),
            count_limit: Duration::from_mins(2),
        },
        founding: false,
        n_projects: 1000,
        kcl: None,
        work: env::temp_dir().join("bench-work"),
        out: "bench/RESULTS.md".into(),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().context(USAGE);
        match word.as_str() {
            "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
            "--rounds" => options.effort.rounds = value()?.parse()?,
            "--budget" => options.effort.budget = Duration::from_secs_f64(value()?.parse()?),
            "--no-counts" => options.effort.count_limit = Duration::ZERO,
            "--founding" => options.founding = true,
            "--projects" => options.n_projects = value()?.parse()?,
            "--kcl" => options.kcl = Some(value()?.into()),
            "--work" => options.work = value()?.into(),
            "--out" => options.out = value()?.into(),
            _ => bail!(USAGE),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> anyhow::Result<()> {
    fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    let tools = Tools::find(options.kcl.clone(), &work)?;
    let wanted = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|prefix| name.starts_with(&**prefix))
    };
    let mut report = Report::default();
    let mut workloads = Vec::new();
    if let Some(made) = env::var_os("KCL_BENCH_WORK") {
        workloads = workload::shared(&Path::new(&made).join("wl"), wanted);
    }
    report.n_shared = workloads.len();
    workloads.extend(workload::own(&work.join("own"), wanted)?);
    for workload in &workloads {
        let row = suite::run(workload, &tools, options.effort, &work)?;
        println!("{}", report::line(&row));
        report.rows.push(row);
    }
    for workload in &workloads {
        if workload.kind.ends_with("import") && workload.n >= 1000 {
            report.imports.extend(import::run(workload, &tools, options.effort, &work)?);
        }
    }
    if wanted("repo") {
        let repo = work.join(format!("repo_{}", options.n_projects));
        report.monorepo = Some(monorepo::run(&repo, options.n_projects, &tools, options.effort)?);
    }
    if options.founding {
        let folder = work.join("founding");
        let founding = monorepo::run_founding(&folder, &tools);
        fs::remove_dir_all(&folder)?;
        report.founding = Some(founding?);
    }
    let text = report.to_markdown(&tool::describe_machine());
    println!("\n{text}");
    if options.only.is_empty() {
        fs::write(&options.out, text)?;
    } else {
        eprintln!("not written: a part of the workloads only");
    }
    Ok(())
}
