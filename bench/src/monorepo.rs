//! Many stacks in one process: ours and the reference, stack by stack.

use crate::generate::repo::{Repo, Shape, Written};
use crate::measure::{Cost, Run};
use crate::suite::{Effort, interleave};
use crate::tool::Tools;
use anyhow::{Context as _, bail};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_hours(1);

/// What a repository costs.
#[derive(Clone, Debug)]
pub(crate) struct Monorepo {
    /// How large it is.
    pub(crate) written: Written,
    /// The rows of the table: what was measured, and what it took.
    pub(crate) rows: Vec<(String, Cost)>,
    /// The same of the repository of `../shared/bench`.
    pub(crate) shared: Vec<(String, Cost)>,
    /// How many results were compared with those of single runs.
    pub(crate) n_compared: usize,
    /// How many of them were the same.
    pub(crate) n_same: usize,
}

/// What the repository of the founding documents' size costs.
#[derive(Clone, Debug)]
pub(crate) struct Founding {
    /// How large it is.
    pub(crate) written: Written,
    /// How many projects.
    pub(crate) n_projects: usize,
    /// The lines of YAML on disk.
    pub(crate) n_yaml_lines: usize,
    /// The bytes of YAML on disk.
    pub(crate) n_yaml_bytes: u64,
    /// The full compile.
    pub(crate) full: Cost,
    /// After a change of one stack.
    pub(crate) one: Cost,
    /// When nothing has changed.
    pub(crate) none: Cost,
}

/// Compares the full compile of a repository, and measures the compile after a change.
///
/// # Errors
///
/// If the repository can't be made or a tool fails.
pub(crate) fn run(
    folder: &Path,
    n_projects: usize,
    tools: &Tools,
    effort: Effort,
) -> anyhow::Result<Monorepo> {
    let written = Repo { n_projects, shape: Shape::SMALL }.write(folder)?;
    let out = folder.with_extension("out");
    let list = folder.join("stacks.list").display().to_string();
    let mut rows = Vec::new();
    for threads in ["1", "2"] {
        let ours = tools.ours.display().to_string();
        let full =
            command(&[&ours, "batch", &list, threads, "--full", "--out", &show(&out)], folder);
        let check = command(&[&ours, "batch", &list, threads], folder);
        let mut runs = vec![
            (format!("kcl, {threads} threads, written to disk"), full),
            (format!("kcl, {threads} threads, not written"), check),
        ];
        // The reference is so slow that one count of threads must do.
        if let (Some(reference), "2") = (&tools.reference, threads) {
            let run = command(&[&show(reference), "batch", &list, threads], folder);
            runs.push((format!("reference, {threads} threads, not written"), run));
        }
        let effort = Effort { limit: LIMIT, rounds: effort.rounds.min(3), ..effort };
        let costs =
            interleave(&runs.iter().map(|(_, run)| (run, None)).collect::<Vec<_>>(), effort);
        for ((name, _), cost) in runs.into_iter().zip(costs) {
            rows.push((name.clone(), cost.map_err(anyhow::Error::msg).context(name)?));
        }
    }
    let (one, none) = after_changes(folder, &out, tools, effort.rounds.max(5))?;
    rows.push(("kcl, 2 threads, one `main.k` changed".to_owned(), one));
    rows.push(("kcl, 2 threads, nothing changed".to_owned(), none));
    let (n_compared, n_same) = compare(folder, &out, tools, &list)?;
    fs::remove_dir_all(&out)?;
    Ok(Monorepo { written, rows, shared: Vec::new(), n_compared, n_same })
}

