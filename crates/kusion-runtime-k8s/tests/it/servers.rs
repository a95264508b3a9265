//! Servers that are hostile, or that allow little, and ways to reach a server.

use crate::cluster::owner;
use kusion_model::InfrastructureId;
use kusion_runtime::{Runtime as _, RuntimeError};
use kusion_runtime_k8s::{ClusterSource, KubernetesRuntime, Options, copy};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// Starts a server that answers every connection with a function; returns its address.
fn serve(answer: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    address
}

/// Reads what a client sends first.
fn first_bytes(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let count = stream.read(&mut bytes).unwrap_or_default();
    bytes.truncate(count);
    bytes
}

/// Writes a kubeconfig for a server.
fn config(server: &str, proxy: Option<&str>) -> ClusterSource {
    let proxy = proxy.map(|it| format!(", proxy-url: '{it}'")).unwrap_or_default();
    ClusterSource::Text(format!(
        "{{clusters: [{{name: a, cluster: {{server: '{server}'{proxy}}}}}], \
          users: [{{name: a, user: {{token: t}}}}], \
          contexts: [{{name: a, context: {{cluster: a, user: a}}}}], current-context: a}}"
    ))
}

async fn identity(source: &ClusterSource) -> Result<InfrastructureId, RuntimeError> {
    let runtime = KubernetesRuntime::connect(source, Options::default(), &owner()).await?;
    runtime.identity().await
}

fn answering(status: &'static str, body: &'static str) -> String {
    serve(move |mut stream| {
        first_bytes(&mut stream);
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        );
    })
}

#[tokio::test]
async fn an_endless_response_is_cut_off() {
    let address = serve(|mut stream| {
        first_bytes(&mut stream);
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    });
    let refused = identity(&config(&format!("http://{address}"), None)).await;
    let message = refused.expect_err("it never ends").to_string();
    assert!(message.contains("more than 16 MiB"), "{message}");
}

#[tokio::test]
async fn a_list_without_end_is_cut_off() {
    let address = serve(|mut stream| {
        let request = String::from_utf8_lossy(&first_bytes(&mut stream)).into_owned();
        let body = match request.split(' ').nth(1).unwrap_or_default() {
            "/api" => r#"{"kind": "APIVersions", "versions": ["v1"]}"#,
            "/apis" => r#"{"kind": "APIGroupList", "groups": []}"#,
            "/api/v1" => {
                r#"{"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": true,
                    "verbs": ["list", "delete"]}]}"#
            }
            _ => r#"{"metadata": {"continue": "more"}, "items": null}"#,
        };
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            body.len()
        );
    });
    let source = config(&format!("http://{address}"), None);
    let message = copy(&source, &source, &[]).await.expect_err("it never ends").to_string();
    assert!(message.contains("more than 2000 pages"), "{message}");
}

#[tokio::test]
async fn a_user_who_may_read_little_knows_the_cluster_by_its_address() {
    let body = r#"{"kind": "Status", "message": "namespaces is forbidden", "code": 403}"#;
    let address = answering("403 Forbidden", body);
    let found = identity(&config(&format!("http://{address}"), None)).await.expect("known");
    assert!(found.is_by_address() && found.name.contains(&address), "{found}");
}

#[tokio::test]
async fn rejected_credentials_are_said_as_such() {
    let body = r#"{"kind": "Status", "message": "Unauthorized", "code": 401}"#;
    let address = answering("401 Unauthorized", body);
    let refused = identity(&config(&format!("http://{address}"), None)).await;
    let message = refused.expect_err("no access").to_string();
    assert!(message.contains("rejected the credentials of the kubeconfig (401)"), "{message}");
    assert!(!message.contains("cannot reach"), "{message}");
}

#[tokio::test]
async fn proxies_of_the_kubeconfig_are_used() {
    for (scheme, first) in [("http", &b"CONNECT 192.0.2.1:6443 "[..]), ("socks5", &[5][..])] {
        let (sender, seen) = mpsc::channel();
        let address = serve(move |mut stream| {
            let _ = sender.send(first_bytes(&mut stream));
        });
        let source = config("https://192.0.2.1:6443", Some(&format!("{scheme}://{address}")));
        let refused = identity(&source).await.expect_err("the proxy hangs up");
        let bytes = seen.try_recv().unwrap_or_else(|_| panic!("{scheme}: {refused}"));
        assert!(bytes.starts_with(first), "{scheme}: {}", String::from_utf8_lossy(&bytes));
    }
}
