//! `kusion trust`.

use crate::failure::Failure;
use crate::view::style::one_line;
use crate::{home, view};
use base_system::{OsSystem, System as _};
use kusion_app::ClusterRequest;
use kusion_app::trust::{
    RiskySetting, Trust, backend_setting, hosts_setting, kubeconfig_setting, plugin_settings,
    provider_settings,
};
use kusion_generate::{CompileOptions, FindError, GenerateError, compile_each, find};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `kusion trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders of stacks or projects, or folders above them
    #[arg(value_name = "DIR", required_unless_present = "list", conflicts_with = "list")]
    folders: Vec<PathBuf>,
    /// Withdraw the trust
    #[arg(long)]
    remove: bool,
    /// List what is trusted
    #[arg(long, conflicts_with = "remove")]
    list: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut trust = Trust::open(&OsSystem, &home::folder()?)?;
    let text = if args.list {
        list(&trust)
    } else if args.remove {
        remove(&mut trust, &args.folders)?
    } else {
        add(&mut trust, &args.folders)?
    };
    view::result(&text)
}

fn list(trust: &Trust) -> String {
    let mut text = String::new();
    for trusted in trust.settings() {
        let _ = writeln!(text, "{}  {}", trusted.folder.display(), trusted.setting);
    }
    if text.is_empty() { "nothing is trusted\n".to_owned() } else { text }
}

fn remove(trust: &mut Trust, folders: &[PathBuf]) -> Result<String, Failure> {
    let mut removed = Vec::new();
    for folder in folders {
        removed.extend(trust.remove(&OsSystem, folder)?);
    }
    Ok(match removed.len() {
        0 => "nothing below this folder was trusted\n".to_owned(),
        count => format!("{} no longer trusted\n", number(count)),
    })
}

fn add(trust: &mut Trust, folders: &[PathBuf]) -> Result<String, Failure> {
    let request = ClusterRequest::Kubeconfig { file: None, context: None, default_context: None };
    let mut settings = Vec::new();
    let base = OsSystem.current_dir().map_err(Failure::file("read", "."))?;
    // A folder may be a KCL module without stacks.
    for folder in folders {
        settings.extend(plugin_settings(&base.join(folder))?);
    }
    let stacks = match find(&OsSystem, &base, folders) {
        Err(GenerateError::Find(FindError::NoStack(_))) if !settings.is_empty() => Vec::new(),
        found => found?,
    };
    for stack in stacks {
        settings.extend(kubeconfig_setting(&stack, &request)?);
        settings.extend(backend_setting(&stack)?);
        settings.extend(hosts_setting(&stack)?);
        for setting in plugin_settings(&stack.folder)? {
            if !settings.contains(&setting) {
                settings.push(setting);
            }
        }
    }
    settings.extend(of_specs(&base, folders));
    if settings.is_empty() {
        return Ok("there is nothing to trust: no stack has risky settings\n".to_owned());
    }
    std::fs::create_dir_all(home::folder()?).map_err(Failure::file("create", home::folder()?))?;
    trust.add(&OsSystem, &settings)?;
    let mut text = described(&settings);
    let _ = writeln!(text, "{} trusted until something changes", number(settings.len()));
    Ok(text)
}

/// Returns the configurations of providers in the Specs of stacks. Stacks that do not compile have
/// none: nothing is started for them.
fn of_specs(base: &Path, folders: &[PathBuf]) -> Vec<RiskySetting> {
    let options = CompileOptions {
        work_dir: Some(base.to_owned()),
        folders: folders.to_vec(),
        ..CompileOptions::default()
    };
    let compiled = compile_each(&OsSystem, &options).map(|it| it.compiled).unwrap_or_default();
    compiled.iter().flat_map(|it| provider_settings(&it.stack.folder, &it.spec)).collect()
}

fn number(count: usize) -> String {
    if count == 1 { "1 setting is".to_owned() } else { format!("{count} settings are") }
}

/// Describes settings and their effects, one line each.
pub(crate) fn described(settings: &[RiskySetting]) -> String {
    let mut text = String::new();
    for setting in settings {
        let folder = setting.folder.display();
        let value = one_line(&setting.value);
        let _ = writeln!(text, "  {folder}: {} `{value}`", setting.key);
        for effect in &setting.effects {
            let _ = writeln!(text, "    {}", one_line(effect));
        }
    }
    text
}
