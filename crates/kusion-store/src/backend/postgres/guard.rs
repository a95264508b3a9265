//! A relay to a `PostgreSQL` server that limits what the server sends.
//!
//! The client library reserves as much memory as the head of a message asks for, and reads answers
//! of any length. It connects to a socket of this process instead, and the relay checks each message
//! before it passes it on. It cannot look into encrypted connections: there, it counts the bytes of
//! each answer.

use super::super::deadline::{MAX_KEYS, MAX_VALUE};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// Maximum size of a message, in bytes: a row with one value.
const MAX_MESSAGE: u64 = MAX_VALUE as u64 + (1 << 20);
/// Maximum size of all messages before the first query, in bytes.
const MAX_GREETING: u64 = 1 << 20;
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: u64 = MAX_MESSAGE + (32 << 20);
/// Maximum number of messages in an answer: rows, and a few about them.
const MAX_MESSAGES: u64 = MAX_KEYS as u64 + 1000;
/// Maximum number of messages about settings of the server, which the client library keeps.
const MAX_SETTINGS: u64 = 1000;
/// The first bytes of messages that servers send.
const KINDS: &[u8] = b"RKSZTDCIENA123nstGHWcdVv";
/// Those before the first query.
const GREETING_KINDS: &[u8] = b"RKSZENv";

/// A relay; it ends with the value.
pub(super) struct Guard {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    host: String,
    port: u16,
    /// Whether connections begin with the question whether they are to be encrypted.
    asks_encryption: bool,
    /// Why the last connection was ended.
    why: Mutex<Option<String>>,
}

