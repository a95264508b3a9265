//! The end at which a running sandbox takes orders.

use crate::daemon::{OBEYED, REFUSED};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Opens the port for orders; `stop` is told when an order to stop comes.
pub(crate) fn open(secret: String, stop: Sender<()>) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::Builder::new().name("sandbox-control".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that says nothing must not keep the others waiting for long.
            let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
            if answer(&stream, &secret) == Some(true) && stop.send(()).is_err() {
                return;
            }
        }
    })?;
    Ok(port)
}

/// Answers one order; returns whether it was to stop.
fn answer(stream: &TcpStream, secret: &str) -> Option<bool> {
    let mut line = String::new();
    BufReader::new(stream.take(1024)).read_line(&mut line).ok()?;
    let (given, word) = line.trim_end().split_once(' ')?;
    let is_meant = given == secret;
    let mut stream = stream;
    writeln!(stream, "{}", if is_meant { OBEYED } else { REFUSED }).ok()?;
    Some(is_meant && word == "stop")
}
