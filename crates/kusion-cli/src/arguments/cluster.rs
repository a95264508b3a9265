//! Options of the cluster.

use crate::commands::sandbox;
use crate::failure::Failure;
use kusion_app::ClusterRequest;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The cluster of a stack; by default the one that kubectl would use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Use the sandbox with this name; start it if it is not running
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
    /// Context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

impl ClusterArgs {
    /// Returns the requested cluster; starts the sandbox if it is requested and not running.
    pub(crate) fn request(&self) -> Result<ClusterRequest, Failure> {
        Ok(match &self.sandbox {
            Some(name) => {
                let kubeconfig = sandbox::ensure(name)?.kubeconfig()?;
                ClusterRequest::Sandbox { name: name.clone(), kubeconfig }
            }
            None => ClusterRequest::Kubeconfig {
                file: self.kubeconfig.clone(),
                context: self.context.clone(),
            },
        })
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
