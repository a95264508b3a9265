//! Random layers, merged by the resolver and by a model that follows the text of the rules.
//!
//! `KUSION_CELLS_CONFIGURATIONS` sets the number of configurations, `KUSION_CI_SEED` chooses them.

mod examples;
mod generate;
mod laws;
mod model;
