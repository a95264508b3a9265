//! `kusion policy list`.

use super::folder::PolicyFolderArgs;
use crate::failure::{Exit, Failure};
use crate::view::style::{one_line, table};
use crate::view::{self, Output};
use base_system::OsSystem;
use kusion_app::wire::PoliciesDocument;

/// Arguments of `kusion policy list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folder: PolicyFolderArgs,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Lists the policies of a folder.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let set = args.folder.open()?.read(&OsSystem)?;
    let text = match args.output {
        Output::Json => PoliciesDocument::new(set.policies).text(),
        Output::Text => {
            let mut rows = vec![["POLICY", "LEVEL", "ON", "TITLE"].map(str::to_owned).to_vec()];
            rows.extend(set.policies.iter().map(|it| {
                let (name, title) = (one_line(&it.name), one_line(it.title()));
                vec![name, it.level().to_string(), it.target().name().to_owned(), title]
            }));
            table(&rows)
        }
    };
    view::result(&text)?;
    Ok(Exit::Success)
}
