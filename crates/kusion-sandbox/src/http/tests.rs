//! Connections that do harm: they end, and others go on.

use super::{Access, Limits, Server, serve};
use crate::Api;
use crate::credentials::Credentials;
use crate::faults::{Fault, FaultKind, Faults};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

/// When a test fails that would else never end.
const STUCK: Duration = Duration::from_mins(1);

/// A server with short limits; it ends with the value.
struct Short {
    address: SocketAddr,
    faults: Faults,
    _runtime: Runtime,
}

fn start(limits: Limits, tls: bool) -> Short {
    let runtime = Runtime::new().expect("a runtime");
    let listener =
        runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let credentials = Credentials::generate().expect("credentials");
    let api = Api::new();
    let faults = Faults::new(api.clone());
    let server = Server {
        api,
        faults: faults.clone(),
        access: Access { token: credentials.token().to_owned(), guests: true, scheme: "http" },
        address: address.to_string(),
        tls: tls.then(|| credentials.acceptor().expect("a certificate")),
        limits,
        bodies: Semaphore::new(limits.bodies),
    };
    runtime.spawn(serve(server, listener));
    Short { address, faults, _runtime: runtime }
}

fn short() -> Limits {
    Limits {
        first: Duration::from_millis(50),
        idle: Duration::from_millis(50),
        request: Duration::from_millis(50),
        ..Limits::default()
    }
}

fn connect(server: &Short, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    stream.set_read_timeout(Some(STUCK)).expect("a timeout");
    stream.write_all(text.as_bytes()).expect("a request");
    stream
}

