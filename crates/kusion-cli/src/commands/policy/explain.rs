//! `kusion policy explain`.

use super::folder::PolicyFolderArgs;
use crate::failure::{Exit, Failure};
use crate::view;
use crate::view::style::one_line;
use base_system::OsSystem;
use base_text::nearest;
use kusion_policy::{Exception, Policy};
use std::fmt::Write as _;

/// Arguments of `kusion policy explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the policy, such as `images/pinned`
    #[arg(value_name = "POLICY")]
    name: String,
    #[command(flatten)]
    folder: PolicyFolderArgs,
}

/// Shows a policy.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let set = args.folder.open()?.read(&OsSystem)?;
    let name = args.name.as_str();
    let Some(policy) = set.policies.iter().find(|it| it.name == name) else {
        let near = nearest(name, set.policies.iter().map(|it| it.name.as_str()));
        let near = near.map_or(String::new(), |it| format!("; did you mean `{it}`?"));
        return Err(Failure::Usage(format!("there is no policy `{name}`{near}")));
    };
    view::result(&text(policy, &set.exceptions))?;
    Ok(Exit::Success)
}

fn text(policy: &Policy, exceptions: &[Exception]) -> String {
    let mut text = format!("{}: {}\n", one_line(&policy.name), one_line(policy.title()));
    if !policy.description().is_empty() {
        let _ = writeln!(text, "\n{}\n", policy.description().trim());
    }
    let role = match policy.role() {
        "" => String::new(),
        role => format!(" by {role}"),
    };
    let labels: Vec<String> = policy.labels().iter().map(|(k, v)| format!("{k}={v}")).collect();
    let rows = [
        ("level", format!("{}{role}", policy.level())),
        ("on", policy.target().name().to_owned()),
        ("kinds", policy.kinds().join(", ")),
        ("labels", labels.join(", ")),
        ("projects", policy.projects().join(", ")),
        ("stacks", policy.stacks().join(", ")),
        ("cells", policy.cells().unwrap_or_default().to_owned()),
        ("fix", policy.fix().to_owned()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "{name:<10}{}", one_line(value));
    }
    for it in exceptions.iter().filter(|it| kusion_plan::is_match(&it.policy, &policy.name)) {
        let resources = match it.resources.join(", ") {
            all if all.is_empty() => "all resources".to_owned(),
            some => some,
        };
        let line = format!("{resources}, until {}, by {}: {}", it.expires, it.owner, it.reason);
        let _ = writeln!(text, "{:<10}{}", "exception", one_line(&line));
    }
    text
}
