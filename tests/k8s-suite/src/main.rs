//! `k8s-suite record KUBECONFIG` asks a real server and keeps its answers;
//! `k8s-suite check KUBECONFIG [WORD]` compares a server with them; `k8s-suite kubectl
//! KUBECONFIG [sandbox]` runs the script of commands, all of it on a sandbox.

#![expect(clippy::print_stdout, reason = "a command line tool prints its result")]

use anyhow::{bail, ensure};
use futures::stream::{self, StreamExt as _};
use k8s_suite::{Case, Client, Recorded, answers, check, read_cases, run_script};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const USAGE: &str =
    "usage: k8s-suite record|check KUBECONFIG [WORD] | kubectl KUBECONFIG [sandbox]";
/// How many cases run at a time.
const AT_ONCE: usize = 4;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (command, kubeconfig, word) = match &words[..] {
        [command, kubeconfig] => (command, kubeconfig, ""),
        [command, kubeconfig, word] => (command, kubeconfig, word.as_str()),
        _ => bail!(USAGE),
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if command == "kubectl" {
        return kubectl(Path::new(kubeconfig), &root, word == "sandbox");
    }
    let client = Client::connect(Path::new(kubeconfig)).await?;
    let mut cases = read_cases(&root.join("cases"))?;
    cases.retain(|case| case.name.contains(word));
    ensure!(!cases.is_empty(), "no case has `{word}` in its name");
    match command.as_str() {
        "record" => record(&client, &cases, &root.join("recorded")).await,
        "check" => compare(&client, &cases, &root.join("recorded")).await,
        _ => bail!(USAGE),
    }
}

async fn record(client: &Client, cases: &[Case], folder: &Path) -> anyhow::Result<()> {
    let mut files: BTreeMap<&str, Recorded> = BTreeMap::new();
    let mut n_failed = 0;
    let mut all = stream::iter(cases)
        .map(|case| async move { (case, answers(client, case).await) })
        .buffered(AT_ONCE);
    while let Some((case, found)) = all.next().await {
        let (file, name) = case.name.split_once('/').unwrap_or(("", &case.name));
        let recorded =
            files.entry(file).or_insert_with(|| Recorded::read(folder, file).unwrap_or_default());
        "k8s-suite record, from a kube-apiserver 1.36".clone_into(&mut recorded.generated_by);
        match found.and_then(|all| {
            all.into_iter().collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::msg)
        }) {
            Ok(found) => {
                recorded.answers.insert(name.to_owned(), found);
            }
            Err(error) => {
                n_failed += 1;
                println!("{}: {error:#}", case.name);
            }
        }
    }
    for (file, mut recorded) in files {
        let known = |name: &String| cases.iter().any(|case| case.name == format!("{file}/{name}"));
        if cases.iter().filter(|case| case.name.starts_with(&format!("{file}/"))).count() > 1 {
            recorded.answers.retain(|name, _| known(name));
        }
        recorded.write(folder, file)?;
    }
    ensure!(n_failed == 0, "{n_failed} cases could not be recorded");
    Ok(())
}

async fn compare(client: &Client, cases: &[Case], folder: &Path) -> anyhow::Result<()> {
    let mut n_passed = 0;
    let mut n_failed = 0;
    let mut files: BTreeMap<String, Recorded> = BTreeMap::new();
    for case in cases {
        let (file, _) = case.name.split_once('/').unwrap_or(("", &case.name));
        if !files.contains_key(file) {
            files.insert(file.to_owned(), Recorded::read(folder, file)?);
        }
    }
    let files = &files;
    let mut all = stream::iter(cases)
        .map(|case| async move {
            let (file, name) = case.name.split_once('/').unwrap_or(("", &case.name));
            let recorded = files.get(file).and_then(|file| file.answers.get(name));
            check(client, case, recorded.map_or(&[], Vec::as_slice)).await
        })
        .buffered(AT_ONCE);
    while let Some(outcome) = all.next().await {
        n_passed += outcome.n_passed;
        n_failed += outcome.failures.len();
        for failure in outcome.failures {
            println!("FAIL {failure}");
        }
    }
    println!("{n_passed} passed, {n_failed} failed");
    ensure!(n_failed == 0, "{n_failed} of {} checks failed", n_passed + n_failed);
    Ok(())
}

fn kubectl(kubeconfig: &Path, root: &Path, sandbox: bool) -> anyhow::Result<()> {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".into());
    let script = root.join("kubectl/script.yaml");
    let (n_passed, failures) = run_script(&program, kubeconfig, &script, sandbox)?;
    for failure in &failures {
        println!("FAIL {failure}");
    }
    println!("{n_passed} passed, {} failed", failures.len());
    ensure!(failures.is_empty(), "{} commands failed", failures.len());
    Ok(())
}
