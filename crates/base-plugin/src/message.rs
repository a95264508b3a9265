//! Messages: JSON-RPC 2.0, one per line.

use crate::failure::{Problem, quotable};
use base_text::push_json_string;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The method that is called first.
pub(crate) const INITIALIZE: &str = "initialize";

/// Writes a request on one line. The parameters are JSON.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    let mut text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":");
    push_json_string(&mut text, method);
    text.push_str(",\"params\":");
    // Between the parts of JSON, a line end means the same as a space; inside of texts there is
    // none.
    text.extend(params.chars().map(|char| if matches!(char, '\n' | '\r') { ' ' } else { char }));
    text.push_str("}\n");
    text
}

/// The parameters of the first request.
pub(crate) fn initialize_params(protocol: &str) -> String {
    let mut text = String::from("{\"protocol\":");
    push_json_string(&mut text, protocol);
    text.push('}');
    text
}

#[derive(Deserialize)]
struct Answer<'a> {
    jsonrpc: String,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    error: Option<AnsweredError>,
}

/// Reads a value that may be `null`, which is not the same as a missing one.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(reader: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

#[derive(Deserialize)]
struct AnsweredError {
    code: i64,
    message: String,
}

/// Reads a line. Returns the result as JSON, or `None` for a notification, which is passed over.
pub(crate) fn read_answer(line: &str, expected: u64) -> Result<Option<String>, Problem> {
    let no_answer = || Problem::NoAnswer(quotable(line));
    let answer: Answer<'_> = serde_json::from_str(line).map_err(|_| no_answer())?;
    if answer.jsonrpc != "2.0" {
        return Err(no_answer());
    }
    let Some(id) = answer.id else {
        return if answer.method.is_some() { Ok(None) } else { Err(no_answer()) };
    };
    // The answer to a request whose id could not be read has none.
    let is_lost = id.get() == "null" && answer.error.is_some();
    if id.get() != expected.to_string() && !is_lost {
        return Err(Problem::WrongId { expected, found: quotable(id.get()) });
    }
    match (answer.result, answer.error) {
        (Some(result), None) => Ok(Some(result.get().to_owned())),
        (None, Some(AnsweredError { code, message })) => {
            Err(Problem::Refused { code, message: quotable(&message) })
        }
        _ => Err(no_answer()),
    }
}

/// Checks the answer to the first request.
pub(crate) fn check_protocol(result: &str, expected: &str) -> Result<(), Problem> {
    #[derive(Deserialize)]
    struct Hello {
        protocol: String,
    }
    let hello: Option<Hello> = serde_json::from_str(result).ok();
    match hello {
        Some(hello) if hello.protocol == expected => Ok(()),
        hello => Err(Problem::WrongProtocol {
            expected: expected.to_owned(),
            found: quotable(hello.as_ref().map_or(result, |it| &it.protocol)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line() {
        assert_eq!(
            request(7, "a\"b", "{\"x\":\n1}"),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\\\"b\",\"params\":{\"x\": 1}}\n"
        );
    }

    #[test]
    fn answers_are_results_errors_or_neither() {
        let read = |text: &str| read_answer(text, 3).map_err(|problem| problem.to_string());
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":3,"result":{"b":1.0,"a":[]}}"#),
            Ok(Some(r#"{"b":1.0,"a":[]}"#.into()))
        );
        assert_eq!(read(r#"{"id":3,"jsonrpc":"2.0","result":null}"#), Ok(Some("null".into())));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"log","params":[]}"#), Ok(None));
        let refused = r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no\nhost"}}"#;
        assert_eq!(read(refused), Err("failed: no\\nhost".into()));
        let lost = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}"#;
        assert_eq!(read(lost), Err("failed: not JSON".into()));
        let other = r#"{"jsonrpc":"2.0","id":"4","result":1}"#;
        assert!(read(other).is_err_and(|why| why.starts_with("answered the request `\"4\"`")));
        for text in [
            "hello",
            "[]",
            "{}",
            r#"{"id":3,"result":1}"#,
            r#"{"jsonrpc":"1.0","id":3,"result":1}"#,
            r#"{"jsonrpc":"2.0","result":1}"#,
            r#"{"jsonrpc":"2.0","id":3}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":1} x"#,
        ] {
            let why = read(text).expect_err(text);
            assert!(why.starts_with("sent a line that is not an answer"), "{text}: {why}");
        }
    }

    #[test]
    fn both_sides_speak_one_protocol() {
        assert_eq!(check_protocol(r#"{"protocol":"a/1","more":2}"#, "a/1"), Ok(()));
        for other in [r#"{"protocol":"a/2"}"#, "{}", "1"] {
            assert!(check_protocol(other, "a/1").is_err(), "{other}");
        }
    }
}
