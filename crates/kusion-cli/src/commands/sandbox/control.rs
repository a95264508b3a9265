//! The control port of a running sandbox.

use crate::daemon::{OBEYED, REFUSED};
use kusion_sandbox::Faults;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Opens the control port; `stop` is notified by a command to stop.
pub(crate) fn open(secret: String, faults: Faults, stop: Sender<()>) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::Builder::new().name("sandbox-control".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // A silent client must not block the others for long.
            let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
            if answer(&stream, &secret, &faults) == Some(true) && stop.send(()).is_err() {
                return;
            }
        }
    })?;
    Ok(port)
}

/// Handles one command; returns whether it was a command to stop.
fn answer(stream: &TcpStream, secret: &str, faults: &Faults) -> Option<bool> {
    let mut line = String::new();
    BufReader::new(stream.take(1024)).read_line(&mut line).ok()?;
    let (given, word) = line.trim_end().split_once(' ')?;
    let is_meant = given == secret;
    let mut stream = stream;
    if let (true, Some(order)) = (is_meant, word.strip_prefix("fault ")) {
        writeln!(stream, "{}", super::fault::obey(faults, order)).ok()?;
        return Some(false);
    }
    writeln!(stream, "{}", if is_meant { OBEYED } else { REFUSED }).ok()?;
    Some(is_meant && word == "stop")
}
