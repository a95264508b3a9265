//! The server starts, says where it is, and asks who is there.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_stranger_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("s3");
    let mut server = Command::new(env!("CARGO_BIN_EXE_store-servers"))
        .args([folder.to_str().expect("the path is text"), "key", "secret"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut address = String::new();
    let output = server.stdout.take().expect("its output is ours");
    BufReader::new(output).read_line(&mut address).expect("it says where it is");
    let place = address.trim().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&place).expect("it listens");
    write!(stream, "GET /kusion/a HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")
        .expect("the request is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer comes");
    server.kill().expect("it stops");
    server.wait().expect("it has stopped");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}
