//! Options of the cluster.

use crate::commands::sandbox;
use crate::failure::Failure;
use kusion_app::{ClusterRequest, UserConfig};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The cluster of a stack; by default the one that kubectl would use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Use the sandbox with this name; start it if it is not running. Only `kusion apply` starts a
    /// new one other than `default` [default: `KUSION_SANDBOX`, if no other cluster is named]
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "default",
        conflicts_with_all = ["kubeconfig", "context"]
    )]
    pub(crate) sandbox: Option<String>,
    /// Kubeconfig of the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig [default: `KUSION_CONTEXT`, else the context of `stack.yaml`]
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// Which sandboxes a command may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SandboxStart {
    /// The one with the name `default`, and those that were started before: a mistyped name is an
    /// error.
    Known,
    /// Any.
    Any,
}

/// The environment variable with the name of the sandbox.
const SANDBOX: &str = "KUSION_SANDBOX";
/// The environment variable with the context.
const CONTEXT: &str = "KUSION_CONTEXT";

impl ClusterArgs {
    /// Returns the requested cluster: of the command line, else of the environment, else of the
    /// settings of the user, which name no sandbox for a named place. Starts the sandbox if it is
    /// requested and not running.
    pub(crate) fn request(
        &self,
        config: &UserConfig,
        start: SandboxStart,
        is_named_place: bool,
    ) -> Result<ClusterRequest, Failure> {
        let variable = |name| std::env::var(name).ok().filter(|it: &String| !it.is_empty());
        let mut asked = self.clone();
        if self.sandbox.is_none() && self.kubeconfig.is_none() && self.context.is_none() {
            asked.sandbox = variable(SANDBOX);
            asked.context = variable(CONTEXT);
            if asked.sandbox.is_some() && asked.context.is_some() {
                let both = format!("`{SANDBOX}` and `{CONTEXT}` are both set; unset one of them");
                return Err(Failure::Usage(both));
            }
            if asked.context.is_none() {
                asked.sandbox = asked.sandbox.or_else(|| config.sandbox.clone());
            }
            asked.sandbox = asked.sandbox.filter(|_| !is_named_place);
        }
        Ok(match asked.sandbox {
            Some(name) => Self::sandbox(&name, start)?,
            None => ClusterRequest::Kubeconfig {
                file: asked.kubeconfig,
                context: asked.context,
                default_context: config.context.clone(),
            },
        })
    }

    /// Whether the command line or the environment names a cluster.
    pub(crate) fn is_given(&self) -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        self.sandbox.is_some()
            || self.kubeconfig.is_some()
            || self.context.is_some()
            || is_set(SANDBOX)
            || is_set(CONTEXT)
    }

    /// Returns the cluster that `clusters` of a `stack.yaml` names: a context, or `sandbox/NAME`.
    /// Starts the sandbox if it is not running.
    pub(crate) fn of_cell(name: &str, start: SandboxStart) -> Result<ClusterRequest, Failure> {
        Ok(match name.strip_prefix("sandbox/") {
            Some(name) => Self::sandbox(name, start)?,
            None => ClusterRequest::Kubeconfig {
                file: None,
                context: Some(name.to_owned()),
                default_context: None,
            },
        })
    }

    fn sandbox(name: &str, start: SandboxStart) -> Result<ClusterRequest, Failure> {
        let daemon = match start {
            SandboxStart::Any => sandbox::ensure(name)?,
            SandboxStart::Known => sandbox::ensure_known(name)?,
        };
        Ok(ClusterRequest::Sandbox { kubeconfig: daemon.kubeconfig()?, name: name.to_owned() })
    }

    /// Returns the arguments as they are written on a command line.
    pub(crate) fn words(&self) -> String {
        let mut text = String::new();
        match self.sandbox.as_deref() {
            Some("default") => text.push_str(" --sandbox"),
            Some(name) => {
                let _ = write!(text, " --sandbox={name}");
            }
            None => {}
        }
        if let Some(file) = &self.kubeconfig {
            let file = super::stacks::quoted(&file.display().to_string());
            let _ = write!(text, " --kubeconfig {file}");
        }
        if let Some(context) = &self.context {
            let _ = write!(text, " --context {}", super::stacks::quoted(context));
        }
        text
    }
}
