//! `k8s-suite record KUBECONFIG` asks a real server and keeps its answers;
//! `k8s-suite check KUBECONFIG [WORD] [--except FILE]` compares a server with them;
//! `k8s-suite kubectl KUBECONFIG [sandbox]` runs the script of commands, all of it on a sandbox;
//! `k8s-suite load KUBECONFIG PID,…` measures what many objects and watchers cost processes;
//! `k8s-suite send KUBECONFIG FILE` sends the requests of a file and says how long that takes.

#![expect(clippy::print_stdout, reason = "a command line tool prints its result")]

use anyhow::{Context as _, bail, ensure};
use futures::stream::{self, StreamExt as _};
use k8s_suite::{
    Case, Client, Recorded, answers, check_all, load, read_cases, run_script, send_phases,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many requests `send` has under way: as many as `kusion` has.
const SENT_AT_ONCE: usize = 16;

const USAGE: &str = "usage: k8s-suite record KUBECONFIG [WORD]
       k8s-suite check KUBECONFIG [WORD] [--except FILE]
       k8s-suite kubectl KUBECONFIG [sandbox]
       k8s-suite load KUBECONFIG PID,PID,…
       k8s-suite send KUBECONFIG FILE";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let exceptions = take_exceptions(&mut words)?;
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
    if command == "load" {
        return measure(&client, word).await;
    }
    if command == "send" {
        let seconds = send_phases(&client, Path::new(word), SENT_AT_ONCE).await?;
        println!("{}", serde_json::to_string(&seconds)?);
        return Ok(());
    }
    let mut cases = read_cases(&root.join("cases"))?;
    cases.retain(|case| case.name.contains(word));
    ensure!(!cases.is_empty(), "no case has `{word}` in its name");
    match command.as_str() {
        "record" => record(&client, &cases, &root.join("recorded")).await,
        "check" => compare(&client, &cases, &root.join("recorded"), &exceptions).await,
        _ => bail!(USAGE),
    }
}

/// The names of checks that are known to fail, each with the reason.
type Exceptions = BTreeMap<String, String>;

/// Takes `--except FILE` out of the words. Each line of the file is `NAME: REASON`; without it all
/// checks must pass.
fn take_exceptions(words: &mut Vec<String>) -> anyhow::Result<Exceptions> {
    let Some(at) = words.iter().position(|word| word == "--except") else {
        return Ok(Exceptions::new());
    };
    let file = words.get(at + 1).context(USAGE)?;
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    words.drain(at..=at + 1);
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|line| {
        let (name, reason) = line.split_once(": ").context("expected `NAME: REASON`")?;
        Ok((name.to_owned(), reason.to_owned()))
    });
    pairs.collect()
}

async fn record(client: &Client, cases: &[Case], folder: &Path) -> anyhow::Result<()> {
    let mut files: BTreeMap<&str, Recorded> = BTreeMap::new();
    let mut n_failed = 0;
    let mut all = stream::iter(cases)
        .map(|case| async move { (case, answers(client, case).await) })
        .buffered(k8s_suite::AT_ONCE);
    while let Some((case, found)) = all.next().await {
        let (file, name) = case.file_and_name();
        let recorded =
            files.entry(file).or_insert_with(|| Recorded::read(folder, file).unwrap_or_default());
        recorded.generated_by =
            format!("k8s-suite record, from a kube-apiserver {}", client.server_version().await?);
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

async fn compare(
    client: &Client,
    cases: &[Case],
    folder: &Path,
    exceptions: &Exceptions,
) -> anyhow::Result<()> {
    let (n_passed, failures) = check_all(client, cases, folder).await?;
    let mut unknown = 0;
    for failure in &failures {
        let known = exceptions.iter().find(|(name, _)| failure.starts_with(name.as_str()));
        match known {
            Some((name, reason)) => println!("known {name}: {reason}"),
            None => {
                unknown += 1;
                println!("FAIL {failure}");
            }
        }
    }
    for name in exceptions.keys() {
        let is_idle = !failures.iter().any(|it| it.starts_with(name.as_str()));
        if is_idle && cases.iter().any(|case| name.starts_with(&case.name)) {
            println!("`{name}` passes: take it out of the exceptions");
        }
    }
    println!("{n_passed} passed, {unknown} failed, {} known to fail", failures.len() - unknown);
    ensure!(unknown == 0, "{unknown} checks failed");
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

async fn measure(client: &Client, processes: &str) -> anyhow::Result<()> {
    let processes = processes.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    println!("{:30} {:>7} {:>9} {:>14} {:>10}", "", "count", "wall s", "cpu each µs", "memory MB");
    for cost in load(client, &processes).await? {
        let each = cost.cpu * 1e6 / cost.count as f64;
        println!(
            "{:30} {:>7} {:>9.2} {:>14.1} {:>10.1}",
            cost.name, cost.count, cost.wall, each, cost.memory
        );
    }
    Ok(())
}
