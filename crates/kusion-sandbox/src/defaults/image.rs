//! Names of images, as far as they decide when an image is pulled.

/// Bytes that a name may have at most, without tag and digest.
const LONGEST_NAME: usize = 255;
/// Bytes that a tag may have at most.
const LONGEST_TAG: usize = 128;

/// Returns whether a container pulls its image each time: the name is valid, and its tag is
/// `latest`, or it has neither tag nor digest.
pub(super) fn follows_latest(image: &str) -> bool {
    let (tagged, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let path = tagged.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match tagged[path..].split_once(':') {
        Some((last, tag)) => (&tagged[..path + last.len()], Some(tag)),
        None => (tagged, None),
    };
    let known = is_name(name) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    known && (tag == Some("latest") || (tag.is_none() && digest.is_none()))
}

fn is_name(name: &str) -> bool {
    let bare_digest = name.len() == 64 && name.bytes().all(is_lower_hex);
    let (domain, path) = match name.split_once('/') {
        // The first part is a host if no part of a path could look like it.
        Some((first, rest))
            if first.contains(['.', ':'])
                || first == "localhost"
                || first.bytes().any(|it| it.is_ascii_uppercase()) =>
        {
            (Some(first), rest)
        }
        _ => (None, name),
    };
    let by_host = domain.is_none_or(is_domain) && path.split('/').all(is_component);
    !bare_digest && name.len() <= LONGEST_NAME && (by_host || name.split('/').all(is_component))
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if !domain.ends_with(']') => (host, Some(port)),
        _ => (domain, None),
    };
    if port.is_some_and(|port| port.is_empty() || !port.bytes().all(|it| it.is_ascii_digit())) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        return !address.is_empty()
            && address.bytes().all(|it| it.is_ascii_hexdigit() || it == b':');
    }
    host.split('.').all(|label| {
        !label.is_empty()
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// Lower case letters and digits, with single dots, one or two underscores, or dashes between.
fn is_component(part: &str) -> bool {
    let letter = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let bytes = part.as_bytes();
    let bounded =
        bytes.first().copied().is_some_and(letter) && bytes.last().copied().is_some_and(letter);
    let separators = part.split(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit());
    bounded
        && separators
            .filter(|it| !it.is_empty())
            .all(|it| matches!(it, "." | "_" | "__") || it.bytes().all(|byte| byte == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    tag.len() <= LONGEST_TAG
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|it| word(it) || it == b'.' || it == b'-')
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    hex.len() >= 32
        && hex.bytes().all(|it| it.is_ascii_hexdigit())
        && algorithm.split(['-', '_', '+', '.']).all(|part| {
            part.bytes().next().is_some_and(|it| it.is_ascii_alphabetic())
                && part.bytes().all(|it| it.is_ascii_alphanumeric())
        })
}

fn is_lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_decides_when_an_image_is_pulled() {
        for image in [
            "nginx",
            "host:5000/nginx",
            "nginx:latest",
            "Host/nginx",
            "a.b/c__d/e--f",
            "a__b--c.d/e",
            "[::1]:5000/x",
            "nginx:latest@sha256:0123456789abcdef0123456789abcdef",
        ] {
            assert!(follows_latest(image), "{image}");
        }
        for image in [
            "nginx:1",
            "nginx@sha256:0123",
            "nginx@sha256:0123456789abcdef0123456789abcdef",
            "",
            "Nginx",
            "<img>",
            "a..b",
            "nginx:",
            "gcr.io/<project>/job-wq-1",
            "a/Nginx:latest",
        ] {
            assert!(!follows_latest(image), "{image}");
        }
    }
}
