//! The report.

use crate::import::ImportRow;
use crate::measure::Cost;
use crate::monorepo::{Founding, Monorepo};
use crate::probes::Probe;
use crate::suite::Row;
use crate::tool::Tool;
use crate::verdict;
use std::fmt::Write as _;

/// Everything that was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The workloads; those of `../shared/bench` come first.
    pub(crate) rows: Vec<Row>,
    /// How many of them are from `../shared/bench`.
    pub(crate) n_shared: usize,
    /// Imports of big packages.
    pub(crate) imports: Vec<ImportRow>,
    /// The repository that is compared.
    pub(crate) monorepo: Option<Monorepo>,
    /// The repository of the founding documents' size.
    pub(crate) founding: Option<Founding>,
    /// How single constructs grow.
    pub(crate) probes: Option<Vec<Probe>>,
    /// What could not be measured, and why.
    pub(crate) notes: Vec<String>,
}

/// A row as one line, for the impatient.
pub(crate) fn line(row: &Row) -> String {
    let mut text = format!("{:16}", row.workload.name());
    for measured in &row.measured {
        let cost = match &measured.cost {
            Ok(cost) => format!("{:.2} ms {:.0} MB", cost.cpu, cost.memory),
            Err(reason) => reason.clone(),
        };
        let _ = write!(text, "  {}: {cost}", measured.tool.name());
    }
    match row.of(Tool::Ours).and_then(|ours| ours.is_same) {
        Some(true) => text.push_str("  same"),
        Some(false) => text.push_str("  DIFFERENT"),
        None => {}
    }
    text
}

impl Report {
    /// The report as Markdown.
    pub(crate) fn to_markdown(&self, machine: &str) -> String {
        let mut text = format!(
            "# Results\n\nWritten by `bench/run` on one machine: {machine}. All tools ran in turn, \
             the least of several\nrounds counts (memory: the most). CPU time is that of all \
             cores, in milliseconds. Ratios say\nhow many times less we need. Figures are without \
             the cache on disk (`KCL_CACHE=off`), but for\nthose called warm. The reference is \
             PyPI `kcl-lib` 0.13.2 without Python.\nA run of over 10 s counts the first time, one \
             of over 2 s the second time.\n"
        );
        for note in &self.notes {
            let _ = writeln!(text, "\n{note}");
        }
        text.push_str(&verdict::table(self));
        let (shared, own) = self.rows.split_at(self.n_shared.min(self.rows.len()));
        for (title, rows) in [("Workloads of `../shared/bench`", shared), ("Own workloads", own)] {
            if !rows.is_empty() {
                workloads(&mut text, title, rows);
                growth(&mut text, rows);
            }
        }
        start(&mut text, &self.rows);
        imports(&mut text, &self.imports);
        if let Some(monorepo) = &self.monorepo {
            show_monorepo(&mut text, monorepo);
        }
        if let Some(founding) = &self.founding {
            show_founding(&mut text, founding);
        }
        if let Some(probes) = &self.probes {
            show_probes(&mut text, probes);
        }
        text
    }
}

fn workloads(text: &mut String, title: &str, rows: &[Row]) {
    let _ = write!(
        text,
        "\n## {title}\n\n| workload | reference | jrsonnet | kcl | wall | ratio | memory | \
         reference | ratio | over jrsonnet | instructions | output |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
    );
    for row in rows {
        let name = row.workload.name();
        let (reference, peer) = (row.cost(Tool::Reference), row.cost(Tool::Jrsonnet));
        let ours = row.cost(Tool::Ours);
        let cpu = |cost: Option<Cost>| cost.map(|cost| cost.cpu);
        let memory = |cost: Option<Cost>| cost.map(|cost| cost.memory);
        let instructions = row.of(Tool::Ours).and_then(|ours| ours.instructions);
        let output = match row.of(Tool::Ours).and_then(|ours| ours.is_same) {
            Some(true) => "same",
            Some(false) => "different",
            None => "–",
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} MB | {} MB | {} | {} | {} | {output} |",
            number(cpu(reference)),
            number(cpu(peer)),
            number(cpu(ours)),
            number(ours.map(|cost| cost.wall)),
            times(cpu(reference), cpu(ours)),
            number(memory(ours)),
            number(memory(reference)),
            times(memory(reference), memory(ours)),
            times(cpu(peer), cpu(ours)),
            instructions.map_or("–".to_owned(), |n| format!("{:.1} M", n / 1e6)),
        );
    }
    for (tool, name) in [(Tool::Reference, "the reference"), (Tool::Jrsonnet, "jrsonnet")] {
        let ratios: Vec<(String, f64)> = largest(rows)
            .filter_map(|row| {
                let ratio = row.cost(tool)?.cpu / row.cost(Tool::Ours)?.cpu;
                Some((row.workload.name(), ratio))
            })
            .collect();
        let least = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((least, ratio)) = least {
            let sum: f64 = ratios.iter().map(|(_, ratio)| ratio.ln()).sum();
            let mean = (sum / ratios.len() as f64).exp();
            let _ = writeln!(
                text,
                "\nOver {name}, CPU time, geometric mean of the largest sizes: **{mean:.1} \
                 times**; least: {least} with {ratio:.1} times."
            );
        }
    }
}

