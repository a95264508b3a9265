//! Stub.
use super::task::Key;
use super::world::World;
use crate::Status;
pub(crate) fn sync(_: &mut World, _: &Key) -> Result<(), Status> {
    Ok(())
}
