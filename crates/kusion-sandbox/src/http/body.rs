//! Bodies of answers: ready bytes, or a stream of them.

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec::IntoIter;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;

/// Texts of objects are joined to parts of about this size.
const PART: usize = 64 * 1024;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// All of it; empty when it has been sent.
    Ready(Bytes),
    /// Texts that are joined while they are sent.
    List(Joined),
    /// Parts that come one after the other, and when they end.
    Stream { parts: Receiver<Bytes>, end: Instant },
}

impl Body {
    /// Makes a body of one part.
    pub(crate) fn from(bytes: impl Into<Bytes>) -> Self {
        Self::Ready(bytes.into())
    }
}

/// One text: all of it in the first part, or what follows an opening brace in both.
pub(crate) type Item = (Bytes, Bytes);

/// Texts with commas between them.
#[derive(Debug)]
pub(crate) struct Joined {
    /// What comes before the next text: the head of the list, or a comma.
    head: String,
    items: IntoIter<Item>,
    tail: &'static str,
    /// Bytes that are to be sent.
    left: usize,
}

impl Joined {
    /// Makes a list between a head and a tail, which is not empty.
    pub(crate) fn new(head: String, items: Vec<Item>, tail: &'static str) -> Self {
        let length =
            |(first, second): &Item| first.len() + second.len() + usize::from(!second.is_empty());
        let texts: usize = items.iter().map(length).sum();
        let left = head.len() + texts + items.len().saturating_sub(1) + tail.len();
        Self { head, items: items.into_iter(), tail, left }
    }

    pub(super) fn next(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let mut part = Vec::with_capacity(self.left.min(PART + PART / 4));
        while part.len() < PART {
            match self.items.next() {
                Some((first, second)) => {
                    part.extend_from_slice(self.head.as_bytes());
                    if !second.is_empty() {
                        part.push(b'{');
                    }
                    part.extend_from_slice(&first);
                    part.extend_from_slice(&second);
                    ",".clone_into(&mut self.head);
                }
                None => {
                    // A list without items still has a head.
                    if self.head != "," {
                        part.extend_from_slice(self.head.as_bytes());
                    }
                    part.extend_from_slice(self.tail.as_bytes());
                    self.left = part.len();
                    break;
                }
            }
        }
        self.left = self.left.saturating_sub(part.len());
        Some(Bytes::from(part))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Ready(bytes) => {
                let bytes = std::mem::take(bytes);
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Self::List(list) => Poll::Ready(list.next().map(|part| Ok(Frame::data(part)))),
            Self::Stream { parts, .. } => {
                parts.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(bytes) => bytes.is_empty(),
            Self::List(list) => list.left == 0,
            Self::Stream { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::List(list) => SizeHint::with_exact(list.left as u64),
            Self::Stream { .. } => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_in_parts() {
        for count in [0, 1, 3, 5000] {
            let item = |at: i32| match at % 2 {
                0 => (Bytes::from(format!("{at:050}")), Bytes::new()),
                _ => (Bytes::from(format!("{at:050}")), Bytes::from("}")),
            };
            let items: Vec<Item> = (0..count).map(item).collect();
            let texts: Vec<_> = items
                .iter()
                .map(|(first, second)| {
                    let first = String::from_utf8_lossy(first);
                    if second.is_empty() { first.into_owned() } else { format!("{{{first}}}") }
                })
                .collect();
            let wanted = format!("[{}]", texts.join(","));
            let mut list = Joined::new("[".to_owned(), items.clone(), "]");
            let mut sent = Vec::new();
            let mut left = list.left;
            assert_eq!(left, wanted.len());
            while let Some(part) = list.next() {
                left -= part.len();
                assert_eq!(list.left, left);
                sent.extend_from_slice(&part);
            }
            assert_eq!(String::from_utf8_lossy(&sent), wanted);
        }
    }
}
