//! Servers that misbehave.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A server on the loopback address that answers every request in the same way, until it is dropped:
///
/// - `reply STATUS BODY`: a JSON response
/// - `raw TEXT`: these bytes, then the connection is closed
/// - `endless TEXT`: the head of a response, then the text for ever
/// - `repeat TEXT`: these bytes for ever
/// - `slow TEXT`: these bytes, one every 50 ms
/// - `silent`: nothing
pub struct Server {
    /// Its port.
    pub port: u16,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server.
    pub fn start(behaviour: &str) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let stop = Arc::new(AtomicBool::new(false));
        let (ends, behaviour) = (stop.clone(), behaviour.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                let (ends, behaviour) = (ends.clone(), behaviour.clone());
                thread::spawn(move || answer(stream, &behaviour, &ends));
            }
        });
        Ok(Self { port, stop })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers the requests of a connection; its end is of no interest.
fn answer(mut stream: TcpStream, behaviour: &str, ends: &AtomicBool) -> Option<()> {
    let (word, rest) = behaviour.split_once(' ').unwrap_or((behaviour, ""));
    let mut buffer = [0; 8192];
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let _length = stream.read(&mut buffer).ok()?;
    match word {
        "reply" => {
            let (status, body) = rest.split_once(' ').unwrap_or((rest, ""));
            let head = format!("HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n");
            write!(stream, "{head}Content-Length: {}\r\n", body.len()).ok()?;
            write!(stream, "Connection: close\r\n\r\n{body}").ok()?;
        }
        "raw" => stream.write_all(rest.as_bytes()).ok()?,
        "endless" => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
            stream.write_all(head.as_bytes()).ok()?;
            let much = rest.repeat(65536 / rest.len().max(1));
            while !ends.load(Ordering::Relaxed) {
                stream.write_all(much.as_bytes()).ok()?;
            }
        }
        "repeat" => {
            let much = rest.repeat(65536 / rest.len().max(1));
            while !ends.load(Ordering::Relaxed) {
                stream.write_all(much.as_bytes()).ok()?;
            }
        }
        "slow" => {
            for byte in rest.bytes() {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                stream.write_all(&[byte]).ok()?;
                thread::sleep(Duration::from_millis(50));
            }
        }
        _ => {
            while !ends.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
    Some(())
}
