//! `kusion provider schema`.

use crate::arguments::{ProviderArgs, user_config};
use crate::failure::Failure;
use crate::{interrupt, view};
use base_text::nearest;
use kusion_runtime_terraform::ProviderAddress;

/// Arguments of `kusion provider schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of an installed provider, `[REGISTRY/]NAMESPACE/NAME`
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// Resource type or data source [default: the whole schema]
    #[arg(value_name = "TYPE")]
    type_name: Option<String>,
    /// Constraint of the version, such as `~> 2.5` [default: the newest installed version]
    #[arg(long, value_name = "CONSTRAINT")]
    constraint: Option<String>,
    #[command(flatten)]
    providers: ProviderArgs,
}

/// Prints the schema of a provider.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let address = ProviderAddress::parse_short(&args.address).map_err(Failure::Usage)?;
    let providers = args.providers.providers(&user_config()?)?;
    let schemas = interrupt::read(async {
        let found = providers.schemas(&address, args.constraint.as_deref()).await;
        found.map_err(Failure::Provider)
    })?;
    let json = match args.type_name.as_deref() {
        None => schemas.to_json(),
        Some(name) => {
            let found = schemas.resources.get(name).or_else(|| schemas.data_sources.get(name));
            let schema = found.ok_or_else(|| {
                let known = schemas.resources.keys().chain(schemas.data_sources.keys());
                let near = nearest(name, known.map(String::as_str));
                let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
                Failure::Provider(format!("`{address}` has no type `{name}`{near}"))
            })?;
            schema.to_json()
        }
    };
    view::result(&format!("{json:#}\n"))
}
