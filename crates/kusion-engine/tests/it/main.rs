//! Whole operations on an embedded cluster.

mod costs;
mod life;
mod network;
mod plans;
#[path = "../../../kusion-runtime-k8s/tests/it/proxy.rs"]
#[expect(dead_code, reason = "the tests of the runtime use the rest")]
mod proxy;
mod releases;
mod safety;
mod walking;
mod world;
