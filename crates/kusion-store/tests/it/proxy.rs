//! Servers that misbehave: a proxy that stops forwarding, and an S3 service without conditions.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// Forwards connections to a server until it is frozen.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    frozen: Arc<(Mutex<bool>, Condvar)>,
}

impl Proxy {
    /// Starts a proxy of `host:port`.
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let frozen = Arc::new((Mutex::new(false), Condvar::new()));
        let (target, state) = (target.to_owned(), Arc::clone(&frozen));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&target) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone(), to.try_clone());
                    let state = Arc::clone(&state);
                    if let (Ok(from), Ok(to)) = (from, to) {
                        std::thread::spawn(move || forward(from, to, &state));
                    }
                }
            }
        });
        Self { address, frozen }
    }

    /// Stops forwarding, or goes on.
    pub(crate) fn freeze(&self, is_frozen: bool) {
        *self.frozen.0.lock().expect("no panic") = is_frozen;
        self.frozen.1.notify_all();
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, frozen: &(Mutex<bool>, Condvar)) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        let state = frozen.0.lock().expect("no panic");
        drop(frozen.1.wait_while(state, |it| *it).expect("no panic"));
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Starts an S3 service that honours only some conditions; returns its address.
pub(crate) fn careless_s3(honours: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let objects = Arc::new(Mutex::new(BTreeMap::new()));
        for client in listener.incoming().map_while(Result::ok) {
            let objects = Arc::clone(&objects);
            std::thread::spawn(move || while serve(&client, &objects, honours).is_some() {});
        }
    });
    address
}

type Objects = Mutex<BTreeMap<String, Vec<u8>>>;

fn serve(mut client: &TcpStream, objects: &Objects, honours: &[&str]) -> Option<()> {
    let mut reader = BufReader::new(client);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let mut words = lines.first()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let header = |name: &str| {
        let found = lines.iter().filter_map(|it| it.split_once(':'));
        found.filter(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.trim().to_owned()).next()
    };
    let length: usize = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut objects = objects.lock().ok()?;
    let tag = |bytes: &[u8]| format!("\"{:032x}\"", crc32fast::hash(bytes));
    let found = objects.get(&target).cloned();
    let honoured = |name: &str| header(name).filter(|_| honours.contains(&name));
    let (status, extra, answer) = match (method.as_str(), found) {
        ("PUT", _) if honours.contains(&"no-bucket") => {
            ("404 Not Found", String::new(), Vec::new())
        }
        ("PUT", found) => {
            let exists = honoured("if-none-match").is_some() && found.is_some();
            let differs = honoured("if-match")
                .is_some_and(|it| found.as_deref().map(tag).is_none_or(|found| found != it));
            if exists || differs {
                ("412 Precondition Failed", String::new(), Vec::new())
            } else {
                let extra = format!("ETag: {}\r\n", tag(&body));
                objects.insert(target, body);
                ("200 OK", extra, Vec::new())
            }
        }
        ("GET", _) if target.contains("list-type") => {
            let xml = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
            ("200 OK", String::new(), xml.as_bytes().to_vec())
        }
        ("GET", Some(bytes)) => {
            let date = "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
            ("200 OK", format!("ETag: {}\r\n{date}", tag(&bytes)), bytes)
        }
        ("GET", None) => ("404 Not Found", String::new(), Vec::new()),
        _ => ("204 No Content", String::new(), Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\n\r\n", answer.len());
    client.write_all(head.as_bytes()).ok()?;
    client.write_all(&answer).ok()
}
