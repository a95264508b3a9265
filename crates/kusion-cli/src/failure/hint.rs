//! Hints: what to run after a failure, as it can be copied.

use super::{Failure, ManyStacks};
use crate::arguments::quoted;
use crate::home;
use crate::typed::Typed;
use base_text::nearest;
use kusion_app::AppError;
use kusion_app::trust::RiskySetting;
use kusion_engine::{EngineError, SavedPlanError};
use kusion_generate::{FindError, GenerateError};
use kusion_runtime::RuntimeError;
use kusion_store::StoreError;

impl Failure {
    /// Returns a hint that says how to fix the failure.
    pub(crate) fn hint(&self) -> Option<String> {
        let typed = Typed::now();
        let typed = typed.as_ref();
        Some(match self {
            Self::Engine(error) => return of_engine(error, typed),
            Self::App { error: AppError::Untrusted { settings, .. } } => of_untrusted(settings),
            Self::App { error: AppError::Store(error) } | Self::Store(error) => {
                return of_store(error, typed);
            }
            Self::Generate(error) => return of_folder(error, typed),
            Self::ManyStacks(many) => of_many(many, typed),
            Self::OneStack { example, .. } => {
                format!("pass the folder of one stack, such as `{example}`")
            }
            Self::OneCell { example, .. } => {
                again(typed, &format!("--cell {}", quoted(example)), "to select one")
            }
            Self::Moved(_) => "run the command again to see the current changes".to_owned(),
            Self::NeedsYes => again(typed, "--yes", "to confirm"),
            Self::NeedsName(name) => {
                again(typed, &format!("--confirm {}", quoted(name)), "to confirm")
            }
            Self::NoRelease { .. } => {
                format!("run `{}` to list the releases", for_stack(typed, "release list"))
            }
            Self::NoStack(_) => {
                format!("run `{}` to list the stacks", for_store(typed, "stack list"))
            }
            Self::NewSandbox { name, near } => of_new_sandbox(name, near.as_deref()),
            _ => return None,
        })
    }
}

/// Says to run the same command with an option.
fn again(typed: Option<&Typed>, option: &str, purpose: &str) -> String {
    match typed.and_then(|it| it.with(option)) {
        Some(line) => format!("run `{line}` {purpose}"),
        None => format!("pass `{option}` {purpose}"),
    }
}

/// Returns a command for the same stack.
fn for_stack(typed: Option<&Typed>, command: &str) -> String {
    let line = typed.and_then(|it| it.for_stack(command));
    line.unwrap_or_else(|| format!("kusion {command} DIR"))
}

/// Returns a command on the same state store.
fn for_store(typed: Option<&Typed>, command: &str) -> String {
    typed.map_or_else(|| format!("kusion {command}"), |it| it.for_store(command))
}

fn of_many(many: &ManyStacks, typed: Option<&Typed>) -> String {
    let ManyStacks { command, example, .. } = many;
    let site = typed.map(Typed::site).unwrap_or_default();
    let all = again(typed, "--all", &format!("to {command} all of them"));
    format!(
        "name the folder of each stack or project, such as `kusion {command} {example}{site}`, or \
         {all}"
    )
}

fn of_new_sandbox(name: &str, near: Option<&str>) -> String {
    let near = near.map(|it| format!("did you mean `--sandbox={it}`? ")).unwrap_or_default();
    let list = "`kusion sandbox list` lists the sandboxes";
    format!("{near}{list}, and `kusion sandbox up --name {name}` starts a new one")
}

