//! One suite of HTTP requests for any Kubernetes API server.
//!
//! A case (`cases/*.yaml`) is a list of requests; what a real server answered lies in
//! `recorded/`. Every request is one check: status and body must be those that were recorded,
//! apart from what differs by nature (uids, versions, times, addresses). `k8s-suite record`
//! asks a real server anew, `k8s-suite check` compares any server, `k8s-suite kubectl` runs the
//! script of commands in `kubectl/`. Start reading at `run.rs`.

mod case;
mod client;
mod kubectl;
mod load;
mod normal;
mod phases;
mod recorded;
mod run;

pub use case::{Case, Step, read_cases};
pub use client::Client;
pub use kubectl::run_script;
pub use load::{Cost, load};
pub use phases::send_phases;
pub use recorded::{Answer, Recorded};
pub use run::{AT_ONCE, answers, check_all};
