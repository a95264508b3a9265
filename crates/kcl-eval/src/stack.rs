//! Where the stack of the machine ends.

/// Returns an address of the current stack frame. Stacks grow towards lower addresses.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost more than the comparison")]
pub fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}