/// The largest size of each kind.
pub(crate) fn largest(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().enumerate().filter_map(|(at, row)| {
        let is_last = rows.get(at + 1).is_none_or(|next| next.workload.kind != row.workload.kind);
        is_last.then_some(row)
    })
}

fn growth(text: &mut String, rows: &[Row]) {
    let _ = write!(
        text,
        "\nGrowth exponents between the two largest sizes (1 is linear):\n\n\
         | workload | sizes | kcl, instructions | kcl, CPU | reference, CPU | jrsonnet, CPU |\n\
         |---|---|--:|--:|--:|--:|\n"
    );
    for row in largest(rows).filter(|row| row.workload.n > 0) {
        let of_kind: Vec<&Row> =
            rows.iter().filter(|other| other.workload.kind == row.workload.kind).collect();
        let exponent = |value: &dyn Fn(&Row) -> Option<f64>| exponent(&of_kind, value);
        let cpu = |tool: Tool| move |row: &Row| row.cost(tool).map(|cost| cost.cpu);
        let sizes: Vec<String> = of_kind.iter().map(|row| row.workload.n.to_string()).collect();
        let show = |value: Option<f64>| value.map_or("–".to_owned(), |e| format!("{e:.2}"));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.workload.kind,
            sizes.join(", "),
            show(exponent(&|row| row.of(Tool::Ours)?.instructions)),
            show(exponent(&cpu(Tool::Ours))),
            show(exponent(&cpu(Tool::Reference))),
            show(exponent(&cpu(Tool::Jrsonnet))),
        );
    }
}

/// How a value grows between the two largest sizes for which it is known.
pub(crate) fn exponent(of_kind: &[&Row], value: &dyn Fn(&Row) -> Option<f64>) -> Option<f64> {
    let known: Vec<(f64, f64)> =
        of_kind.iter().filter_map(|row| Some((row.workload.n as f64, value(row)?))).collect();
    match known[..] {
        [.., (n, small), (m, large)] => {
            Some((large / small).ln() / (m / n).ln()).filter(|e| e.is_finite())
        }
        _ => None,
    }
}

fn start(text: &mut String, rows: &[Row]) {
    let is_small = |row: &&Row| row.cost(Tool::Reference).is_none_or(|cost| cost.cpu <= 20.0);
    let rows = rows.iter().filter(|row| row.of(Tool::Reader).is_some()).filter(is_small);
    let rows: Vec<&Row> = rows.collect();
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n## Start\n\nBeside a Rust program that only reads the file, CPU ms:\n\n\
         | workload | reads only | kcl | above it | jrsonnet | reference |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let cpu = |tool: Tool| row.cost(tool).map(|cost| cost.cpu);
        let above = cpu(Tool::Ours).zip(cpu(Tool::Reader)).map(|(ours, reader)| ours - reader);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.workload.name(),
            number(cpu(Tool::Reader)),
            number(cpu(Tool::Ours)),
            number(above),
            number(cpu(Tool::Jrsonnet)),
            number(cpu(Tool::Reference)),
        );
    }
}

