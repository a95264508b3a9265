//! Similar words, for "did you mean".

/// Counts the changes that turn one text into another: inserted, removed and replaced characters,
/// and swapped neighbours.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut last) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    let mut previous = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != *y)).min(last[j + 1] + 1).min(row[j] + 1);
            if j > 0 && previous == Some(*y) && x == b[j - 1] {
                let swapped: usize = before[j - 1];
                least = least.min(swapped + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(x);
    }
    last[b.len()]
}

/// Returns the candidate that is most similar to a word, if one is similar enough: a third of its
/// characters, and 3 at most, may differ. Upper and lower case do not count.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const MOST: usize = 3;
    let word = word.to_lowercase();
    let n_chars = word.chars().count();
    let limit = (n_chars / 3).clamp(1, MOST);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(word.len()) > limit * 4 {
            continue;
        }
        let distance = distance(&word, &candidate.to_lowercase());
        // A word of one character is similar to nothing.
        let is_similar = distance <= limit && distance < n_chars;
        if is_similar && best.is_none_or(|(known, _)| distance < known) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        let counted = [("", ""), ("a", ""), ("", "ab"), ("kind", "kidn"), ("abc", "axc")]
            .map(|(a, b)| distance(a, b));
        assert_eq!(counted, [0, 1, 2, 1, 1]);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_similar_words_are_found() {
        let keys = ["apiVersion", "kind", "labels"];
        assert_eq!(nearest("apiVersoin", keys), Some("apiVersion"));
        assert_eq!(nearest("apiversion", keys), Some("apiVersion"));
        assert_eq!(nearest("kidn", keys), Some("kind"));
        assert_eq!(nearest("lables", keys), Some("labels"));
        assert_eq!(nearest("owner", keys), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
