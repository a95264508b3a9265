//! What must hold, and whether it does.

use crate::monorepo::Monorepo;
use crate::probes;
use crate::report::{Report, exponent, largest, number};
use crate::suite::Row;
use crate::tool::Tool;
use std::fmt::Write as _;

/// One thing that must hold.
struct Verdict {
    what: &'static str,
    wanted: String,
    measured: String,
    /// `None` if it was not measured.
    holds: Option<bool>,
}

/// The table of all that must hold.
pub(crate) fn table(report: &Report) -> String {
    let shared = match report.n_shared {
        0 => &report.rows[..],
        n => &report.rows[..n.min(report.rows.len())],
    };
    let mut verdicts = of_workloads(shared);
    verdicts.push(growth(shared));
    verdicts.push(of_probes(report));
    verdicts.extend(imports(report));
    verdicts.extend(of_monorepo(report.monorepo.as_ref()));
    verdicts.push(founding(report));
    let mut text = String::from(
        "\n## What must hold\n\n| what | wanted | measured | verdict |\n|---|---|---|---|\n",
    );
    for Verdict { what, wanted, measured, holds } in verdicts {
        let verdict = match holds {
            Some(true) => "holds",
            Some(false) => "**does not hold**",
            None => "not measured",
        };
        let _ = writeln!(text, "| {what} | {wanted} | {measured} | {verdict} |");
    }
    text
}

/// The least of named numbers must reach a bound.
fn at_least(what: &'static str, bound: f64, values: &[(String, f64)]) -> Verdict {
    let least = values.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    Verdict {
        what,
        wanted: format!("at least {bound} times"),
        measured: least.map_or("–".to_owned(), |(name, value)| {
            format!("{value:.1} times at least, {name} (of {})", values.len())
        }),
        holds: least.map(|(_, value)| *value >= bound),
    }
}

fn cpu(row: &Row, tool: Tool) -> Option<f64> {
    row.cost(tool).map(|cost| cost.cpu)
}

/// How many times less CPU time we need than another tool, for the rows that both ran.
fn ratios<'r>(rows: impl Iterator<Item = &'r Row>, tool: Tool) -> Vec<(String, f64)> {
    let ratio = |row: &Row| Some((row.workload.name(), cpu(row, tool)? / cpu(row, Tool::Ours)?));
    rows.filter_map(ratio).collect()
}

fn of_workloads(rows: &[Row]) -> Vec<Verdict> {
    let is_big = |row: &&Row| cpu(row, Tool::Reference).is_some_and(|cpu| cpu > 10.0);
    let of_largest = ratios(largest(rows), Tool::Reference);
    let sum: f64 = of_largest.iter().map(|(_, ratio)| ratio.ln()).sum();
    let mean = (sum / of_largest.len() as f64).exp();
    let same = rows.iter().filter_map(|row| row.of(Tool::Ours)?.is_same);
    let (n_same, n_compared) = same.fold((0, 0), |(n, of), same| (n + usize::from(same), of + 1));
    let memory = rows.iter().filter_map(|row| {
        let theirs = row.cost(Tool::Reference)?.memory;
        let ratio = theirs / row.cost(Tool::Ours)?.memory;
        (theirs > 50.0).then(|| (row.workload.name(), ratio))
    });
    vec![
        Verdict {
            what: "outputs are those of the reference",
            wanted: "all".to_owned(),
            measured: format!("{n_same} of {n_compared}"),
            holds: (n_compared > 0).then_some(n_same == n_compared),
        },
        Verdict {
            what: "CPU time, geometric mean of the largest sizes",
            wanted: "at least 25 times".to_owned(),
            measured: format!("{mean:.1} times (of {})", of_largest.len()),
            holds: mean.is_finite().then_some(mean >= 25.0),
        },
        at_least(
            "CPU time, each workload of over 10 ms",
            6.0,
            &ratios(rows.iter().filter(is_big), Tool::Reference),
        ),
        start(rows),
        at_least("memory, where the reference takes over 50 MB", 4.0, &memory.collect::<Vec<_>>()),
        at_least("CPU time, over jrsonnet", 1.0, &ratios(rows.iter(), Tool::Jrsonnet)),
    ]
}

/// Workloads that are over before one has looked.
fn start(rows: &[Row]) -> Verdict {
    let small = rows.iter().filter(|row| cpu(row, Tool::Reference).is_some_and(|cpu| cpu <= 10.0));
    let above: Vec<(String, f64)> = small
        .filter_map(|row| {
            let above = cpu(row, Tool::Ours)? - cpu(row, Tool::Reader)?;
            Some((row.workload.name(), above))
        })
        .collect();
    let most = above.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    Verdict {
        what: "CPU time above a program that only reads the file, other workloads",
        wanted: "at most 0.6 ms".to_owned(),
        measured: most.map_or("–".to_owned(), |(name, ms)| {
            format!("{ms:.2} ms at most, {name} (of {})", above.len())
        }),
        holds: most.map(|(_, ms)| *ms <= 0.6),
    }
}

