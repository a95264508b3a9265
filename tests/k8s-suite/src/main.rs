//! Runs the suites against API servers: see `replay`.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use k8s_suite::replay;

const USAGE: &str = "usage:
  k8s-suite replay record  --kubeconfig FILE [--seed N] [--sequences N] --out FILE
  k8s-suite replay check   --kubeconfig FILE --in FILE
  k8s-suite replay local   --in FILE
  k8s-suite replay compare --kubeconfig FILE --other FILE [--seed N] [--sequences N]";

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
    let plan = replay::Plan { seed: number("--seed", 1)?, sequences: number("--sequences", 100)? };
    let report = match (args.first().map(String::as_str), args.get(1).map(String::as_str)) {
        (Some("replay"), Some("record")) => {
            replay::record(&file("--kubeconfig")?, &plan, &file("--out")?)?
        }
        (Some("replay"), Some("check")) => replay::check(&file("--kubeconfig")?, &file("--in")?)?,
        (Some("replay"), Some("local")) => replay::local(&file("--in")?)?,
        (Some("replay"), Some("compare")) => {
            replay::compare(&file("--kubeconfig")?, &file("--other")?, &plan)?
        }
        _ => bail!("{USAGE}"),
    };
    replay::print(&report);
    if report.differences.is_empty() {
        Ok(())
    } else {
        bail!("{} differences", report.differences.len())
    }
}
