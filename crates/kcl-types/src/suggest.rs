//! Names that look like a name that was not found.

/// How alike two names must be.
const THRESHOLD: f64 = 0.8;

/// The candidates that look like `wanted`, the most similar last.
pub(crate) fn similar<'c>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Vec<String> {
    let wanted: Vec<char> = wanted.chars().collect();
    let mut found: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (likeness(&wanted, candidate), candidate))
        .filter(|(likeness, _)| *likeness > THRESHOLD)
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The Jaro-Winkler likeness, from 0 to 1; the common start counts in full length.
fn likeness(a: &[char], b: &str) -> f64 {
    let b: Vec<char> = b.chars().collect();
    let jaro = jaro(a, &b);
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    (jaro + 0.1 * prefix as f64 * (1.0 - jaro)).min(1.0)
}

fn jaro(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    if a.len() == 1 && b.len() == 1 {
        return if a == b { 1.0 } else { 0.0 };
    }
    let range = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut matches = 0usize;
    let mut transpositions = 0usize;
    let mut last_match = 0;
    for (i, x) in a.iter().enumerate() {
        let low = i.saturating_sub(range);
        let high = b.len().min(i + range + 1);
        for j in low..high {
            if *x == b[j] && !taken[j] {
                taken[j] = true;
                matches += 1;
                if j < last_match {
                    transpositions += 1;
                }
                last_match = j;
                break;
            }
        }
    }
    if matches == 0 {
        return 0.0;
    }
    let m = matches as f64;
    (m / a.len() as f64 + m / b.len() as f64 + (m - transpositions as f64) / m) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_named_best_last() {
        assert_eq!(similar("AppConfiguration", ["appConfiguration", "x"]), ["appConfiguration"]);
        assert_eq!(similar("nam", ["name", "age"]), ["name"]);
        assert_eq!(similar("key4", ["key1", "key2", "key3"]), ["key1", "key2", "key3"]);
        assert!(similar("age", ["name"]).is_empty());
    }
}
