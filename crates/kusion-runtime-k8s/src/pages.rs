//! Lists, page by page, from servers that may never end them.

use crate::calls::{Call, Calls};
use crate::object::ListMetadata;
use http::StatusCode;
use kusion_runtime::RuntimeError;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Number of objects on a page.
const PAGE: usize = 500;
/// Maximum number of pages of a list. Servers may send fewer objects than requested.
const MAX_PAGES: usize = 2000;
/// Maximum size of all pages of a list, in bytes.
const MAX_BYTES: usize = 512 << 20;

/// The result of a list.
pub(crate) enum Listed<T> {
    /// The objects; none if the kind cannot be listed.
    Objects(Vec<T>),
    /// The user may not list the kind.
    Forbidden,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct List<T> {
    #[serde(default)]
    metadata: ListMetadata,
    /// Servers write `null` for some empty lists.
    #[serde(default = "Option::default")]
    items: Option<Vec<T>>,
}

/// Reads a list of a collection.
pub(crate) async fn list<T: DeserializeOwned>(
    calls: &Calls,
    path: &str,
    accept: &str,
) -> Result<Listed<T>, RuntimeError> {
    let (mut found, mut next, mut bytes) = (Vec::new(), String::new(), 0);
    for _ in 0..MAX_PAGES {
        let answer = calls.send(Call { accept, ..Call::page(path, PAGE, None, &next) }).await?;
        if answer.status == StatusCode::FORBIDDEN {
            return Ok(Listed::Forbidden);
        }
        // The kind was removed meanwhile, or cannot be listed.
        if matches!(answer.status.as_u16(), 404 | 405) {
            return Ok(Listed::Objects(found));
        }
        let answer = answer.success()?;
        bytes += answer.body.len();
        if bytes > MAX_BYTES {
            break;
        }
        let list: List<T> = serde_json::from_slice(&answer.body)
            .map_err(|error| calls.lost(&format!("`{path}`: {error}")))?;
        found.extend(list.items.into_iter().flatten());
        next = list.metadata.next;
        if next.is_empty() {
            return Ok(Listed::Objects(found));
        }
    }
    let message = format!(
        "`{}`: the list `{path}` has more than {MAX_PAGES} pages or {} MiB",
        calls.server(),
        MAX_BYTES >> 20
    );
    Err(RuntimeError::Invalid(message))
}
