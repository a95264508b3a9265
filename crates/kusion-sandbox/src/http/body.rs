//! Bodies of answers: ready bytes, or a stream of them.

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// All of it, in parts that are shared with the store.
    Ready(VecDeque<Bytes>),
    /// Parts that come one after the other.
    Stream(Receiver<Bytes>),
}

impl Body {
    /// Makes a body of one part.
    pub(crate) fn from(bytes: impl Into<Bytes>) -> Self {
        Self::Ready(VecDeque::from([bytes.into()]))
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
            Self::Ready(parts) => Poll::Ready(parts.pop_front().map(|part| Ok(Frame::data(part)))),
            Self::Stream(receiver) => {
                receiver.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(parts) => parts.is_empty(),
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(parts) => {
                SizeHint::with_exact(parts.iter().map(|part| part.len() as u64).sum())
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
