//! Options of the cluster and of the state store.

use super::{BackendArgs, ClusterArgs, ProviderArgs, SandboxStart};
use crate::commands::stack::StackName;
use crate::failure::Failure;
use crate::home;
use crate::view::View;
use base_system::OsSystem;
use clap::builder::FalseyValueParser;
use kusion_app::{App, ClusterRequest, OpenStack, Site, UserConfig};
use kusion_engine::EventSink;
use kusion_generate::Stack;
use kusion_secret::KEY_VARIABLE;
use kusion_store::StackState;
use std::sync::Arc;
use std::time::Duration;

/// The cluster and the state store of stacks.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SiteArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    /// Trust all settings of the repository, such as `kubeConfig` in `stack.yaml`; see `kusion help
    /// repositories`
    #[arg(long, env = "KUSION_TRUST", value_parser = FalseyValueParser::new(), hide_env_values = true)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) providers: ProviderArgs,
}

/// Whether `KUSION_TRUST` says that all settings of repositories are trusted, for commands without
/// `--trust`.
pub(crate) fn trusts_by_environment() -> bool {
    // As clap reads variables that are flags.
    let falsy = ["", "n", "no", "f", "false", "off", "0"];
    let value = std::env::var("KUSION_TRUST").unwrap_or_default().to_lowercase();
    !falsy.contains(&value.as_str())
}

/// The longest time to wait until stores are closed.
const CLOSE: Duration = Duration::from_secs(2);
/// The number of parallel calls of read-only commands.
const READS: usize = 16;

/// Opens the stacks of a command.
pub(crate) struct Opener<'a> {
    app: App,
    site: &'a SiteArgs,
    start: SandboxStart,
    config: UserConfig,
    /// The cluster, once it was needed.
    cluster: Option<ClusterRequest>,
}

impl SiteArgs {
    /// Checks that the user does not name one cluster for several cells to which `stack.yaml` gives
    /// clusters. Commands for several stacks call it before they open one.
    pub(crate) fn check_named_cluster<'s>(
        &self,
        stacks: impl IntoIterator<Item = &'s Stack>,
    ) -> Result<(), Failure> {
        if !self.cluster.is_given() {
            return Ok(());
        }
        let has_cluster =
            |stack: &&Stack| stack.cell.as_ref().is_some_and(|it| it.cluster.is_some());
        let mut cells = stacks.into_iter().filter(has_cluster).map(Stack::full_name);
        match (cells.next(), cells.next()) {
            (Some(first), Some(second)) => Err(Failure::Usage(format!(
                "a cluster is named for {first} and {second}, but `clusters` in stack.yaml gives \
                 each cell its own; select one cell with `--cell`"
            ))),
            _ => Ok(()),
        }
    }

    /// Creates an opener for read-only commands.
    pub(crate) fn opener(&self, view: &Arc<View>) -> Result<Opener<'_>, Failure> {
        self.opener_with(view, READS, SandboxStart::Known)
    }

    /// Creates an opener with a number of parallel calls, for a command that may start sandboxes.
    pub(crate) fn opener_with(
        &self,
        view: &Arc<View>,
        parallel_calls: usize,
        start: SandboxStart,
    ) -> Result<Opener<'_>, Failure> {
        let events: Arc<dyn EventSink> = Arc::clone(view) as Arc<dyn EventSink>;
        let config = user_config()?;
        let runtimes = self.providers.runtimes(&config)?;
        let app = app(events, parallel_calls)?.with_runtimes(runtimes);
        Ok(Opener { app, site: self, start, config, cluster: None })
    }
}

/// Creates an app with the local data and the encryption key of this user.
pub(crate) fn app(events: Arc<dyn EventSink>, parallel_calls: usize) -> Result<App, Failure> {
    let key = std::env::var(KEY_VARIABLE).ok();
    Ok(App::new(events, &home::folder()?, key.as_deref(), parallel_calls)?)
}

/// Reads the settings of the user.
pub(crate) fn user_config() -> Result<UserConfig, Failure> {
    match home::config_file() {
        Some(path) => Ok(UserConfig::read(&OsSystem, &path)?),
        None => Ok(UserConfig::default()),
    }
}

impl Opener<'_> {
    /// Opens a stack.
    pub(crate) async fn open(&mut self, stack: &Stack) -> Result<OpenStack, Failure> {
        let site = self.site_of(stack)?;
        Ok(self.app.open(stack, &site).await?)
    }

    /// Opens a recorded stack without its files, and reads its state; fails if it has none.
    pub(crate) async fn open_recorded(
        &mut self,
        name: &StackName,
    ) -> Result<(OpenStack, StackState), Failure> {
        let site = self.site()?;
        let open = self.app.open_recorded([&name.project, &name.stack, &name.cell], &site).await?;
        let state = open.stack.engine().store().read(open.key()).await?;
        if state.seq == 0 {
            return Err(Failure::NoStack(open.key().clone()));
        }
        Ok((open, state))
    }

    /// Returns the site of a stack: the cluster that `clusters` of its `stack.yaml` names for its
    /// cell, unless the user names one (see [`SiteArgs::check_named_cluster`]).
    fn site_of(&mut self, stack: &Stack) -> Result<Site, Failure> {
        let Some(name) = stack.cell.as_ref().and_then(|cell| cell.cluster.as_deref()) else {
            return self.site();
        };
        if self.site.cluster.is_given() {
            return self.site();
        }
        let cluster = ClusterArgs::of_cell(name, self.start)?;
        Ok(Site { cluster, ..self.site_with(None) })
    }

    fn site(&mut self) -> Result<Site, Failure> {
        let cluster = match &self.cluster {
            Some(cluster) => cluster.clone(),
            None => {
                let is_named = self.site.backend.place.is_some();
                self.site.cluster.request(&self.config, self.start, is_named)?
            }
        };
        self.cluster = Some(cluster.clone());
        Ok(self.site_with(Some(cluster)))
    }

    fn site_with(&self, cluster: Option<ClusterRequest>) -> Site {
        let default =
            ClusterRequest::Kubeconfig { file: None, context: None, default_context: None };
        Site {
            cluster: cluster.unwrap_or(default),
            backend: self.site.backend.backend.clone(),
            default_backend: self.config.backend.clone(),
            place: self.site.backend.place.clone(),
            is_trusted: self.site.trust,
        }
    }

    /// Closes what was opened; waits only for a moment.
    pub(crate) async fn close(&mut self) {
        let _ = tokio::time::timeout(CLOSE, self.app.close()).await;
    }

    /// Returns the app.
    pub(crate) fn app(&self) -> &App {
        &self.app
    }
}