fn growth(rows: &[Row]) -> Verdict {
    let mut exponents = Vec::new();
    for row in largest(rows).filter(|row| row.workload.n > 0 && row.workload.kind != "e_fib") {
        let kind = &row.workload.kind;
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.workload.kind == *kind).collect();
        let value = exponent(&of_kind, &|row| row.of(Tool::Ours)?.instructions);
        exponents.extend(value.map(|value| (kind.clone(), value)));
    }
    let most = exponents.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    Verdict {
        what: "growth exponent of instructions",
        wanted: "at most 1.15".to_owned(),
        measured: most.map_or("–".to_owned(), |(name, value)| {
            format!("{value:.2} at most, {name} (of {})", exponents.len())
        }),
        holds: most.map(|(_, value)| *value <= 1.15),
    }
}

fn of_probes(report: &Report) -> Verdict {
    let all = report.probes.as_deref().unwrap_or_default();
    let most = all.iter().max_by(|a, b| a.exponent.total_cmp(&b.exponent));
    Verdict {
        what: "single constructs, growth exponent of CPU time",
        wanted: format!("none superlinear (at most {})", probes::LIMIT),
        measured: most.map_or("–".to_owned(), |probe| {
            format!("{:.2} at most, {} (of {})", probe.exponent, probe.name, all.len())
        }),
        holds: most.map(|probe| probe.exponent <= probes::LIMIT),
    }
}

fn imports(report: &Report) -> [Verdict; 2] {
    let large: Vec<_> = report.imports.iter().filter(|row| row.n == 10_000).collect();
    let ratios = |is_warm: bool| -> Vec<(String, f64)> {
        large
            .iter()
            .filter_map(|row| {
                let ours = if is_warm { row.warm } else { row.cold };
                Some((row.name.clone(), row.reference?.cpu / ours?.cpu))
            })
            .collect()
    };
    [
        at_least("CPU time, one of 10,000 schemas imported, cold", 20.0, &ratios(false)),
        at_least("the same, warm", 200.0, &ratios(true)),
    ]
}

fn of_monorepo(repo: Option<&Monorepo>) -> Vec<Verdict> {
    let find = |name: &str| {
        repo.and_then(|repo| repo.rows.iter().find(|(other, _)| other == name)).map(|(_, c)| *c)
    };
    let full = find("kcl, 2 threads, not written");
    let reference = find("reference, 2 threads, not written");
    let both = full.zip(reference);
    let touched = find("kcl, 2 threads, one `main.k` changed");
    let bound = full.map(|full| (full.wall * 0.02).max(50.0));
    vec![
        Verdict {
            what: "1,000 projects × 3 stacks, full compile, wall, 2 threads each",
            wanted: "at least 50 times".to_owned(),
            measured: both.map_or("–".to_owned(), |(ours, theirs)| {
                format!("{:.1} times (CPU {:.1})", theirs.wall / ours.wall, theirs.cpu / ours.cpu)
            }),
            holds: both.map(|(ours, theirs)| theirs.wall / ours.wall >= 50.0),
        },
        Verdict {
            what: "each result is what `kcl run` prints",
            wanted: "all".to_owned(),
            measured: repo
                .map_or("–".to_owned(), |repo| format!("{} of {}", repo.n_same, repo.n_compared)),
            holds: repo.map(|repo| repo.n_same == repo.n_compared),
        },
        Verdict {
            what: "after one `main.k` was touched, wall",
            wanted: format!("at most {} ms", number(bound)),
            measured: format!("{} ms", number(touched.map(|cost| cost.wall))),
            holds: touched.zip(bound).map(|(cost, bound)| cost.wall <= bound),
        },
    ]
}

fn founding(report: &Report) -> Verdict {
    let founding = report.founding.as_ref();
    Verdict {
        what: "5,700 projects, 1.2 million lines of KCL, 10 million of YAML",
        wanted: "finishes".to_owned(),
        measured: founding.map_or("–".to_owned(), |founding| {
            let seconds = founding.full.wall / 1e3;
            format!(
                "{seconds:.1} s, {:.0} MB, {:.0} thousand lines of YAML a second",
                founding.full.memory,
                founding.n_yaml_lines as f64 / seconds / 1e3
            )
        }),
        holds: founding.map(|founding| {
            founding.n_yaml_lines > 9_500_000 && founding.written.n_lines > 1_200_000
        }),
    }
}