/// Returns the hint for a folder that does not exist: it was meant as the name of a sandbox, or
/// mistyped.
fn of_folder(error: &GenerateError, typed: Option<&Typed>) -> Option<String> {
    let GenerateError::Find(FindError::Unreadable { path, .. }) = error else { return None };
    let word = path.file_name()?.to_str()?;
    if std::fs::symlink_metadata(path).is_ok() {
        return None;
    }
    if typed.is_some_and(|it| it.is_after_sandbox(word)) && home::sandbox(word).is_ok() {
        return Some(format!("to use the sandbox `{word}`, write `--sandbox={word}`"));
    }
    let above = path.parent().filter(|it| it.is_dir())?;
    let names: Vec<String> = std::fs::read_dir(above)
        .ok()?
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let near = nearest(word, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", above.join(near).display()))
}

/// Returns the hint for untrusted settings.
fn of_untrusted(settings: &[RiskySetting]) -> String {
    let mut folders: Vec<String> =
        settings.iter().map(|it| quoted(&it.folder.display().to_string())).collect();
    folders.dedup();
    format!(
        "if you trust the authors of this repository, run `kusion trust {}`, or pass `--trust` to \
         trust its settings once",
        folders.join(" ")
    )
}

/// Returns the hint for an error of the engine.
fn of_engine(error: &EngineError, typed: Option<&Typed>) -> Option<String> {
    Some(match error {
        EngineError::Store(error) => return of_store(error, typed),
        EngineError::Runtime(RuntimeError::Unavailable(_)) => of_unavailable(typed),
        EngineError::Ambiguous { id, .. } => {
            let repair = for_stack(typed, "state repair");
            let (adopt, forget) = (quoted(&format!("{id}=OBJECT")), quoted(id.as_str()));
            format!(
                "if it exists, run `{repair} --adopt {adopt}` with its id; if not, run `{repair} \
                 --forget {forget}`"
            )
        }
        EngineError::Runtime(RuntimeError::Unusable { command, .. }) => {
            let command = (*command)?;
            let line = typed.and_then(|it| it.for_folder(command));
            format!("run `{}`", line.unwrap_or_else(|| format!("kusion {command} DIR")))
        }
        EngineError::Guarded(_) if error.code() == "conflict" => {
            "pass `--force-conflicts` to take these fields over, `--ignore-fields RULE` to keep \
             their live values, or remove them from the stack"
                .to_owned()
        }
        EngineError::OtherSource { .. } => format!(
            "if the files moved, run `{}`; if these are two stacks, rename one of them, or its \
             project",
            for_stack(typed, "stack move")
        ),
        EngineError::OtherInfrastructure { .. } => {
            let option = "--move-to-cluster";
            let moved = typed.and_then(|it| it.with(option));
            let moved = moved.unwrap_or_else(|| format!("{} {option}", for_stack(typed, "apply")));
            format!(
                "if the stack moved to this cluster, run `{moved}`; if it runs on both clusters, \
                 pass `--place NAME` for the second one"
            )
        }
        EngineError::Pinned { found, .. } => format!(
            "if the stack belongs to this cluster, set `cluster.id` in stack.yaml to `{}`",
            found.id
        ),
        EngineError::Targets(targets) => {
            let word = targets.first().map_or("", String::as_str);
            let pattern = quoted(&format!("*{}*", word.trim_matches('*')));
            format!(
                "pass the id of a resource as the plan shows it; `*` matches any text, as in `--target {pattern}`"
            )
        }
        EngineError::NoResources { .. } => {
            format!("run `{}` first", for_stack(typed, "apply"))
        }
        EngineError::SavedPlan(SavedPlanError::OtherKey { .. }) => SHARE_KEY.to_owned(),
        EngineError::SavedPlan(SavedPlanError::OtherStack { .. }) => {
            "pass the folder of that stack, and its `--sandbox` or `--place`".to_owned()
        }
        EngineError::SavedPlan(SavedPlanError::NotAPlan(_)) => {
            format!("run `{} --save FILE` to save a plan", for_stack(typed, "preview"))
        }
        EngineError::SavedPlan(_) => {
            format!("run `{} --save FILE` to save a new plan", for_stack(typed, "preview"))
        }
        _ => return None,
    })
}

/// Returns the hint for a cluster that does not answer, or is not known.
fn of_unavailable(typed: Option<&Typed>) -> String {
    let is_typed = |id| typed.is_some_and(|it| it.is_typed(id));
    if is_typed("sandbox") {
        return "run `kusion sandbox list` to see whether it is running".to_owned();
    }
    let typed = typed.filter(|_| !is_typed("kubeconfig") && !is_typed("context"));
    again(typed, "--sandbox", "to use an embedded cluster on this machine")
}

/// The hint on how to share the encryption key.
const SHARE_KEY: &str = "run `kusion key export` on the machine that has the key and `kusion \
 key import` here, or set `KUSION_KEY`";

/// Returns the hint for an error of a store.
fn of_store(error: &StoreError, typed: Option<&Typed>) -> Option<String> {
    Some(match error {
        StoreError::Held { .. } => match typed.and_then(|it| it.with("--lock-wait 1m")) {
            Some(line) => format!("run `{line}` to wait for the lock"),
            None => "run the command again when the other one has ended".to_owned(),
        },
        StoreError::OtherKey { .. } => {
            let replace = for_store(typed, "key replace --lost");
            format!("{SHARE_KEY}; if the key is lost, run `{replace}` to use a new one")
        }
        StoreError::Older { .. } => format!(
            "run `{}` to move the data away; the next apply then adopts the live resources",
            for_store(typed, "state set-aside")
        ),
        StoreError::Newer { .. } => "install a newer version of kusion".to_owned(),
        _ => return None,
    })
}