fn imports(text: &mut String, rows: &[ImportRow]) {
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n## Importing a big package\n\nOne schema of the package is used. Warm: the cache on \
         disk knows the package. CPU ms:\n\n| workload | reference | cold | ratio | warm | ratio \
         |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let cpu = |cost: Option<Cost>| cost.map(|cost| cost.cpu);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.name,
            number(cpu(row.reference)),
            number(cpu(row.cold)),
            times(cpu(row.reference), cpu(row.cold)),
            number(cpu(row.warm)),
            times(cpu(row.reference), cpu(row.warm)),
        );
    }
}

fn show_monorepo(text: &mut String, repo: &Monorepo) {
    let n_stacks = repo.written.n_stacks;
    let _ = write!(
        text,
        "\n## Many stacks in one process\n\nA generated repository of {} projects with three \
         stacks each on one set of models ({n_stacks} stacks,\n{} lines of KCL). The reference \
         compiles stack by stack in one process and keeps results in memory.\n\n\
         | what | wall ms | CPU ms | per stack, wall | memory | over the reference: wall | CPU |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
        n_stacks / 3,
        repo.written.n_lines
    );
    let all: Vec<&(String, Cost)> = repo.rows.iter().chain(&repo.shared).collect();
    for (name, cost) in &all {
        let threads = name.split(", ").nth(1).unwrap_or_default();
        let set = if name.contains("c_mono") { "c_mono" } else { "not written" };
        let is_reference = |other: &str| {
            other.starts_with("reference") && other.contains(threads) && other.contains(set)
        };
        let is_full = ["disk", "not written", "c_mono_1000"].iter().any(|end| name.ends_with(end));
        let reference = all
            .iter()
            .find(|(other, _)| is_full && is_reference(other) && !is_reference(name))
            .map(|(_, cost)| *cost);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.4} | {:.0} MB | {} | {} |",
            number(Some(cost.wall)),
            number(Some(cost.cpu)),
            cost.wall / n_stacks as f64,
            cost.memory,
            times(reference.map(|r| r.wall), Some(cost.wall)),
            times(reference.map(|r| r.cpu), Some(cost.cpu)),
        );
    }
    let _ = writeln!(
        text,
        "\n{} of {} results are byte for byte what `kcl run` prints for the stack.",
        repo.n_same, repo.n_compared
    );
}

fn show_founding(text: &mut String, founding: &Founding) {
    let Founding { written, full, one, none, .. } = founding;
    let seconds = full.wall / 1e3;
    let _ = write!(
        text,
        "\n## A repository of the founding documents' size\n\n{} projects, {} stacks, {} lines \
         of KCL; {} lines ({} MB) of YAML written to disk, with 2\nthreads.\n\n| what | \
         seconds | CPU s | memory |\n|---|--:|--:|--:|\n| all stacks | {seconds:.2} | {:.2} | {:.0} \
         MB |\n| one `main.k` changed | {:.3} | {:.3} | {:.0} MB |\n| nothing changed | {:.3} | \
         {:.3} | {:.0} MB |\n\nPer second: {:.0} stacks, {:.0} thousand lines of KCL, {:.0} \
         thousand lines of YAML.\n",
        founding.n_projects,
        written.n_stacks,
        written.n_lines,
        founding.n_yaml_lines,
        founding.n_yaml_bytes >> 20,
        full.cpu / 1e3,
        full.memory,
        one.wall / 1e3,
        one.cpu / 1e3,
        one.memory,
        none.wall / 1e3,
        none.cpu / 1e3,
        none.memory,
        written.n_stacks as f64 / seconds,
        written.n_lines as f64 / seconds / 1e3,
        founding.n_yaml_lines as f64 / seconds / 1e3,
    );
}

fn show_probes(text: &mut String, probes: &[Probe]) {
    text.push_str(
        "\n## Single constructs\n\nHow CPU time grows with the number of uses of one construct \
         (1 is linear), by `probe_run.py`:\n\n",
    );
    let shown: Vec<String> =
        probes.iter().map(|probe| format!("{} {:.2}", probe.name, probe.exponent)).collect();
    let _ = writeln!(text, "{}.", shown.join(", "));
}

pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn times(theirs: Option<f64>, ours: Option<f64>) -> String {
    match theirs.zip(ours) {
        Some((theirs, ours)) if ours > 0.0 => format!("{:.1}×", theirs / ours),
        _ => "–".to_owned(),
    }
}
