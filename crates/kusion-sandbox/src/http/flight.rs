//! Requests of a connection that are being answered, and when the connection is to be cut.

use super::body::Body;
use super::limits::Limits;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::time::{Instant, sleep_until};

/// All requests of one connection that have not been answered in full.
#[derive(Debug)]
pub(crate) struct Flights {
    state: Mutex<State>,
    limits: Limits,
}

#[derive(Debug)]
struct State {
    /// Number of the next request.
    next: u64,
    /// Numbers of the requests, with the times at which they must have ended.
    ends: Vec<(u64, Instant)>,
    /// When the connection must have its next request, if there is none now.
    idle_end: Instant,
}

impl Flights {
    /// Describes a connection that starts now.
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        let idle_end = Instant::now() + limits.first;
        let state = State { next: 0, ends: Vec::new(), idle_end };
        Arc::new(Self { state: Mutex::new(state), limits })
    }

    /// Adds a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Flight {
        // Time to read its body, and time to send the response.
        let end = Instant::now() + 2 * self.limits.request;
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.ends.push((number, end));
        Flight { number, flights: Arc::clone(self) }
    }

    /// Returns when a request is late, or the connection has been idle for too long.
    pub(crate) async fn expired(&self) {
        loop {
            let end = self.end();
            if end <= Instant::now() {
                return;
            }
            sleep_until(end).await;
        }
    }

    fn end(&self) -> Instant {
        let state = self.lock();
        state.ends.iter().map(|(_, end)| *end).min().unwrap_or(state.idle_end)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Flight {
    number: u64,
    flights: Arc<Flights>,
}

impl Flight {
    /// Binds the request to the body of its response, which must be sent in time.
    pub(crate) fn send(self, body: Body) -> Sent {
        let start = match &body {
            Body::Stream { end, .. } => (*end).max(Instant::now()),
            _ => Instant::now(),
        };
        let end = start + self.flights.limits.request;
        let mut state = self.flights.lock();
        if let Some(entry) = state.ends.iter_mut().find(|(number, _)| *number == self.number) {
            entry.1 = end;
        }
        drop(state);
        Sent { body, _flight: self }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut state = self.flights.lock();
        state.ends.retain(|(number, _)| *number != self.number);
        state.idle_end = Instant::now() + self.flights.limits.idle;
    }
}

/// The body of a response that is being sent.
#[derive(Debug)]
pub(crate) struct Sent {
    body: Body,
    _flight: Flight,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn limits() -> Limits {
        Limits {
            first: Duration::from_secs(1),
            idle: Duration::from_secs(10),
            request: Duration::from_secs(100),
            ..Limits::default()
        }
    }

    #[test]
    fn a_connection_ends_by_its_oldest_request_or_when_idle() {
        let flights = Flights::new(limits());
        let start = Instant::now();
        assert!(flights.end() <= start + Duration::from_secs(1));
        let one = flights.begin();
        assert!(flights.end() >= start + Duration::from_secs(200));
        let two = flights.begin().send(Body::from("text"));
        assert!(flights.end() <= Instant::now() + Duration::from_secs(100));
        drop(two);
        assert!(flights.end() >= start + Duration::from_secs(200));
        drop(one);
        let end = flights.end();
        assert!(
            end >= start + Duration::from_secs(10)
                && end <= Instant::now() + Duration::from_secs(10)
        );
    }

    #[test]
    fn a_stream_may_last_to_its_own_end() {
        let flights = Flights::new(limits());
        let (_sender, parts) = tokio::sync::mpsc::channel(1);
        let end = Instant::now() + Duration::from_hours(1);
        let _sent = flights.begin().send(Body::Stream { parts, end });
        assert_eq!(flights.end(), end + Duration::from_secs(100));
    }
}
