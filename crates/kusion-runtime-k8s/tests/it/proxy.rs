//! A server between client and cluster that spoils answers.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// It is answered with a status, and perhaps the seconds after which to come again.
    Status(u16, Option<u32>),
    /// The connection ends before the cluster hears of it.
    Lost,
    /// The cluster does it, but the answer is cut off after some bytes.
    Cut(usize),
    /// The cluster does it, but the answer takes a time.
    Late(Duration),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    /// How often the same was asked before.
    pub(crate) before: usize,
}

type Spoil = dyn Fn(&Seen) -> Option<Fault> + Send + Sync;

struct Inner {
    cluster: SocketAddr,
    spoil: Box<Spoil>,
    seen: Mutex<Vec<Seen>>,
}

/// A way to a cluster on which things go wrong.
pub(crate) struct Proxy {
    address: SocketAddr,
    cluster: SocketAddr,
    inner: Arc<Inner>,
}

impl Proxy {
    /// Listens in front of a cluster; a function says what goes wrong.
    pub(crate) fn start(
        cluster: SocketAddr,
        spoil: impl Fn(&Seen) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let inner =
            Arc::new(Inner { cluster, spoil: Box::new(spoil), seen: Mutex::new(Vec::new()) });
        let shared = Arc::clone(&inner);
        // Ends with the process of the test.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(client));
            }
        });
        Self { address, cluster, inner }
    }

    /// Changes a kubeconfig so that it leads here.
    pub(crate) fn kubeconfig(&self, text: &str) -> String {
        text.replace(&self.cluster.to_string(), &self.address.to_string())
    }

    /// Returns the requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts the requests so far whose method and target begin and hold these texts.
    pub(crate) fn count(&self, method: &str, part: &str) -> usize {
        let seen = self.seen();
        seen.iter().filter(|it| it.method == method && it.target.contains(part)).count()
    }
}

impl Inner {
    /// Serves one request; the connection ends with it.
    fn serve(&self, client: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let mut head = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
            if !lower.starts_with("connection:") {
                head.push_str(&line);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let fault = (self.spoil)(&self.note(&head));
        match fault {
            Some(Fault::Lost) => return Ok(()),
            Some(Fault::Status(status, after)) => return refuse(client, status, after),
            _ => {}
        }
        let mut cluster = TcpStream::connect(self.cluster)?;
        cluster.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
        cluster.write_all(&body)?;
        match fault {
            Some(Fault::Cut(bytes)) => cut(cluster, client, bytes),
            Some(Fault::Late(time)) => {
                thread::sleep(time);
                copy(cluster, client)
            }
            _ => copy(cluster, client),
        }
    }

    fn note(&self, head: &str) -> Seen {
        let mut words = head.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (method, target) = (word(), word());
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.iter().filter(|it| it.method == method && it.target == target).count();
        let seen = Seen { method, target, before };
        all.push(seen.clone());
        seen
    }
}

fn refuse(mut client: TcpStream, status: u16, after: Option<u32>) -> io::Result<()> {
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"spoiled","code":{status}}}"#
    );
    let after = after.map_or_else(String::new, |it| format!("Retry-After: {it}\r\n"));
    write!(
        client,
        "HTTP/1.1 {status} Spoiled\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n{after}\r\n{body}",
        body.len()
    )
}

/// Passes an answer on until it ends, piece by piece as it comes.
fn copy(mut cluster: TcpStream, mut client: TcpStream) -> io::Result<()> {
    io::copy(&mut cluster, &mut client).map(drop)
}

/// Passes on the head of an answer and some bytes of its body; the cluster gives all of it.
fn cut(mut cluster: TcpStream, mut client: TcpStream, bytes: usize) -> io::Result<()> {
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        let read = cluster.read(&mut piece)?;
        answer.extend_from_slice(&piece[..read]);
        let head = answer.windows(4).position(|it| it == b"\r\n\r\n");
        match head {
            Some(at) if answer.len() >= at + 4 + bytes => break at + 4 + bytes,
            _ if read == 0 => break answer.len(),
            _ => {}
        }
    };
    client.write_all(&answer[..end.min(answer.len())])
}
