//! The runtime on a sandbox, or on the server of `KUSION_REAL_KUBECONFIG`.

mod adopting;
mod changing;
mod cluster;
mod connecting;
mod copying;
mod deleting;
mod faults;
mod health;
mod owning;
mod proxy;
mod reading;
mod servers;
mod watching;
