//! Stub.
use super::task::Key;
use super::world::World;
use crate::Status;
pub(crate) const PROVISIONER: &str = "sandbox.kusion.io/volumes";
pub(crate) fn sync_claim(_: &mut World, _: &Key) -> Result<(), Status> {
    Ok(())
}
pub(crate) fn sync_volume(_: &mut World, _: &Key) -> Result<(), Status> {
    Ok(())
}
pub(crate) fn protect(_: &mut World, _: &Key) -> Result<(), Status> {
    Ok(())
}
