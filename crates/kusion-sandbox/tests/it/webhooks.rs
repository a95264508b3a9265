//! Webhooks: what a program at a loopback address is asked, and what its answers do. The texts were
//! seen on a real server.

use data_encoding::BASE64;
use kusion_sandbox::Api;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A program that is asked; the path says what it answers.
struct Program {
    port: u16,
    /// Its certificate, as `caBundle`.
    bundle: String,
    /// The requests that it got.
    asked: Receiver<Value>,
}

impl Program {
    fn start() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a server");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (sender, asked) = channel();
        let config = Arc::new(config);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, sender) = (Arc::clone(&config), sender.clone());
                std::thread::spawn(move || {
                    let connection = ServerConnection::new(config).expect("a connection");
                    // A client that ends the connection early is part of the tests.
                    let _ = serve(StreamOwned::new(connection, stream), &sender);
                });
            }
        });
        Self { port, bundle: BASE64.encode(made.cert.pem().as_bytes()), asked }
    }
}

fn serve(
    mut stream: StreamOwned<ServerConnection, std::net::TcpStream>,
    asked: &Sender<Value>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut part = [0; 4096];
        let n_read = stream.read(&mut part)?;
        bytes.extend_from_slice(&part[..n_read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|it| it.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) || n_read == 0 {
            break (head.to_owned(), body.to_owned());
        }
    };
    let path = head.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
    let review: Value = serde_json::from_str(&body)?;
    let uid = review["request"]["uid"].clone();
    asked.send(review).expect("the test listens");
    let patch = |patch: Value| BASE64.encode(patch.to_string().as_bytes());
    let mut response = json!({"uid": uid, "allowed": true});
    let more = match &*path {
        "/deny" => json!({"allowed": false, "warnings": ["w1", "w2"],
            "status": {"message": "no way", "code": 409, "reason": "Conflict"}}),
        "/silent" => json!({"allowed": false}),
        "/reason" => json!({"allowed": false, "status": {"code": 403, "reason": "Forbidden"}}),
        "/mutate" => json!({"patchType": "JSONPatch",
            "patch": patch(json!([{"op": "add", "path": "/data/hooked", "value": "yes"}]))}),
        "/wrong-patch" => json!({"patchType": "JSONPatch",
            "patch": patch(json!([{"op": "remove", "path": "/data/nope"}]))}),
        "/untyped" => json!({"patch": patch(json!([]))}),
        "/uid" => json!({"uid": "x"}),
        "/slow" => {
            std::thread::sleep(std::time::Duration::from_secs(3));
            json!({})
        }
        _ => json!({}),
    };
    response.as_object_mut().expect("an object").extend(more.as_object().expect("more").clone());
    let answer = match &*path {
        "/empty" => json!({}),
        _ => {
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
        }
    };
    let text = answer.to_string();
    let code = if path == "/500" { 500 } else { 200 };
    write!(stream, "HTTP/1.1 {code} X\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
    stream.flush()
}

fn send(api: &Api, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let headers = [("content-type", "application/json")];
    let (code, bytes) = api.respond(method, target, &headers, body.to_string().into_bytes());
    (code, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

fn cluster() -> Api {
    let api = Api::new();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    assert_eq!(send(&api, "POST", "/api/v1/namespaces", &namespace).0, 201);
    api
}

/// Replaces the only webhook of a cluster.
fn configure(api: &Api, kind: &str, client: &Value, more: &Value) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
    send(api, "DELETE", &format!("{path}/w"), &json!({}));
    let mut hook = json!({
        "name": "w.example.com",
        "clientConfig": client,
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
            "operations": ["CREATE", "UPDATE", "DELETE"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1,
    });
    hook.as_object_mut().expect("a webhook").extend(more.as_object().expect("more").clone());
    let object = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"), "metadata": {"name": "w"},
        "webhooks": [hook]});
    let (code, body) = send(api, "POST", &path, &object);
    assert_eq!(code, 201, "{body}");
}

fn create(api: &Api) -> (u16, Value) {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"x": "1"}});
    send(api, "POST", "/api/v1/namespaces/n/configmaps?dryRun=All&fieldManager=me", &object)
}

