//! `kusion provider list`.

use super::{StackProviders, shown};
use crate::arguments::ViewArgs;
use crate::failure::Failure;
use crate::view::style::one_line;
use kusion_app::wire::ProviderLine;
use kusion_runtime_terraform::install::{find_installed, newest};
use std::fmt::Write as _;

/// Arguments of `kusion provider list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stacks: StackProviders,
    #[command(flatten)]
    view: ViewArgs,
}

/// Lists the providers that stacks need.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.view.show(|view| {
        let providers = args.stacks.providers()?;
        let groups = args.stacks.find()?;
        if groups.is_empty() {
            view.text("no stack needs a Terraform provider\n");
        }
        for group in &groups {
            let lock_file = shown(&group.path);
            let mut text = format!("{}\n", one_line(&lock_file));
            for requirement in &group.requirements {
                let address = &requirement.address;
                let locked = group.lock.get(address).map(|it| it.version.clone());
                let version = match &locked {
                    Some(version) => Some(version.clone()),
                    None => newest(&providers.mirrors, requirement).map(|it| it.to_string()),
                };
                let installed = match &version {
                    Some(version) => find_installed(&providers.mirrors, address, version),
                    None => Ok(None),
                };
                let installed = installed.map_err(Failure::Provider)?;
                let line = ProviderLine {
                    address: address.to_string(),
                    constraints: requirement.constraints.to_string(),
                    locked,
                    lock_file: lock_file.clone(),
                    installed: installed.map(|it| it.folder),
                    overridden_by: providers.overrides.get(address).cloned(),
                };
                let _ = writeln!(text, "  {}", of_line(&line));
                view.json(&line);
            }
            view.text(&text);
        }
        Ok(())
    })
}

fn of_line(line: &ProviderLine) -> String {
    let ProviderLine { address, constraints, .. } = line;
    let locked = match &line.locked {
        Some(version) => format!("locked {version}"),
        None => "not locked".to_owned(),
    };
    let place = match (&line.overridden_by, &line.installed) {
        (Some(folder), _) => format!("development override {}", folder.display()),
        (None, Some(folder)) => format!("installed in {}", folder.display()),
        (None, None) => "not installed".to_owned(),
    };
    one_line(&format!("{address} `{constraints}`: {locked}, {place}"))
}