/// Compares the compile of the repository of `../shared/bench`, if it is there.
///
/// # Errors
///
/// If a tool fails.
pub(crate) fn run_shared(
    folder: &Path,
    tools: &Tools,
    effort: Effort,
) -> anyhow::Result<Vec<(String, Cost)>> {
    let list = show(&folder.join("stacks.list"));
    let (Some(reference), true) = (&tools.reference, Path::new(&list).is_file()) else {
        return Ok(Vec::new());
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let runs = [
        (format!("kcl, 2 threads, {name}"), show(&tools.ours)),
        (format!("reference, 2 threads, {name}"), show(reference)),
    ];
    let runs = runs.map(|(name, tool)| (name, command(&[&tool, "batch", &list, "2"], folder)));
    let effort = Effort { limit: LIMIT, rounds: 3, ..effort };
    let costs = interleave(&runs.each_ref().map(|(_, run)| (run, None)), effort);
    let rows = runs.into_iter().zip(costs);
    rows.map(|((name, _), cost)| Ok((name, cost.map_err(anyhow::Error::msg)?))).collect()
}

/// Compiles a repository of 5,700 projects.
///
/// # Errors
///
/// If the repository can't be made or does not compile.
pub(crate) fn run_founding(folder: &Path, tools: &Tools) -> anyhow::Result<Founding> {
    let n_projects = 5_700;
    let repo = folder.join("repo");
    let written = Repo { n_projects, shape: Shape::LARGE }.write(&repo)?;
    let out = folder.join("out");
    let list = repo.join("stacks.list").display().to_string();
    let ours = tools.ours.display().to_string();
    let run = command(&[&ours, "batch", &list, "2", "--full", "--out", &show(&out)], folder);
    let full = run.measure(LIMIT, None)?;
    let (one, none) = after_changes(&repo, &out, tools, 2)?;
    let (mut n_yaml_lines, mut n_yaml_bytes) = (0, 0);
    for line in fs::read_to_string(&list)?.lines() {
        let text = fs::read_to_string(result_of(line, &repo, &out)?)?;
        n_yaml_lines += text.lines().count();
        n_yaml_bytes += text.len() as u64;
    }
    Ok(Founding { written, n_projects, n_yaml_lines, n_yaml_bytes, full, one, none })
}

/// What it costs to compile again after one stack has changed, and after nothing has.
fn after_changes(
    repo: &Path,
    out: &Path,
    tools: &Tools,
    rounds: usize,
) -> anyhow::Result<(Cost, Cost)> {
    let list = repo.join("stacks.list").display().to_string();
    let ours = tools.ours.display().to_string();
    let again = command(&[&ours, "batch", &list, "2", "--out", &show(out)], repo);
    again.measure(LIMIT, None)?;
    // Files that were written only just now are read again; those of a real repository are not.
    thread::sleep(Duration::from_secs(3));
    let full = command(&[&ours, "batch", &list, "2", "--full", "--out", &show(out)], repo);
    full.measure(LIMIT, None)?;
    let main = repo.join("projects/p00003/dev/main.k");
    let least = |a: Option<Cost>, b: Cost| match a {
        Some(a) if a.wall <= b.wall => Some(a),
        _ => Some(b),
    };
    let (mut one, mut none) = (None, None);
    for round in 0..rounds {
        let mut file = fs::OpenOptions::new().append(true).open(&main)?;
        writeln!(file, "changed_{round} = {round}")?;
        one = least(one, again.measure(LIMIT, None)?);
        none = least(none, again.measure(LIMIT, None)?);
    }
    one.zip(none).context("no rounds")
}

/// Compares results with those of `kcl run`; gives how many there are and how many are the same.
fn compare(repo: &Path, out: &Path, tools: &Tools, list: &str) -> anyhow::Result<(usize, usize)> {
    let text = fs::read_to_string(list)?;
    let lines: Vec<&str> = text.lines().collect();
    let halves = lines.split_at(lines.len() / 2);
    let work = |lines: &[&str]| compare_lines(lines, repo, out, tools);
    let counts = thread::scope(|scope| {
        let first = scope.spawn(|| work(halves.0));
        let second = work(halves.1);
        [first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second]
    });
    let [first, second] = counts;
    let (first, second) = (first?, second?);
    Ok((first.0 + second.0, first.1 + second.1))
}

fn compare_lines(
    lines: &[&str],
    repo: &Path,
    out: &Path,
    tools: &Tools,
) -> anyhow::Result<(usize, usize)> {
    let (mut n_compared, mut n_same) = (0, 0);
    for line in lines {
        let mut words = line.split('\t');
        let folder = words.next().unwrap_or_default();
        let alone = Command::new(&tools.ours)
            .arg("run")
            .args(words)
            .current_dir(folder)
            .env("KCL_CACHE", "off")
            .output()?;
        n_compared += 1;
        n_same += usize::from(fs::read(result_of(line, repo, out)?)? == alone.stdout);
    }
    Ok((n_compared, n_same))
}

/// The result of a stack, by its line in the list.
fn result_of(line: &str, repo: &Path, out: &Path) -> anyhow::Result<std::path::PathBuf> {
    let folder = Path::new(line.split('\t').next().unwrap_or_default());
    let below = folder.strip_prefix(repo.join("projects"))?;
    let file = out.join(below).with_extension("yaml");
    if !file.is_file() {
        bail!("{} has no result", below.display());
    }
    Ok(file)
}

fn command(words: &[&str], folder: &Path) -> Run {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    Run { words, folder: folder.to_path_buf(), warm: false }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
