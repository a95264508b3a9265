//! Options of the cluster.

use crate::commands::sandbox;
use crate::failure::Failure;
use kusion_app::Cluster;
use kusion_generate::Stack;
use kusion_runtime_k8s::ClusterSource;
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
    /// Returns the cluster of a stack; starts the sandbox if it is requested and not running.
    pub(crate) fn choose(&self, stack: &Stack) -> Result<Cluster, Failure> {
        if let Some(name) = &self.sandbox {
            let kubeconfig = sandbox::ensure(name)?.kubeconfig()?;
            let source =
                ClusterSource::Found { kubeconfig: Some(kubeconfig.clone()), context: None };
            let sandbox = Some(name.clone());
            return Ok(Cluster { source, kubeconfig: Some(kubeconfig), sandbox });
        }
        let of_stack = || {
            let file = stack.file.kube_config.as_ref().filter(|it| !it.is_empty())?;
            Some(stack.folder.join(file))
        };
        let kubeconfig = self.kubeconfig.clone().or_else(of_stack);
        let source =
            ClusterSource::Found { kubeconfig: kubeconfig.clone(), context: self.context.clone() };
        Ok(Cluster { source, kubeconfig, sandbox: None })
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
