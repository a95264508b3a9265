//! The way to a cluster.

use crate::cluster::{Cluster, owner};
use kusion_runtime::{Runtime as _, RuntimeError};
use kusion_runtime_k8s::{ClusterSource, ConfigOwner, KubernetesRuntime, Options};

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_is_known_by_a_uid_that_stays() {
    let cluster = Cluster::start().await;
    let uid = cluster.runtime.identity().await.expect("a uid");
    assert_eq!(uid.id.len(), 36);
    let source = ClusterSource::Text(cluster.kubeconfig.clone());
    let again =
        KubernetesRuntime::connect(&source, Options::default(), &owner()).await.expect("a runtime");
    assert_eq!(again.identity().await.expect("a uid"), uid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_context_is_named_with_those_that_exist() {
    let cluster = Cluster::start().await;
    let folder = std::env::temp_dir().join(format!("kusion-connect-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("config");
    std::fs::write(&path, &cluster.kubeconfig).expect("a file");
    let connect = async |context: &str| {
        let context = Some(context.to_owned());
        let source = ClusterSource::Found {
            kubeconfig: Some(path.clone()),
            context,
            owner: ConfigOwner::User,
        };
        match KubernetesRuntime::connect(&source, Options::default(), &owner()).await {
            Ok(_) => String::new(),
            Err(RuntimeError::Unavailable(message)) => message,
            Err(error) => panic!("{error}"),
        }
    };
    let message = connect("nonsuch").await;
    assert!(message.contains("has no context `nonsuch`; available: `"), "{message}");
    assert!(message.contains(&path.display().to_string()), "{message}");
    let missing = folder.join("missing");
    let source =
        ClusterSource::Found { kubeconfig: Some(missing), context: None, owner: ConfigOwner::User };
    let error = KubernetesRuntime::connect(&source, Options::default(), &owner()).await.err();
    assert!(error.is_some_and(|error| error.to_string().contains("cannot read the kubeconfig")));
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_unavailable() {
    let text = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n\
                contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n";
    let source = ClusterSource::Text(text.to_owned());
    let runtime =
        KubernetesRuntime::connect(&source, Options::default(), &owner()).await.expect("a runtime");
    let error = runtime.identity().await.expect_err("no server");
    assert!(
        matches!(&error, RuntimeError::Unavailable(text) if text.contains("127.0.0.1:1")),
        "{error}"
    );
}
