//! Random sequences of writes, and whether two servers answer them alike.
//!
//! A sequence is about one object: creates, updates, applies and patches by three managers, with
//! the answer of the real server to each. Two answers are alike when code, message and causes are
//! the same, and the objects too, apart from what no two servers have in common (`clean`).

mod answer;
mod generate;
mod kinds;
mod local;
mod server;
mod store;

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

pub use answer::Answer;
pub use generate::{Method, Step};
pub use kinds::Kind;
pub use local::Local;
pub use server::Server;
pub use store::{load, save};

/// Which sequences to make.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The only kind to look at, unless all are meant.
    pub kind: Option<Kind>,
    /// The start of all randomness.
    pub seed: u64,
    /// How many sequences.
    pub sequences: u64,
}

/// One sequence with the real server's answers.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// Its number, which names its object.
    pub number: u64,
    /// The kind of its object.
    pub kind: Kind,
    /// The requests and their answers.
    pub steps: Vec<(Step, Answer)>,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many sequences ran.
    pub sequences: usize,
    /// How many requests.
    pub steps: usize,
    /// How many of them were refused by the real server.
    pub refused: usize,
    /// Where the answers differ.
    pub differences: Vec<String>,
}

/// Anything that answers requests.
pub trait Target {
    /// Answers one request about the object of a sequence.
    fn send(&mut self, kind: Kind, name: &str, step: &Step) -> Result<Answer>;

    /// Tells whether the target can give such an answer at all.
    fn can_answer(&self, _answer: &Answer) -> bool {
        true
    }
}

/// Makes sequences with the answers of a server and writes them to a file.
pub fn record(kubeconfig: &Path, plan: &Plan, out: &Path) -> Result<Report> {
    let mut server = Server::connect(kubeconfig)?;
    let mut sequences = Vec::new();
    for number in plan.seed..plan.seed + plan.sequences {
        sequences.push(generate::sequence(&mut server, number)?);
    }
    save(out, &sequences)?;
    let mut report = Report::default();
    for sequence in &sequences {
        report.count(sequence);
    }
    Ok(report)
}

/// Sends recorded sequences to a server.
pub fn check(kubeconfig: &Path, plan: &Plan, file: &Path) -> Result<Report> {
    let mut server = Server::connect(kubeconfig)?;
    let mut sequences = load(file)?;
    sequences.retain(|sequence| plan.kind.is_none_or(|kind| kind == sequence.kind));
    run(&mut server, &sequences)
}

/// Sends recorded sequences to the library itself, those that it can answer alone.
pub fn local(file: &Path) -> Result<Report> {
    let mut sequences = load(file)?;
    sequences.retain(|sequence| matches!(sequence.kind, Kind::ConfigMap | Kind::Thing));
    run(&mut Local::new(), &sequences)
}

/// Makes sequences on one server and sends them to another.
pub fn compare(kubeconfig: &Path, other: &Path, plan: &Plan) -> Result<Report> {
    let mut server = Server::connect(kubeconfig)?;
    let mut other = Server::connect(other)?;
    let mut report = Report::default();
    for number in plan.seed..plan.seed + plan.sequences {
        let sequence = generate::sequence(&mut server, number)?;
        replay(&mut other, &sequence, &mut report)?;
    }
    Ok(report)
}

/// Sends sequences to a target.
pub fn run(target: &mut dyn Target, sequences: &[Sequence]) -> Result<Report> {
    let mut report = Report::default();
    for sequence in sequences {
        replay(target, sequence, &mut report)?;
    }
    Ok(report)
}

fn replay(target: &mut dyn Target, sequence: &Sequence, report: &mut Report) -> Result<()> {
    report.count(sequence);
    let name = format!("replay-{}", sequence.number);
    for (idx, (step, wanted)) in sequence.steps.iter().enumerate() {
        if !target.can_answer(wanted) {
            continue;
        }
        let got = target.send(sequence.kind, &name, step)?;
        if let Some(difference) = answer::difference(wanted, &got) {
            let place = format!("{} {name} step {idx} ({step})", sequence.kind.name());
            report.differences.push(format!("{place}: {difference}\n  body {}", step.body));
            break;
        }
    }
    Ok(())
}

impl Report {
    fn count(&mut self, sequence: &Sequence) {
        self.sequences += 1;
        self.steps += sequence.steps.len();
        self.refused += sequence.steps.iter().filter(|(_, answer)| answer.code >= 400).count();
    }
}

/// Prints what a run found.
#[expect(clippy::print_stdout, reason = "this is what the program is for")]
pub fn print(report: &Report) {
    for difference in report.differences.iter().take(20) {
        println!("{difference}");
    }
    println!(
        "{} sequences, {} requests ({} refused), {} differences",
        report.sequences,
        report.steps,
        report.refused,
        report.differences.len()
    );
}

/// Returns a string of an object by its path.
pub(crate) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
