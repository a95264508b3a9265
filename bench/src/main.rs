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
mod order;
mod probes;
mod report;
mod suite;
mod tool;
mod verdict;
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
       kcl-bench order KCL WORK OUT         list the functions that short runs call (bench/order)

  --only PREFIX,…    only workloads whose names start so (repo: the monorepo; probes)
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
        Some("order") => {
            let [kcl, work, out] = &words[1..] else { bail!(USAGE) };
            fs::create_dir_all(work)?;
            let work = Path::new(work).canonicalize()?;
            order::run(&Tools::find(Some(kcl.into()), &work)?, &work, Path::new(out))
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
            count_limit: Duration::from_mins(1),
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

/// What was measured, if it could be; if not, the report says why.
fn or_note<T>(result: anyhow::Result<T>, what: &str, notes: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| notes.push(format!("Not measured: {what}: {error:#}"))).ok()
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
    let shared = env::var_os("KCL_BENCH_WORK").map(|made| Path::new(&made).join("wl"));
    if let Some(made) = &shared {
        workloads = workload::shared(made, wanted);
    }
    report.n_shared = workloads.len();
    workloads.extend(workload::own(&work.join("own"), wanted)?);
    for workload in &workloads {
        // What stands in both sets is measured at length once.
        let is_own = report.rows.len() >= report.n_shared && report.n_shared > 0;
        let effort = Effort { budget: options.effort.budget / 4, ..options.effort };
        let effort = if is_own { effort } else { options.effort };
        let row = suite::run(workload, &tools, effort, &work)?;
        println!("{}", report::line(&row));
        report.rows.push(row);
    }
    for row in &report.rows {
        if row.workload.kind.ends_with("import") && row.workload.n >= 1000 {
            let reference = row.cost(tool::Tool::Reference);
            let import = import::run(&row.workload, &tools, options.effort, &work, reference);
            report.imports.extend(or_note(import, "imports", &mut report.notes).flatten());
        }
    }
    if wanted("repo") {
        println!("many stacks in one process …");
        let repo = work.join(format!("repo_{}", options.n_projects));
        let monorepo = monorepo::run(&repo, options.n_projects, &tools, options.effort);
        report.monorepo = or_note(monorepo, "the monorepo", &mut report.notes);
        if let (Some(monorepo), Some(made)) = (&mut report.monorepo, &shared) {
            let folder = made.join("c_mono_1000");
            let rows = monorepo::run_shared(&folder, &tools, options.effort);
            monorepo.shared = or_note(rows, "c_mono", &mut report.notes).unwrap_or_default();
        }
    }
    if options.founding {
        println!("the large repository …");
        let folder = work.join("founding");
        let founding = monorepo::run_founding(&folder, &tools);
        report.founding = or_note(founding, "the large repository", &mut report.notes);
        fs::remove_dir_all(&folder)?;
    }
    if !options.effort.count_limit.is_zero() {
        println!("counting instructions …");
        suite::count_instructions(&mut report.rows, &tools, options.effort.count_limit);
    }
    if wanted("probes") {
        report.probes = probes::run(&tools);
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
