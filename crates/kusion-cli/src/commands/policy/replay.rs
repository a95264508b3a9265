//! `kusion policy replay`.

use crate::arguments::{FolderArgs, SiteArgs};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::style::one_line;
use crate::view::words::{self, of_operation};
use crate::view::{self, Color, Output, PlanOutput, View};
use base_system::{OsSystem, System as _};
use kusion_app::policies::{ReplayError, ReplayedRelease, replay};
use kusion_app::wire::ReplayDocument;
use kusion_generate::{PolicyFolder, RepositoryPolicies, Stack};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `kusion policy replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    /// Number of releases
    #[arg(long, value_name = "N", default_value_t = 10)]
    last: usize,
    /// Folder of policies to evaluate instead of those of the stack
    #[arg(long, value_name = "DIR")]
    policies: Option<PathBuf>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Shows what policies would have found in earlier releases.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let stack = args.folders.find_one()?;
    let policies = policies(args, &stack)?;
    let view = View::new(PlanOutput::Text, Color::Never);
    let replayed = interrupt::read(async {
        let mut opener = args.site.opener(&view)?;
        let open = opener.open(&stack).await?;
        let done = replay(&stack, &open, &policies, args.last).await;
        opener.close().await;
        done.map_err(|error| match error {
            ReplayError::Policies(error) => Failure::Generate(error),
            ReplayError::Engine(error) => Failure::Engine(error),
        })
    })?;
    view::result(&match args.output {
        Output::Text => text(&replayed),
        Output::Json => ReplayDocument::new(&replayed).text(),
    })?;
    Ok(Exit::Success)
}

fn policies(args: &Args, stack: &Stack) -> Result<RepositoryPolicies, Failure> {
    let Some(folder) = &args.policies else {
        return Ok(RepositoryPolicies::of_stack(&OsSystem, stack)?);
    };
    let work_dir = OsSystem.current_dir().map_err(Failure::file("read", "."))?;
    let path = work_dir.join(folder);
    let path = OsSystem.canonicalize(&path).map_err(Failure::file("read", folder))?;
    let found = PolicyFolder::open(&OsSystem, &path, &work_dir)?;
    let missing = || Failure::Usage(format!("there are no policies in {}", folder.display()));
    Ok(RepositoryPolicies { folders: vec![found.ok_or_else(missing)?] })
}

fn text(releases: &[ReplayedRelease]) -> String {
    let mut text = String::new();
    let mut n_blocked = 0;
    for release in releases {
        let blocking = release.findings.iter().filter(|it| it.blocks(&[])).count();
        n_blocked += usize::from(blocking > 0);
        let verdict = match (blocking, release.findings.len()) {
            (0, 0) => "no findings".to_owned(),
            (0, all) => words::count(all, "warning"),
            (n, _) => format!("blocked by {}", words::count(n, "finding")),
        };
        let operation = of_operation(release.operation);
        let _ = writeln!(text, "release {} ({operation}): {verdict}", release.revision);
        for finding in &release.findings {
            let line = format!("{}: {}", finding.policy, finding.text());
            let _ = writeln!(text, "  {:<8}{}", finding.level.name(), one_line(&line));
        }
    }
    let n_releases = words::count(releases.len(), "release");
    let _ = writeln!(text, "{n_releases}: {n_blocked} would have been blocked");
    text
}
