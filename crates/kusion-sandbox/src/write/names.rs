//! Names and uids that the server makes.

const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
const LONGEST: usize = 63;

/// Returns a name that starts with a prefix and ends in random letters.
pub(crate) fn generate(prefix: &str) -> String {
    let mut end = prefix.len().min(LONGEST - SUFFIX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = String::with_capacity(end + SUFFIX);
    name.push_str(&prefix[..end]);
    for _ in 0..SUFFIX {
        name.push(char::from(ALPHABET[fastrand::usize(..ALPHABET.len())]));
    }
    name
}

/// Returns a new random uid (version 4).
pub(crate) fn uid() -> String {
    let bits = (fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        bits >> 96,
        (bits >> 80) & 0xffff,
        (bits >> 64) & 0xffff,
        (bits >> 48) & 0xffff,
        bits & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn uids_have_version_and_variant() {
        let uid = super::uid();
        assert_eq!(uid.len(), 36);
        assert_eq!(&uid[14..15], "4");
        assert!("89ab".contains(&uid[19..20]));
    }

    #[test]
    fn generated_names_are_not_too_long() {
        assert_eq!(super::generate(&"a".repeat(80)).len(), 63);
        assert!(super::generate("web-").starts_with("web-"));
    }
}