impl Guard {
    /// Starts a relay to a server; returns it with the options to connect to it.
    pub(super) fn start(options: &PgConnectOptions) -> io::Result<(Self, PgConnectOptions)> {
        // A name without a file, which only this process may use.
        let folder = format!("\0kusion-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let listener = UnixListener::bind(format!("{folder}/.s.PGSQL.{}", options.get_port()))?;
        let mode = options.get_ssl_mode();
        let shared = Arc::new(Shared {
            host: options.get_host().trim_matches(['[', ']']).to_owned(),
            port: options.get_port(),
            asks_encryption: !matches!(mode, PgSslMode::Disable | PgSslMode::Allow),
            why: Mutex::new(None),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok((Self { shared, task }, options.clone().socket(folder)))
    }

    /// Returns why a connection was ended since the last call.
    pub(super) fn why(&self) -> Option<String> {
        self.shared.why.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Shared {
    /// Notes why a connection is ended. The client library sees the end, not the reason.
    fn note(&self, why: String) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: UnixListener, shared: Arc<Shared>) {
    let own = i32::try_from(std::process::id()).ok();
    while let Ok((client, _)) = listener.accept().await {
        if client.peer_cred().ok().and_then(|it| it.pid()) != own {
            continue;
        }
        let shared = Arc::clone(&shared);
        tokio::spawn(async move { relay(client, &shared).await });
    }
}

/// Relays one connection until one side ends it, or the server breaks a rule.
async fn relay(client: UnixStream, shared: &Shared) {
    let server = match TcpStream::connect((shared.host.as_str(), shared.port)).await {
        Ok(server) => server,
        Err(error) => return shared.note(format!("the server cannot be reached: {error}")),
    };
    let _ = server.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let received = AtomicU64::new(0);
    let meter = Meter::new(shared.asks_encryption);
    tokio::select! {
        () = ask(from_client, to_server, &received) => {}
        () = answer(from_server, to_client, meter, &received, shared) => {}
    }
}

/// Passes questions on; each one begins a new answer.
async fn ask(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    received: &AtomicU64,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = from.read(&mut buffer).await {
        received.store(0, Ordering::Relaxed);
        if length == 0 || to.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
}

/// Passes answers on as far as they keep the rules.
async fn answer(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut meter: Meter,
    received: &AtomicU64,
    shared: &Shared,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = from.read(&mut buffer).await {
        let before = received.fetch_add(length as u64, Ordering::Relaxed);
        if let Err(why) = meter.take(&buffer[..length], before) {
            return shared.note(why);
        }
        if length == 0 || to.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
}

/// What a connection carries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The answer to the question whether it is to be encrypted.
    Reply,
    /// Messages.
    Messages,
    /// What only the client library can read.
    Encrypted,
}

/// Checks the bytes that a server sends.
struct Meter {
    phase: Phase,
    head: [u8; 5],
    n_head: usize,
    /// Bytes of the current message that are still to come.
    left: u64,
    is_ready: bool,
    greeted: u64,
    n_settings: u64,
    /// Messages of the current answer.
    n_messages: u64,
}

impl Meter {
    fn new(asks_encryption: bool) -> Self {
        let phase = if asks_encryption { Phase::Reply } else { Phase::Messages };
        Self {
            phase,
            head: [0; 5],
            n_head: 0,
            left: 0,
            is_ready: false,
            greeted: 0,
            n_settings: 0,
            n_messages: 0,
        }
    }

    /// Checks more bytes; `before` is how many of the current answer came before them.
    fn take(&mut self, mut bytes: &[u8], before: u64) -> Result<(), String> {
        if before == 0 {
            self.n_messages = 0;
        }
        if before + bytes.len() as u64 > MAX_ANSWER {
            return Err(too_much("an answer", MAX_ANSWER));
        }
        if let (Phase::Reply, [first, rest @ ..]) = (self.phase, bytes) {
            self.phase = match first {
                // What comes before the encryption begins is not from the server that it proves.
                b'S' if rest.is_empty() => Phase::Encrypted,
                b'N' => Phase::Messages,
                _ => return Err(not_postgres()),
            };
            bytes = rest;
        }
        if self.phase == Phase::Encrypted {
            return Ok(());
        }
        if !self.is_ready {
            self.greeted += bytes.len() as u64;
            if self.greeted > MAX_GREETING {
                return Err(too_much("a greeting", MAX_GREETING));
            }
        }
        while let [first, rest @ ..] = bytes {
            if self.left > 0 {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= length as u64;
                bytes = &bytes[length..];
                continue;
            }
            self.head[self.n_head] = *first;
            self.n_head += 1;
            bytes = rest;
            if self.n_head == self.head.len() {
                self.n_head = 0;
                self.begin_message()?;
            }
        }
        Ok(())
    }

    /// Checks the head of a message.
    fn begin_message(&mut self) -> Result<(), String> {
        let [kind, length @ ..] = self.head;
        let length = u64::from(u32::from_be_bytes(length));
        let (kinds, most) =
            if self.is_ready { (KINDS, MAX_MESSAGE) } else { (GREETING_KINDS, MAX_GREETING) };
        if !kinds.contains(&kind) || length < 4 {
            return Err(not_postgres());
        }
        if length > most {
            return Err(too_much("a message", most));
        }
        self.n_messages += 1;
        self.n_settings += u64::from(kind == b'S');
        if self.n_messages > MAX_MESSAGES || self.n_settings > MAX_SETTINGS {
            return Err("the server sends messages without end".to_owned());
        }
        self.is_ready |= kind == b'Z';
        self.left = length - 4;
        Ok(())
    }
}

fn not_postgres() -> String {
    "the server does not speak the protocol of PostgreSQL".to_owned()
}

fn too_much(what: &str, most: u64) -> String {
    format!("the server sends {what} of more than {} MiB", most >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, length: u32) -> Vec<u8> {
        let mut bytes = vec![kind];
        bytes.extend(length.to_be_bytes());
        bytes.resize(1 + length.clamp(4, 1 << 16) as usize, 0);
        bytes
    }

    /// Gives the bytes in pieces of some size, as one answer.
    fn take(meter: &mut Meter, bytes: &[u8], size: usize) -> Result<(), String> {
        let mut before = 0;
        bytes.chunks(size).try_for_each(|piece| {
            let taken = meter.take(piece, before);
            before += piece.len() as u64;
            taken
        })
    }

    #[test]
    fn messages_pass_however_they_are_cut() {
        let greeting = [message(b'R', 8), message(b'S', 20), message(b'Z', 5)].concat();
        for size in 1..greeting.len() {
            let mut meter = Meter::new(false);
            take(&mut meter, &greeting, size).expect("a greeting");
            assert!(meter.is_ready && meter.left == 0 && meter.n_head == 0);
            // After the greeting, rows may be large.
            take(&mut meter, &message(b'D', 200 << 20), size).expect("a row");
            assert_eq!(meter.left, (200 << 20) + 1 - message(b'D', 200 << 20).len() as u64);
        }
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        let mut ready = Meter::new(false);
        take(&mut ready, &message(b'Z', 5), 9).expect("ready");
        assert_eq!(
            take(&mut ready, &message(b'D', u32::MAX), 9),
            Err("the server sends a message of more than 257 MiB".to_owned())
        );
        for bytes in [b"HTTP/1.1 400 Bad Request".to_vec(), message(b'R', 3), vec![0; 9]] {
            let refused = take(&mut Meter::new(false), &bytes, 3);
            assert_eq!(refused, Err(not_postgres()), "{bytes:?}");
        }
        let large = message(b'R', 2 << 20);
        let refused = take(&mut Meter::new(false), &large, 100).expect_err("too large");
        assert_eq!(refused, "the server sends a message of more than 1 MiB");
        let settings = message(b'S', 4).repeat(1001);
        let refused = take(&mut Meter::new(false), &settings, 100).expect_err("too many");
        assert_eq!(refused, "the server sends messages without end");
        let endless = message(b'N', 4).repeat(300_000);
        let refused = take(&mut Meter::new(false), &endless, 4096).expect_err("too many");
        assert_eq!(refused, "the server sends a greeting of more than 1 MiB");
    }

    #[test]
    fn encrypted_answers_are_counted() {
        let mut meter = Meter::new(true);
        take(&mut meter, b"S", 1).expect("encrypted");
        meter.take(b"anything", MAX_ANSWER - 8).expect("the last bytes");
        let refused = meter.take(b"anything", MAX_ANSWER).expect_err("one more");
        assert_eq!(refused, "the server sends an answer of more than 289 MiB");
        assert!(take(&mut Meter::new(true), b"Sx", 2).is_err(), "before the encryption");
        assert!(take(&mut Meter::new(true), b"H", 1).is_err());
        let plain = [b"N".to_vec(), message(b'R', 8)].concat();
        take(&mut Meter::new(true), &plain, 3).expect("not encrypted");
    }
}
