//! Runs workloads with all tools, one after the other and round after round.

use crate::compare::same_data;
use crate::measure::{Cost, Run};
use crate::tool::{Tool, Tools};
use crate::workload::Workload;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// At least so many rounds.
    pub(crate) rounds: usize,
    /// More rounds until so much time has passed.
    pub(crate) budget: Duration,
    /// A run that takes longer is given up.
    pub(crate) limit: Duration,
    /// A count of instructions that takes longer is given up; zero for no counts.
    pub(crate) count_limit: Duration,
}

/// What a tool needed for a workload.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The tool.
    pub(crate) tool: Tool,
    /// The least of all rounds; the memory is the most.
    pub(crate) cost: Result<Cost, String>,
    /// How many instructions it took.
    pub(crate) instructions: Option<f64>,
    /// Whether its output is that of the reference, as data.
    pub(crate) is_same: Option<bool>,
}

/// A workload and what all tools needed for it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The workload.
    pub(crate) workload: Workload,
    /// The tools.
    pub(crate) measured: Vec<Measured>,
}

impl Row {
    /// What a tool needed, if it ran.
    pub(crate) fn cost(&self, tool: Tool) -> Option<Cost> {
        self.of(tool)?.cost.clone().ok()
    }

    /// All about a tool.
    pub(crate) fn of(&self, tool: Tool) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.tool == tool)
    }
}

/// No workload is run more often.
pub(crate) const MOST_ROUNDS: usize = 40;

const TOOLS: [Tool; 4] = [Tool::Reference, Tool::Jrsonnet, Tool::Ours, Tool::Reader];

/// Runs one workload with all tools.
///
/// # Errors
///
/// If outputs can't be compared.
pub(crate) fn run(
    workload: &Workload,
    tools: &Tools,
    effort: Effort,
    scratch: &Path,
) -> anyhow::Result<Row> {
    let runs: Vec<(Tool, Run)> =
        TOOLS.into_iter().filter_map(|tool| Some((tool, workload.run(tools, tool)?))).collect();
    let outputs = [scratch.join("reference.yaml"), scratch.join("ours.yaml")];
    let output_of = |tool: &Tool| match tool {
        Tool::Reference => Some(outputs[0].as_path()),
        Tool::Ours => Some(outputs[1].as_path()),
        Tool::Jrsonnet | Tool::Reader => None,
    };
    let all: Vec<_> = runs.iter().map(|(tool, run)| (run, output_of(tool))).collect();
    let costs = interleave(&all, effort);
    let mut measured = Vec::new();
    for ((tool, _), mut cost) in runs.iter().zip(costs) {
        if let (Tool::Reference, Ok(cost), Some(start)) = (tool, &mut cost, tools.reference_start) {
            cost.cpu = (cost.cpu - start.cpu).max(0.0);
            cost.wall = (cost.wall - start.wall).max(0.0);
        }
        measured.push(Measured { tool: *tool, cost, instructions: None, is_same: None });
    }
    let ran = |tool: Tool| measured.iter().any(|one| one.tool == tool && one.cost.is_ok());
    if ran(Tool::Reference) && ran(Tool::Ours) {
        let is_same = same_data(&outputs[0], &outputs[1])?;
        for one in measured.iter_mut().filter(|one| one.tool == Tool::Ours) {
            one.is_same = Some(is_same);
        }
    }
    Ok(Row { workload: workload.clone(), measured })
}

/// Counts the instructions of our tool for all rows, two at a time: other work does not change
/// the counts.
pub(crate) fn count_instructions(rows: &mut [Row], tools: &Tools, limit: Duration) {
    let next = AtomicUsize::new(0);
    let jobs: Vec<Option<Run>> =
        rows.iter().map(|row| row.workload.run(tools, Tool::Ours)).collect();
    let work = || {
        let mut counted = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            counted.push((job, job.as_ref().and_then(|run| run.count_instructions(limit))));
        }
        counted
    };
    let counted = thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.map(|thread| thread.join().unwrap_or_default())
    });
    for (job, n) in counted.into_iter().flatten() {
        let at = jobs.iter().position(|other| std::ptr::eq(other, job));
        let row = at.and_then(|at| rows.get_mut(at));
        for one in row.into_iter().flat_map(|row| &mut row.measured) {
            if one.tool == Tool::Ours {
                one.instructions = n;
            }
        }
    }
}

/// Runs commands in turn, round after round; gives the least of each. The output of the first
/// round goes to a file, if one is named.
pub(crate) fn interleave(
    runs: &[(&Run, Option<&Path>)],
    effort: Effort,
) -> Vec<Result<Cost, String>> {
    let mut best: Vec<Option<Result<Cost, String>>> = vec![None; runs.len()];
    let start = Instant::now();
    let mut round = 0;
    while round < effort.rounds || start.elapsed() < effort.budget && round < MOST_ROUNDS {
        for ((run, output), best) in runs.iter().zip(&mut best) {
            // What takes long is measured well enough the first time.
            let limit = if round > 1 { 2e3 } else { 1e4 };
            let is_slow = matches!(best, Some(Ok(cost)) if cost.wall > limit);
            if is_slow || matches!(best, Some(Err(_))) {
                continue;
            }
            let output = output.filter(|_| round == 0);
            let next = run.measure(effort.limit, output).map_err(|error| error.to_string());
            *best = Some(match (best.take(), next) {
                (Some(Ok(a)), Ok(b)) => Ok(Cost {
                    cpu: a.cpu.min(b.cpu),
                    wall: a.wall.min(b.wall),
                    memory: a.memory.max(b.memory),
                }),
                (_, next) => next,
            });
        }
        round += 1;
    }
    best.into_iter().map(|best| best.unwrap_or(Err("not run".to_owned()))).collect()
}
