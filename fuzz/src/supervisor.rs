//! The process that the user starts: runs workers, finds what killed them, writes what it found.

use crate::input::{Inputs, Kind};
use crate::minimise;
use crate::worker::CHUNK;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Inputs per worker process.
const BATCH: u64 = 1_000_000;

/// Failures of different kinds, or dead workers, after which a campaign stops.
const MAX_FAILURES: usize = 20;

/// What the user asked for.
pub(crate) struct Campaign {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) from: u64,
    pub(crate) n: Option<u64>,
    pub(crate) seconds: Option<f64>,
    pub(crate) threads: usize,
    /// Where failing inputs are written.
    pub(crate) out: PathBuf,
}

/// What workers reported, added up.
#[derive(Default)]
struct Totals {
    inputs: u64,
    accepted: u64,
    evaluated: u64,
    requests: u64,
    /// Memory of the largest worker at its peak.
    peak_bytes: u64,
    /// Kind of failure to the number of the first input that showed it.
    failures: BTreeMap<String, (u64, String)>,
}

/// How one worker ended.
struct Ended {
    /// For each thread, the first input of the chunk it was in.
    at: BTreeMap<String, u64>,
    killed: Option<String>,
    /// The input that took too long or too much memory.
    slow: Option<u64>,
}

/// Runs a campaign. The exit code is 1 when something broke.
pub(crate) fn run(campaign: &Campaign) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let n = campaign.n.unwrap_or(if campaign.seconds.is_some() { u64::MAX } else { BATCH });
    println!(
        "{}: seed {}, {} threads, {} programs to start from",
        campaign.kind.name(),
        campaign.seed,
        campaign.threads,
        Inputs::new(campaign.kind, campaign.seed).n_seeds()
    );
    let mut totals = Totals::default();
    let (mut done, mut n_deaths) = (0, 0);
    while done < n && totals.failures.len() < MAX_FAILURES {
        let left = campaign.seconds.map(|limit| limit - start.elapsed().as_secs_f64());
        if left.is_some_and(|left| left <= 0.0) {
            break;
        }
        let from = campaign.from + done;
        let batch = BATCH.min(n - done);
        let ended = worker(campaign, from, batch, campaign.threads, left, &mut totals)?;
        if let Some(how) = &ended.killed {
            hunt(campaign, &ended, how, &mut totals)?;
        }
        if ended.killed.is_none() && ended.slow.is_none() {
            done += batch;
            continue;
        }
        // A worker that died leaves its batch unfinished: the next one goes on behind it.
        n_deaths += 1;
        if n_deaths == MAX_FAILURES {
            break;
        }
        let last = ended.at.values().max().copied().unwrap_or(from);
        done = last + CHUNK - campaign.from;
    }
    summary(campaign, &totals, start);
    write_failures(campaign, &totals)?;
    Ok(if totals.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn worker(
    campaign: &Campaign,
    from: u64,
    n: u64,
    threads: usize,
    seconds: Option<f64>,
    totals: &mut Totals,
) -> anyhow::Result<Ended> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["work", campaign.kind.name()]);
    command.args(["--seed".into(), campaign.seed.to_string(), "--from".into(), from.to_string()]);
    command.args(["--n".into(), n.to_string(), "--threads".into(), threads.to_string()]);
    if let Some(seconds) = seconds {
        command.args(["--seconds".into(), seconds.to_string()]);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    let mut ended = Ended { at: BTreeMap::new(), killed: None, slow: None };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["AT", thread, index] => {
                ended.at.insert(thread.into(), index.parse()?);
            }
            ["FAIL", index, message] => {
                let index = index.parse()?;
                if message.starts_with("takes ") {
                    ended.slow = Some(index);
                }
                totals.fail(index, message);
            }
            ["DONE", inputs, rest] => {
                let mut rest = rest.split(' ').map(str::parse::<u64>);
                totals.inputs += inputs.parse::<u64>()?;
                totals.accepted += rest.next().unwrap_or(Ok(0))?;
                totals.evaluated += rest.next().unwrap_or(Ok(0))?;
                totals.requests += rest.next().unwrap_or(Ok(0))?;
                totals.peak_bytes = totals.peak_bytes.max(rest.next().unwrap_or(Ok(0))?);
            }
            _ => {}
        }
    }
    if !output.status.success() && ended.slow.is_none() {
        ended.killed = Some(output.status.to_string());
    }
    Ok(ended)
}

/// Finds the input that killed a worker, by halves of the chunks its threads were in.
fn hunt(campaign: &Campaign, ended: &Ended, how: &str, totals: &mut Totals) -> anyhow::Result<()> {
    for start in ended.at.values() {
        let (mut from, mut n) = (*start, CHUNK);
        let mut ignored = Totals::default();
        if worker(campaign, from, n, 1, None, &mut ignored)?.killed.is_none() {
            continue;
        }
        while n > 1 {
            let half = n / 2;
            if worker(campaign, from, half, 1, None, &mut ignored)?.killed.is_some() {
                n = half;
            } else {
                (from, n) = (from + half, n - half);
            }
        }
        totals.fail(from, &format!("kills the process: {how}"));
        return Ok(());
    }
    totals.fail(campaign.from, &format!("a worker died, and no single input shows it: {how}"));
    Ok(())
}

impl Totals {
    fn fail(&mut self, index: u64, message: &str) {
        let key = minimise::failure_class(message);
        self.failures.entry(key).or_insert_with(|| (index, message.into()));
    }
}

fn summary(campaign: &Campaign, totals: &Totals, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let rate = totals.inputs as f64 / seconds;
    let share = |part: u64| 100.0 * part as f64 / totals.inputs.max(1) as f64;
    let requests = match totals.requests {
        0 => String::new(),
        n => format!(" with {n} requests"),
    };
    println!(
        "{} inputs{requests} in {seconds:.1} s = {rate:.0}/s ({:.0}/s per thread), accepted {:.1} %, evaluated {:.1} %, peak {} MiB",
        totals.inputs,
        rate / campaign.threads as f64,
        share(totals.accepted),
        share(totals.evaluated),
        totals.peak_bytes >> 20
    );
}

fn write_failures(campaign: &Campaign, totals: &Totals) -> anyhow::Result<()> {
    if totals.failures.is_empty() {
        println!("no failures");
        return Ok(());
    }
    std::fs::create_dir_all(&campaign.out)?;
    let inputs = Inputs::new(campaign.kind, campaign.seed);
    let mut seen = BTreeSet::new();
    for (index, message) in totals.failures.values() {
        println!("FAILED input {index}: {message}");
        if !seen.insert(*index) {
            continue;
        }
        let text = inputs.make(*index);
        let extension = campaign.kind.extension();
        let name = format!("{}-{}-{index}", campaign.kind.name(), campaign.seed);
        let path = campaign.out.join(format!("{name}.{extension}"));
        std::fs::write(&path, &text)?;
        let small = minimise::minimise(campaign.kind, &text, &campaign.out)?;
        let small_path = campaign.out.join(format!("{name}.min.{extension}"));
        std::fs::write(&small_path, &small)?;
        println!(
            "  {} ({} bytes), {} ({} bytes)",
            path.display(),
            text.len(),
            small_path.display(),
            small.len()
        );
    }
    Ok(())
}