/// Reads until the server ends the connection.
fn read(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the connection stays open");
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn silent_connections_are_cut() {
    for tls in [false, true] {
        let server = start(short(), tls);
        for text in ["", "GE", "GET /version HTTP/1.1\r\nHost: localhost\r\n", "PRI * HTTP/2.0\r\n"]
        {
            assert!(!read(connect(&server, text)).contains("200 OK"), "{text:?}");
        }
    }
}

#[test]
fn idle_connections_are_cut() {
    let server = start(short(), false);
    let answer = read(connect(&server, "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn bodies_that_do_not_come_are_not_waited_for() {
    let server = start(short(), false);
    let head = "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{";
    let answer = read(connect(&server, head));
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    assert!(answer.contains("request did not complete within the allotted timeout"), "{answer}");
}

#[test]
fn a_client_that_reads_nothing_is_cut() {
    let server = start(short(), false);
    // More than the buffers of the system can hold.
    let request = "GET /openapi/v2 HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(40);
    let mut stream = connect(&server, &request);
    // The server ends the connection: some write fails.
    let more = "GET /openapi/v2 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.set_write_timeout(Some(STUCK)).expect("a timeout");
    let error = loop {
        if let Err(error) = stream.write_all(more.as_bytes()) {
            break error;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
}

#[test]
fn a_watch_lasts_longer_than_a_request() {
    let server = start(short(), false);
    let target = "/api/v1/pods?watch=1&timeoutSeconds=1";
    let answer =
        read(connect(&server, &format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The last chunk is sent: the watch ended by itself.
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn the_number_of_connections_is_limited() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = start(limits, false);
    let request = "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let watch = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut held: Vec<TcpStream> = (0..2).map(|_| connect(&server, watch)).collect();
    for stream in &mut held {
        stream.read_exact(&mut [0; 12]).expect("an answer");
    }
    let mut third = connect(&server, request);
    third.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let waiting = third.read(&mut [0; 1]).expect_err("no answer yet");
    assert!(matches!(waiting.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    third.set_read_timeout(Some(STUCK)).expect("a timeout");
    drop(held.pop());
    assert!(read(third).contains("200 OK"), "it is served when another one has ended");
}

#[test]
fn times_beyond_all_measure_are_no_panic() {
    let runtime = Runtime::new().expect("a runtime");
    let _guard = runtime.enter();
    let api = Api::new();
    let largest = i64::MAX;
    for target in [
        format!("/api/v1/pods?watch=1&timeoutSeconds={largest}"),
        format!("/api/v1/pods?watch=1&timeoutSeconds={}", i64::MIN),
        format!("/api/v1/pods?limit={largest}&timeoutSeconds={largest}"),
    ] {
        assert_eq!(api.respond("GET", &target, &[], Vec::new()).0, 200, "{target}");
    }
    let log = format!("/api/v1/namespaces/a/pods/b/log?sinceSeconds={}", i64::MIN);
    assert_eq!(api.respond("GET", &log, &[], Vec::new()).0, 404);
}

#[test]
fn large_objects_and_copies_are_refused() {
    let api = Api::new();
    let json = [("content-type", "application/json")];
    let patch = [("content-type", "application/json-patch+json")];
    let body = |text: &str| text.as_bytes().to_vec();
    let namespace = body(r#"{"metadata": {"name": "a"}}"#);
    assert_eq!(api.respond("POST", "/api/v1/namespaces", &json, namespace).0, 201);
    let place = "/api/v1/namespaces/a/configmaps";
    let map = body(r#"{"metadata": {"name": "c"}, "data": {"a": "some text"}}"#);
    assert_eq!(api.respond("POST", place, &json, map).0, 201);
    let copies: Vec<String> = (0..40)
        .map(|at| format!(r#"{{"op": "copy", "from": "/data", "path": "/data/x{at}"}}"#))
        .collect();
    let (code, text) = api.respond(
        "PATCH",
        &format!("{place}/c"),
        &patch,
        body(&format!("[{}]", copies.join(","))),
    );
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(code, 422, "{text}");
    assert!(text.contains("the server rejected our request due to an error in our request"));
    let tests = vec![r#"{"op": "test", "path": "/data/a", "value": "some text"}"#; 10_001];
    let (code, text) = api.respond(
        "PATCH",
        &format!("{place}/c"),
        &patch,
        body(&format!("[{}]", tests.join(","))),
    );
    assert_eq!(code, 413);
    assert!(String::from_utf8_lossy(&text).contains(
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    ));
    let value = "x".repeat(2_200_000);
    let pod = format!(
        r#"{{"metadata": {{"name": "p"}}, "spec": {{"containers": [{{"name": "c", "image": "i", "env": [{{"name": "A", "value": "{value}"}}]}}]}}}}"#
    );
    let (code, text) = api.respond("POST", "/api/v1/namespaces/a/pods", &json, body(&pod));
    assert_eq!(code, 500);
    assert!(String::from_utf8_lossy(&text).contains("etcdserver: request is too large"));
}

/// Sends a request and returns the connection.
fn ask(server: &Short, path: &str) -> TcpStream {
    ask_as(server, path, "")
}

/// Sends a request with more headers and returns the connection.
fn ask_as(server: &Short, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    stream.set_read_timeout(Some(STUCK)).expect("a limit");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}connection: close\r\n\r\n")
        .expect("a request");
    stream
}

fn whole(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

#[test]
fn faults_concern_requests_for_resources() {
    let server = start(Limits::default(), false);
    let error = |code, resource: &str| Fault {
        kind: FaultKind::Error(code),
        resource: resource.to_owned(),
        requests: Some(1),
    };
    server.faults.add(error(429, "nodes"));
    assert!(whole(ask(&server, "/readyz")).starts_with("HTTP/1.1 200"));
    assert!(whole(ask(&server, "/api/v1/pods")).starts_with("HTTP/1.1 200"));
    let answer = whole(ask(&server, "/api/v1/nodes"));
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 1"), "{answer}");
    assert!(whole(ask(&server, "/api/v1/nodes")).starts_with("HTTP/1.1 200"));
    server.faults.add(error(500, ""));
    assert!(whole(ask(&server, "/api/v1/pods")).starts_with("HTTP/1.1 500"));
}

#[test]
fn a_cut_ends_watches() {
    let server = start(Limits::default(), false);
    let mut watch = ask(&server, "/api/v1/pods?watch=true");
    let mut start = [0; 12];
    watch.read_exact(&mut start).expect("the start of an answer");
    assert_eq!(&start, b"HTTP/1.1 200");
    server.faults.cut_watches();
    whole(watch);
}

#[test]
fn an_impersonated_user_may_do_what_its_roles_say() {
    let server = start(Limits::default(), false);
    let bob = "impersonate-user: bob\r\n";
    for (path, why) in [
        (
            "/api/v1/pods",
            "cannot list resource \\\"pods\\\" in API group \\\"\\\" at the cluster scope",
        ),
        ("/api/v1/namespaces/n/pods/a/log", "cannot get resource \\\"pods/log\\\" in API group"),
        ("/apis/apps/v1/namespaces/n/deployments?watch=1", "cannot watch resource"),
        ("/metrics", "cannot get path \\\"/metrics\\\""),
    ] {
        let answer = whole(ask_as(&server, path, bob));
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains(why), "{answer}");
    }
    let master = "impersonate-user: bob\r\nimpersonate-group: system:masters\r\n";
    assert!(whole(ask_as(&server, "/api/v1/pods", master)).starts_with("HTTP/1.1 200"));
    let group = "impersonate-group: system:masters\r\n";
    assert!(whole(ask_as(&server, "/api/v1/pods", group)).starts_with("HTTP/1.1 500"));
}