#[test]
fn answers_of_webhooks_decide() {
    let (api, program) = (cluster(), Program::start());
    let client = |path: &str| {
        json!({"url": format!("https://127.0.0.1:{}{path}", program.port),
            "caBundle": program.bundle})
    };
    let failed = "Internal error occurred: failed calling webhook \"w.example.com\": ";
    let invalid = format!("{failed}received invalid webhook response: ");
    let url = |path: &str| format!("https://127.0.0.1:{}{path}?timeout=1s", program.port);
    let cases: [(&str, &str, u16, String); 10] = [
        ("Validating", "/ok", 201, String::new()),
        ("Validating", "/deny", 409, "admission webhook \"w.example.com\" denied the request: no way".to_owned()),
        ("Validating", "/silent", 400, "admission webhook \"w.example.com\" denied the request without explanation".to_owned()),
        ("Validating", "/reason", 403, "admission webhook \"w.example.com\" denied the request: Forbidden".to_owned()),
        ("Validating", "/500", 500, format!("{failed}failed to call webhook: an error on the server (\"unknown\") has prevented the request from succeeding")),
        ("Validating", "/empty", 500, format!("{invalid}webhook response was absent")),
        ("Validating", "/untyped", 500, format!("{invalid}validating webhook may not return response.patch")),
        ("Validating", "/slow", 500, format!("{failed}failed to call webhook: Post \"{}\": context deadline exceeded", url("/slow"))),
        ("Mutating", "/untyped", 500, format!("{invalid}webhook returned response.patch but not response.patchType")),
        ("Mutating", "/wrong-patch", 500, "Internal error occurred: error in remove for path: '/data/nope': Unable to remove nonexistent key: nope: missing value".to_owned()),
    ];
    let none = |kind: &str| {
        let plural = format!("{}webhookconfigurations", kind.to_lowercase());
        send(
            &api,
            "DELETE",
            &format!("/apis/admissionregistration.k8s.io/v1/{plural}/w"),
            &json!({}),
        );
    };
    for (kind, path, code, message) in cases {
        none("Validating");
        configure(&api, kind, &client(path), &json!({}));
        let (found, body) = create(&api);
        assert_eq!(
            (found, body["message"].as_str().unwrap_or_default()),
            (code, &*message),
            "{path}"
        );
    }
    configure(&api, "Mutating", &client("/uid"), &json!({}));
    let (_, body) = create(&api);
    let text = body["message"].as_str().unwrap_or_default();
    assert!(text.starts_with(&format!("{invalid}expected response.uid=")), "{text}");
    assert!(text.ends_with(", got \"x\""), "{text}");
    configure(&api, "Mutating", &client("/mutate"), &json!({}));
    let (code, body) = create(&api);
    assert_eq!((code, &body["data"]), (201, &json!({"hooked": "yes", "x": "1"})));
}

#[test]
fn webhooks_are_told_what_is_done() {
    let (api, program) = (cluster(), Program::start());
    let client = json!({"url": format!("https://localhost:{}/ok", program.port),
        "caBundle": program.bundle});
    configure(
        &api,
        "Validating",
        &client,
        &json!({"matchConditions": [
        {"name": "not-skipped", "expression": "object == null || !('skip' in object.data)"}]}),
    );
    assert_eq!(create(&api).0, 201);
    let mut request = program.asked.try_recv().expect("asked")["request"].take();
    let object = request["object"].take();
    assert_eq!((&object["kind"], &object["data"]), (&"ConfigMap".into(), &json!({"x": "1"})));
    assert!(request["uid"].as_str().is_some_and(|it| it.len() == 36));
    request["uid"] = Value::Null;
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    assert_eq!(
        request,
        json!({
            "uid": null, "kind": kind, "resource": resource, "requestKind": kind,
            "requestResource": resource, "name": "a", "namespace": "n", "operation": "CREATE",
            "userInfo": {"username": "admin", "uid": "1",
                "groups": ["system:masters", "system:authenticated"]},
            "object": null, "oldObject": null, "dryRun": true,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"],
                "fieldManager": "me"},
        })
    );
    let skipped = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"skip": ""}});
    assert_eq!(send(&api, "POST", "/api/v1/namespaces/n/configmaps", &skipped).0, 201);
    assert!(program.asked.try_recv().is_err(), "a condition does not hold");
    let target = "/api/v1/namespaces/n/configmaps/a";
    assert_eq!(send(&api, "DELETE", target, &json!({})).0, 200);
    let request = program.asked.try_recv().expect("asked")["request"].take();
    assert_eq!((&request["operation"], &request["object"]), (&"DELETE".into(), &Value::Null));
    assert_eq!(request["oldObject"]["metadata"]["name"], "a");
}

#[test]
fn other_places_are_not_called() {
    let api = cluster();
    let service = json!({"service": {"namespace": "n", "name": "s"}});
    configure(&api, "Validating", &service, &json!({}));
    let (code, body) = create(&api);
    assert_eq!(code, 500);
    assert_eq!(
        body["message"],
        "Internal error occurred: failed calling webhook \"w.example.com\": failed to call webhook: \
         service n/s has no process behind it: the sandbox calls webhooks only at loopback \
         addresses, such as https://127.0.0.1:8443/path; set clientConfig.url, or failurePolicy to \
         Ignore"
    );
    configure(&api, "Validating", &json!({"url": "https://example.com/x"}), &json!({}));
    assert_eq!(create(&api).0, 500);
    configure(&api, "Validating", &service, &json!({"failurePolicy": "Ignore"}));
    assert_eq!(create(&api).0, 201);
    let program = Program::start();
    let stranger = json!({"url": format!("https://127.0.0.1:{}/ok", program.port),
        "caBundle": Program::start().bundle});
    configure(&api, "Validating", &stranger, &json!({}));
    let (code, body) = create(&api);
    let text = body["message"].as_str().unwrap_or_default();
    assert_eq!(code, 500);
    assert!(text.contains("tls: failed to verify certificate"), "{text}");
    assert!(program.asked.try_recv().is_err(), "nothing was sent to it");
}
