//! Whole operations on an embedded cluster and on a folder.

mod behaviour;
mod containers;
mod costs;
mod events;
mod histories;
mod life;
mod moves;
mod network;
mod owners_walk;
mod ownership;
mod places;
mod plans;
mod policies;
#[path = "../../../kusion-runtime-k8s/tests/it/proxy.rs"]
#[expect(dead_code, reason = "the tests of the runtime use the rest")]
mod proxy;
mod releases;
mod safety;
mod saved;
mod things;
mod waiting;
mod walking;
mod world;
