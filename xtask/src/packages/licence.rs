//! Licence expressions: `MIT OR (Apache-2.0 AND ISC)`.

/// A licence expression of SPDX.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Licence {
    /// One licence, with its exception if it has one: `Apache-2.0 WITH LLVM-exception`.
    One(String),
    /// Any of these is enough.
    Any(Vec<Licence>),
    /// All of these hold.
    All(Vec<Licence>),
}

impl Licence {
    /// Reads an expression; none if it is not valid. `MIT/Apache-2.0`, the old form of crates.io,
    /// means `OR`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = &words[..];
        let licence = any(&mut rest)?;
        rest.is_empty().then_some(licence)
    }

    /// Whether the expression can be met with the licences in `allowed`.
    pub(crate) fn is_met(&self, allowed: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::One(name) => allowed(name),
            Self::Any(parts) => parts.iter().any(|it| it.is_met(allowed)),
            Self::All(parts) => parts.iter().all(|it| it.is_met(allowed)),
        }
    }
}

fn any(rest: &mut &[&str]) -> Option<Licence> {
    series(rest, "OR", all, Licence::Any)
}

fn all(rest: &mut &[&str]) -> Option<Licence> {
    series(rest, "AND", one, Licence::All)
}

/// Reads parts that are joined by an operator; a single part stands for itself.
fn series(
    rest: &mut &[&str],
    operator: &str,
    part: fn(&mut &[&str]) -> Option<Licence>,
    join: fn(Vec<Licence>) -> Licence,
) -> Option<Licence> {
    let mut parts = vec![part(rest)?];
    while let [first, after @ ..] = *rest
        && *first == operator
    {
        *rest = after;
        parts.push(part(rest)?);
    }
    if parts.len() == 1 { parts.pop() } else { Some(join(parts)) }
}

fn one(rest: &mut &[&str]) -> Option<Licence> {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let inner = any(rest)?;
            *rest = rest.strip_prefix(&[")"])?;
            Some(inner)
        }
        ["OR" | "AND" | "WITH" | ")", ..] | [] => None,
        [name, "WITH", exception, after @ ..] => {
            *rest = after;
            Some(Licence::One(format!("{name} WITH {exception}")))
        }
        [name, after @ ..] => {
            *rest = after;
            Some(Licence::One((*name).to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_by_the_licences_that_are_allowed() {
        let allowed = |name: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&name);
        for (text, expected) in [
            ("MIT", true),
            ("Apache-2.0", false),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("ISC AND (Apache-2.0 OR ISC)", true),
            ("ISC AND (Apache-2.0 OR GPL-3.0)", false),
            ("MIT OR Apache-2.0 AND GPL-3.0", true),
        ] {
            assert_eq!(Licence::parse(text).unwrap().is_met(&allowed), expected, "{text}");
        }
        for text in ["", "MIT OR", "(MIT", "MIT ISC", "OR MIT"] {
            assert_eq!(Licence::parse(text), None, "{text}");
        }
    }
}
