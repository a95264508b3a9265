//! Chores of the repository, run as `cargo xtask <name>`.
//!
//! `tidy` checks the house rules that the compiler does not: layers, file sizes, words, docs.
//! `deny` checks the dependencies against `deny.toml`; `dist` makes the tarball for this platform.
//! `k8s-schema` makes the table of the built-in Kubernetes API from a real server, `k8s-proto`
//! that of the protobuf field numbers and `k8s-layout` that of the Go types of pod templates, both
//! from the published definitions.
//! The same checks run under `cargo test -p xtask`. Start reading at `tidy.rs`.

#![expect(clippy::print_stdout, reason = "a command line tool prints its result")]

mod deny;
mod dist;
mod go_modules;
mod k8s_layout;
mod k8s_proto;
mod k8s_schema;
mod packages;
mod tidy;
mod tree;

use anyhow::bail;
use std::path::Path;
use std::process::ExitCode;
use tree::Tree;

const USAGE: &str = "usage: cargo xtask tidy
       cargo xtask deny
       cargo xtask dist
       cargo xtask k8s-schema [--check] --kubeconfig FILE
       cargo xtask k8s-proto
       cargo xtask k8s-layout";

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy_command(),
        ["deny"] => deny_command(),
        ["dist"] => Ok(done(&dist::make()?)),
        ["k8s-schema", "--kubeconfig", file] => Ok(done(&k8s_schema::generate(Path::new(file))?)),
        ["k8s-schema", "--check", "--kubeconfig", file] => {
            Ok(done(&k8s_schema::check(Path::new(file))?))
        }
        ["k8s-proto"] => Ok(done(&k8s_proto::generate()?)),
        ["k8s-layout"] => Ok(done(&k8s_layout::generate()?)),
        ["help" | "--help" | "-h"] => Ok(done(&USAGE)),
        _ => bail!(USAGE),
    }
}

/// Says what was done.
fn done(what: &dyn std::fmt::Display) -> ExitCode {
    println!("{what}");
    ExitCode::SUCCESS
}

fn tidy_command() -> anyhow::Result<ExitCode> {
    let report = tidy::check(&Tree::load()?);
    for figure in &report.figures {
        println!("{figure}");
    }
    for finding in &report.findings {
        println!("{finding}");
    }
    let tidy = report.findings.is_empty();
    Ok(if tidy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn deny_command() -> anyhow::Result<ExitCode> {
    let report = deny::check()?;
    println!("{}", report.summary);
    for finding in &report.findings {
        println!("{finding}");
    }
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
