//! Query strings and percent-encoding.

/// The parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses the part of a target after the question mark.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                (decode(key, true), decode(value, true))
            })
            .collect();
        Self { pairs }
    }

    /// Returns the first value of a parameter; empty when there is none.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.pairs.iter().find(|(it, _)| it == key).map_or("", |(_, value)| value)
    }

    /// Returns all values of a parameter.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(it, _)| it == key).map(|(_, value)| value.as_str())
    }

    /// Returns whether a parameter is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(it, _)| it == key)
    }

    /// Returns whether a parameter is set to something that means yes.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.has(key) && !matches!(self.get(key), "false" | "0")
    }
}

/// Decodes percent-encoding; in queries a plus is a blank.
pub(crate) fn decode(text: &str, plus: bool) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match bytes[at] {
            b'+' if plus => out.push(b' '),
            b'%' if at + 2 < bytes.len() => match (hex(bytes[at + 1]), hex(bytes[at + 2])) {
                (Some(high), Some(low)) => {
                    out.push((high * 16 + low) as u8);
                    at += 2;
                }
                _ => out.push(b'%'),
            },
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse("a=1%2C2&b=x+y&c&a=3");
        assert_eq!(query.get("a"), "1,2");
        assert_eq!(query.get("b"), "x y");
        assert!(query.flag("c"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1,2", "3"]);
        assert_eq!(decode("%zz%4", false), "%zz%4");
    }
}
