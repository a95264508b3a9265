//! Runs random sequences of writes against API servers.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "usage:
  k8s-replay record  --kubeconfig FILE [--seed N] [--sequences N] --out FILE
  k8s-replay check   --kubeconfig FILE [--kind KIND] --in FILE
  k8s-replay local   --in FILE
  k8s-replay compare --kubeconfig FILE --other FILE [--seed N] [--sequences N]";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    };
    let file = |name: &str| {
        option(name).map(PathBuf::from).with_context(|| format!("{name} is missing\n{USAGE}"))
    };
    let number = |name: &str, default: u64| option(name).map_or(Ok(default), |text| text.parse());
    let kind = option("--kind").and_then(|name| k8s_replay::Kind::of_name(&name));
    let plan = k8s_replay::Plan {
        kind,
        seed: number("--seed", 1)?,
        sequences: number("--sequences", 100)?,
    };
    let report = match args.first().map(String::as_str) {
        Some("record") => k8s_replay::record(&file("--kubeconfig")?, &plan, &file("--out")?)?,
        Some("check") => k8s_replay::check(&file("--kubeconfig")?, &plan, &file("--in")?)?,
        Some("local") => k8s_replay::local(&file("--in")?)?,
        Some("compare") => k8s_replay::compare(&file("--kubeconfig")?, &file("--other")?, &plan)?,
        _ => bail!("{USAGE}"),
    };
    k8s_replay::print(&report);
    if report.differences.is_empty() {
        Ok(())
    } else {
        bail!("{} differences", report.differences.len())
    }
}
