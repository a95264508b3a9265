//! How a registry is convinced: the challenge of its first answer, and tokens.

use crate::credentials::Credential;
use crate::error::FetchError;
use crate::http::{Call, Http, encode};
use serde_json::Value;

/// The largest answer of a token server, in bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// What a registry asks for, in `WWW-Authenticate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// User and password.
    Basic,
    /// A token of a server.
    Bearer {
        /// The URL of the server.
        realm: String,
        /// For whom the token is.
        service: String,
    },
}

impl Challenge {
    /// Reads the values of `WWW-Authenticate`; `None` if no form is known.
    pub(crate) fn parse(values: &[String]) -> Option<Self> {
        let bearer = values.iter().find_map(|value| {
            let rest = strip_word(value, "bearer")?;
            let fields = fields(rest);
            let field = |name: &str| {
                fields
                    .iter()
                    .find(|(it, _)| it.eq_ignore_ascii_case(name))
                    .map(|(_, it)| it.clone())
            };
            let service = field("service").unwrap_or_default();
            Some(Self::Bearer { realm: field("realm")?, service })
        });
        let basic = || values.iter().any(|it| strip_word(it, "basic").is_some());
        bearer.or_else(|| basic().then_some(Self::Basic))
    }
}

fn strip_word<'v>(value: &'v str, word: &str) -> Option<&'v str> {
    let value = value.trim_start();
    let head = value.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &value[word.len()..])
}

/// Reads `name="value", …`.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',']).to_owned();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        fields.push((name, value.trim().to_owned()));
        rest = next;
    }
    fields
}

/// Returns the value of `Authorization` that answers a challenge.
pub(crate) fn answer(
    http: &Http,
    challenge: &Challenge,
    scope: &str,
    credential: Option<&Credential>,
) -> Result<Option<String>, FetchError> {
    let (realm, service) = match challenge {
        Challenge::Basic => return Ok(credential.and_then(Credential::basic)),
        Challenge::Bearer { realm, service } => (realm, service),
    };
    let found = match credential {
        Some(Credential::Token(token)) => {
            let body = format!(
                "grant_type=refresh_token&client_id=kcl&service={}&scope={}&refresh_token={}",
                encode(service),
                encode(scope),
                encode(token)
            );
            http.send(&Call {
                method: "POST",
                url: realm.clone(),
                content_type: Some("application/x-www-form-urlencoded"),
                body: Some(body.as_bytes()),
                ..Call::default()
            })?
        }
        _ => {
            let separator = if realm.contains('?') { '&' } else { '?' };
            let scope = encode(scope);
            let url = format!("{realm}{separator}service={}&scope={scope}", encode(service));
            let authorization = credential.and_then(Credential::basic);
            http.send(&Call { method: "GET", url, authorization, ..Call::default() })?
        }
    };
    if !found.status.is_success() {
        // The registry says what is not allowed.
        return Ok(None);
    }
    let text = found.read(MAX_ANSWER)?;
    let value: Value = serde_json::from_slice(&text).unwrap_or_default();
    let token = ["token", "access_token"].iter().find_map(|name| value.get(name)?.as_str());
    Ok(token.map(|token| format!("Bearer {token}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges() {
        let parse = |text: &str| Challenge::parse(&[text.to_owned()]);
        assert_eq!(
            parse(r#"Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="a:b,c:pull""#),
            Some(Challenge::Bearer {
                realm: "https://ghcr.io/token".into(),
                service: "ghcr.io".into()
            })
        );
        assert_eq!(parse("Basic realm=x"), Some(Challenge::Basic));
        assert_eq!(parse("Negotiate"), None);
        assert_eq!(parse("Bearer"), None);
    }
}
