//! Kills operations of the engine and checks that the next run finishes them: nothing lost,
//! nothing made twice, no manual step.
//!
//! `crash-driver` runs one operation in a process of its own and can end itself at any point
//! that the engine passes; [`Arena`] starts it, kills it, and looks at what is there afterwards.

mod arena;
mod soak;
mod stacks;

pub use arena::{Arena, Infrastructure, Paused, Run};
pub use soak::{Figures, soak};
pub use stacks::{Variant, spec};
