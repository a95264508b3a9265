//! Tokens that are renewed before they expire, and how they get into requests.

use super::helper::{Given, Helper};
use base_system::{OsSystem, System as _};
use futures::future::BoxFuture;
use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower::{BoxError, Layer, Service};

/// How long before it expires a token is renewed, and how long one of a file is used.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// A token as requests carry it.
#[derive(Clone)]
pub(super) struct Token {
    header: HeaderValue,
    /// When it is renewed; never if not given.
    renew_at: Option<Timestamp>,
}

impl Token {
    /// Returns the token that a helper program gave, if there is one.
    pub(super) fn of(given: &Given, user: &str) -> Result<Option<Self>, String> {
        let Some(token) = &given.token else { return Ok(None) };
        let header = header(token, user)?;
        let renew_at = |it: Timestamp| it.checked_sub(MINUTE).unwrap_or(it);
        Ok(Some(Self { header, renew_at: given.expires_at.map(renew_at) }))
    }

    fn is_old(&self) -> bool {
        self.renew_at.is_some_and(|it| it <= Timestamp::now())
    }
}

/// Returns the header of a token; fails if it cannot be one.
pub(super) fn header(token: &str, user: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| format!("the token of {user} contains a line break or control character"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Where tokens come from.
pub(super) enum Source {
    /// A file, which its owner replaces from time to time.
    File { path: PathBuf, user: String },
    /// A helper program.
    Helper(Box<Helper>),
}

impl Source {
    /// Returns a token.
    pub(super) async fn token(&self) -> Result<Token, String> {
        match self {
            Self::File { path, user } => {
                let text = OsSystem.read_to_string(path);
                let text = text.map_err(|error| {
                    format!("cannot read the token file `{}` of {user}: {error}", path.display())
                })?;
                let renew_at = Some(Timestamp::now() + MINUTE);
                Ok(Token { header: header(text.trim(), user)?, renew_at })
            }
            Self::Helper(helper) => {
                let given = helper.run().await?;
                let token = Token::of(&given, helper.user())?;
                token
                    .ok_or_else(|| format!("the helper program of {} gave no token", helper.user()))
            }
        }
    }

    /// Whether an old token is used on when no new one can be had.
    fn keeps_old(&self) -> bool {
        // Token files may be removed when the program has started.
        matches!(self, Self::File { .. })
    }
}

/// Adds the token of a source to requests.
pub(crate) struct TokenLayer {
    source: Arc<Source>,
    first: Token,
}

impl TokenLayer {
    pub(super) fn new(source: Arc<Source>, first: Token) -> Self {
        Self { source, first }
    }
}

impl<S> Layer<S> for TokenLayer {
    type Service = WithToken<S>;

    fn layer(&self, inner: S) -> Self::Service {
        let (source, token) = (Arc::clone(&self.source), self.first.clone());
        WithToken { inner, source, token, renewal: None, failed: None }
    }
}

/// A service that adds a token to each request.
pub(crate) struct WithToken<S> {
    inner: S,
    source: Arc<Source>,
    token: Token,
    renewal: Option<BoxFuture<'static, Result<Token, String>>>,
    /// Why the next request fails. Not an error of [`Service::poll_ready`]: it would end the client.
    failed: Option<String>,
}

impl<S> WithToken<S> {
    /// Renews an old token.
    fn poll_token(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.renewal.is_none() && self.token.is_old() && self.failed.is_none() {
            let source = Arc::clone(&self.source);
            self.renewal = Some(Box::pin(async move { source.token().await }));
        }
        let Some(renewal) = &mut self.renewal else { return Poll::Ready(()) };
        let renewed = ready!(renewal.as_mut().poll(context));
        self.renewal = None;
        match renewed {
            Ok(token) => self.token = token,
            Err(_) if self.source.keeps_old() => {
                self.token.renew_at = Some(Timestamp::now() + MINUTE);
            }
            Err(why) => self.failed = Some(why),
        }
        Poll::Ready(())
    }
}

impl<S, B> Service<Request<B>> for WithToken<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    S::Response: 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        ready!(self.poll_token(context));
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if let Some(why) = self.failed.take() {
            return Box::pin(async move { Err(why.into()) });
        }
        request.headers_mut().insert(AUTHORIZATION, self.token.header.clone());
        let response = self.inner.call(request);
        Box::pin(async move { response.await.map_err(Into::into) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Answers with the token of the request.
    #[derive(Clone, Default)]
    struct Echo(Arc<Mutex<Vec<String>>>);

    impl Service<Request<()>> for Echo {
        type Response = ();
        type Error = BoxError;
        type Future = std::future::Ready<Result<(), BoxError>>;

        fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<()>) -> Self::Future {
            let header = request.headers()[AUTHORIZATION].to_str().expect("text").to_owned();
            self.0.lock().expect("no panic").push(header);
            std::future::ready(Ok(()))
        }
    }

    async fn send(service: &mut WithToken<Echo>) -> Result<(), BoxError> {
        std::future::poll_fn(|context| service.poll_ready(context)).await?;
        service.call(Request::new(())).await
    }

    #[tokio::test]
    async fn tokens_of_files_are_read_again_and_outlive_their_file() {
        let path = std::env::temp_dir().join(format!("kusion-token-{}", std::process::id()));
        std::fs::write(&path, "first\n").expect("written");
        let source = Arc::new(Source::File { path: path.clone(), user: "user `u`".to_owned() });
        let first = source.token().await.expect("a token");
        let echo = Echo::default();
        let mut service = TokenLayer::new(source, first).layer(echo.clone());
        send(&mut service).await.expect("sent");
        std::fs::write(&path, "second\n").expect("written");
        send(&mut service).await.expect("sent with the old one");
        service.token.renew_at = Some(Timestamp::UNIX_EPOCH);
        send(&mut service).await.expect("sent with the new one");
        std::fs::remove_file(&path).expect("removed");
        service.token.renew_at = Some(Timestamp::UNIX_EPOCH);
        send(&mut service).await.expect("sent without the file");
        let seen = echo.0.lock().expect("no panic").clone();
        assert_eq!(seen, ["Bearer first", "Bearer first", "Bearer second", "Bearer second"]);
    }

    #[tokio::test]
    async fn a_renewal_that_fails_fails_one_request() {
        let helper = Helper::new(serde_json::from_str("{}").expect("a helper"), "user `u`");
        let token = Token { header: HeaderValue::from_static("a"), renew_at: None };
        let layer = TokenLayer::new(Arc::new(Source::Helper(Box::new(helper))), token);
        let mut service = layer.layer(Echo::default());
        service.token.renew_at = Some(Timestamp::UNIX_EPOCH);
        let why = send(&mut service).await.expect_err("no program").to_string();
        assert!(why.contains("user `u`"), "{why}");
        service.token.renew_at = None;
        send(&mut service).await.expect("the next one is sent");
    }

    #[test]
    fn control_characters_are_refused() {
        for token in ["a\nb", "a\r", "\u{0}", "\u{1b}[31m", "a\u{7f}"] {
            let why = header(token, "user `u` of `config`").expect_err("refused");
            let text =
                "the token of user `u` of `config` contains a line break or control character";
            assert_eq!(why, text);
        }
        assert!(header("eyJhbGciOi.J-_", "u").expect("fine").is_sensitive());
    }
}
