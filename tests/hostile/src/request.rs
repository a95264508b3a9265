//! Requests to a server on this machine, written byte by byte, so that they can be wrong.

use crate::Finished;
use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a response may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Sends a request and reads until the server closes the connection. Returns the status; none if
/// there was no response in time. A connection that was closed without a response has the status 0.
pub fn ask(port: u16, line: &str, headers: &[String], body: &[u8]) -> Result<Finished> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("no server")?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    stream.set_write_timeout(Some(LIMIT))?;
    let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    let names = |name: &str| headers.iter().any(|it| it.to_lowercase().starts_with(name));
    if !names("host:") {
        head.push_str(&["Host: 127.0.0.1:", &port.to_string(), "\r\n"].concat());
    }
    if !body.is_empty() && !names("content-length:") && !names("transfer-encoding:") {
        head.push_str(&["Content-Length: ", &body.len().to_string(), "\r\n"].concat());
    }
    for header in headers {
        head.push_str(&[header, "\r\n"].concat());
    }
    head += "\r\n";
    // A server may refuse before it has read all.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let start = Instant::now();
    let mut response = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => response.extend_from_slice(&buffer[..n]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
        if start.elapsed() > LIMIT {
            return Ok(Finished { code: None, text: String::from_utf8_lossy(&response).into() });
        }
    }
    let text = String::from_utf8_lossy(&response).into_owned();
    let code = text.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    Ok(Finished { code: Some(code), text })
}
