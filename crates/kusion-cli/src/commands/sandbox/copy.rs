//! Copies of a live cluster in a new sandbox.

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::interrupt;
use kusion_runtime_k8s::{ClusterSource, ConfigOwner, Copied, copy};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Number of refused objects that are listed.
const SHOWN: usize = 5;

/// Options for the objects of a new sandbox.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct CopyArgs {
    /// Copy the objects of the cluster of this kubeconfig; values of Secrets are replaced
    #[arg(long, value_name = "KUBECONFIG", conflicts_with = "foreground")]
    from: Option<PathBuf>,
    /// Copy the objects of this namespace only, and those without a namespace; can be repeated
    #[arg(long, value_name = "NAME", requires = "from")]
    namespace: Vec<String>,
}

impl CopyArgs {
    /// Returns whether objects are to be copied.
    pub(crate) fn is_requested(&self) -> bool {
        self.from.is_some()
    }

    /// Copies the objects, if that is requested; returns what to tell the user.
    pub(crate) fn copy_to(&self, target: &Daemon) -> Result<Option<String>, Failure> {
        let Some(kubeconfig) = &self.from else { return Ok(None) };
        let source = |kubeconfig: PathBuf| ClusterSource::Found {
            kubeconfig: Some(kubeconfig),
            context: None,
            owner: ConfigOwner::User,
        };
        let (from, to) = (source(kubeconfig.clone()), source(target.kubeconfig()?));
        let copied = interrupt::read(async {
            let copied = copy(&from, &to, &self.namespace).await;
            let kubeconfig = kubeconfig.clone();
            copied.map_err(|error| Failure::Copy { kubeconfig, why: error.to_string() })
        })?;
        Ok(Some(text(&copied)))
    }
}

fn text(copied: &Copied) -> String {
    let mut text = format!("copied {} objects\n", copied.objects);
    if !copied.forbidden.is_empty() {
        let _ = writeln!(
            text,
            "not copied: {} (listing them is forbidden)",
            copied.forbidden.join(", ")
        );
    }
    for (object, message) in copied.refused.iter().take(SHOWN) {
        let _ = writeln!(text, "not copied: {object}: {message}");
    }
    if copied.refused.len() > SHOWN {
        let _ = writeln!(text, "not copied: {} more", copied.refused.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_copied_is_named() {
        let refused = |n: usize| (format!("Pod a/{n}"), "no".to_owned());
        let copied = Copied {
            objects: 12,
            forbidden: vec!["secrets".into(), "nodes".into()],
            refused: (0..7).map(refused).collect(),
        };
        let text = text(&copied);
        assert!(text.starts_with(
            "copied 12 objects\nnot copied: secrets, nodes (listing them is forbidden)\nnot copied: \
             Pod a/0: no\n"
        ));
        assert!(text.ends_with("not copied: Pod a/4: no\nnot copied: 2 more\n"), "{text}");
    }
}
