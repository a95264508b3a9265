//! Checks what a service promises, before the first write.
//!
//! Locks need both conditional writes: without `If-None-Match`, two processes could write the same
//! segment; without `If-Match`, both could write the lease. The object with the format number
//! remembers which services were checked, so that it happens once for each of them.

use super::S3;
use crate::backend::{Backend as _, Expected, PutError, Version};
use crate::error::StoreError;
use bytes::Bytes;

/// The format of the store, and the object that names it.
const FORMAT: u32 = 2;
pub(super) const MARK: &str = "kusion.format";
/// What the lines of checked services begin with.
const CHECKED: &str = "conditional-writes ";
/// How often the check starts again, because other processes do the same.
const ATTEMPTS: usize = 5;
/// A version that no object has.
const NO_VERSION: &str = "\"00000000000000000000000000000000\"";

impl S3 {
    /// Checks the format of the store and the promises of the service. Returns why the store can
    /// only be read; `None` if it can be written.
    pub(super) async fn prepare(&self) -> Result<Option<String>, StoreError> {
        let mut was_seen = false;
        for _ in 0..ATTEMPTS {
            let Some((bytes, version)) = self.get(MARK).await? else {
                match self.put(MARK, FORMAT.to_string().into(), Expected::Absent).await {
                    Ok(_) | Err(PutError::Conflict) => continue,
                    // Reading an empty store needs no promises.
                    Err(PutError::Failed(error)) => return Ok(Some(error.to_string())),
                }
            };
            was_seen = true;
            let text = self.format_of(&bytes)?;
            let line = format!("{CHECKED}{}", self.service);
            if text.lines().any(|it| it == line) {
                return Ok(None);
            }
            match self.put(MARK, bytes.clone(), Expected::Absent).await {
                Err(PutError::Conflict) => {}
                Ok(_) => return Err(self.unsupported("If-None-Match").await),
                Err(PutError::Failed(error)) => return Ok(Some(error.to_string())),
            }
            match self.put(MARK, bytes.clone(), Expected::Is(Version(NO_VERSION.into()))).await {
                Err(PutError::Conflict) => {}
                Ok(_) => return Err(self.unsupported("If-Match").await),
                Err(PutError::Failed(error)) => return Ok(Some(error.to_string())),
            }
            let text = Bytes::from(format!("{}\n{line}\n", text.trim_end()));
            match self.put(MARK, text, Expected::Is(version)).await {
                Ok(_) => return Ok(None),
                Err(PutError::Conflict) => {}
                Err(PutError::Failed(error)) => return Ok(Some(error.to_string())),
            }
        }
        if was_seen {
            return Err(self.unsupported("If-Match").await);
        }
        let what = "the bucket does not exist, or does not keep what is written";
        Err(StoreError::Address(format!("{}: {what}", self.place)))
    }

    /// Checks the format number of the store; returns the whole text.
    fn format_of<'a>(&self, bytes: &'a [u8]) -> Result<&'a str, StoreError> {
        let unclear =
            || StoreError::damaged(&self.place, format!("`{MARK}` is not a valid format number"));
        let text = std::str::from_utf8(bytes).map_err(|_| unclear())?;
        let first = text.lines().next().unwrap_or_default().trim();
        let found: u32 = first.parse().map_err(|_| unclear())?;
        if found == FORMAT { Ok(text) } else { Err(StoreError::format(&self.place, found, FORMAT)) }
    }

    /// Creates the error for a service that ignores a condition; removes the mark of a new store.
    async fn unsupported(&self, condition: &str) -> StoreError {
        let is_new = self.list("").await.is_ok_and(|keys| keys == [MARK]);
        if is_new {
            let _ = self.delete(&[MARK.to_owned()]).await;
        }
        StoreError::Address(format!(
            "{}: this service does not support conditional writes (`{condition}`), without which \
             two processes could lock the same stack",
            self.place
        ))
    }
}
