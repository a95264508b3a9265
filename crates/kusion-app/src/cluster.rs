//! The cluster of a stack.

use crate::error::AppError;
use kusion_generate::Stack;
use kusion_runtime_k8s::{ClusterSource, ConfigOwner};
use std::path::PathBuf;

/// The cluster that the user requests for stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterRequest {
    /// A running sandbox.
    Sandbox {
        /// Its name.
        name: String,
        /// Its kubeconfig.
        kubeconfig: PathBuf,
    },
    /// A cluster of a kubeconfig.
    Kubeconfig {
        /// The file; `None` means that of the stack, else those that kubectl uses.
        file: Option<PathBuf>,
        /// The context; `None` means that of the stack, else the default one.
        context: Option<String>,
        /// The context of stacks that name neither a context nor a kubeconfig; `None` means the
        /// current one.
        default_context: Option<String>,
    },
}

/// The cluster of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The source of its connection.
    pub source: ClusterSource,
    /// Its kubeconfig, where it is one file.
    pub kubeconfig: Option<PathBuf>,
    /// The name of the sandbox, if it is one.
    pub sandbox: Option<String>,
}

impl ClusterRequest {
    /// Returns the name of the requested sandbox.
    pub(crate) fn sandbox(&self) -> Option<&str> {
        match self {
            Self::Sandbox { name, .. } => Some(name),
            Self::Kubeconfig { .. } => None,
        }
    }

    /// Returns the kubeconfig in the files of a stack, if it is used.
    pub(crate) fn file_of_stack(&self, stack: &Stack) -> Option<PathBuf> {
        match self {
            Self::Kubeconfig { file: None, .. } => {
                let file = stack.file.kube_config.as_ref().filter(|it| !it.is_empty())?;
                Some(stack.folder.join(file))
            }
            _ => None,
        }
    }

    /// Checks that the request names no other context than the only one of a stack.
    pub(crate) fn check_pin(&self, stack: &Stack) -> Result<(), AppError> {
        let Self::Kubeconfig { context: Some(asked), .. } = self else { return Ok(()) };
        match &stack.file.cluster.context {
            Some(pinned) if pinned != asked => Err(AppError::Pinned {
                stack: stack.qualified_name(),
                pinned: pinned.clone(),
                asked: asked.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the cluster of a stack; without its files, only the request counts.
    pub(crate) fn of_stack(&self, stack: Option<&Stack>) -> Cluster {
        let of_stack = stack.and_then(|it| self.file_of_stack(it));
        let owner = match of_stack {
            Some(_) => ConfigOwner::Repository,
            None => ConfigOwner::User,
        };
        let (kubeconfig, context, sandbox) = match self {
            Self::Sandbox { name, kubeconfig } => {
                (Some(kubeconfig.clone()), None, Some(name.clone()))
            }
            Self::Kubeconfig { file, context, default_context } => {
                let of_file = stack.map(|it| &it.file);
                let pinned = || of_file?.cluster.context.clone();
                let context = context.clone().or_else(pinned).or_else(|| of_file?.context.clone());
                let kubeconfig = file.clone().or(of_stack);
                // A name of the user's own kubeconfig says nothing in another one.
                let default = default_context.clone().filter(|_| kubeconfig.is_none());
                (kubeconfig, context.or(default), None)
            }
        };
        let source = ClusterSource::Found { kubeconfig: kubeconfig.clone(), context, owner };
        Cluster { source, kubeconfig, sandbox }
    }
}
