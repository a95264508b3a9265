//! Programs from text to output, by the driver's public interface.

mod batch;
mod cache;
mod documents;
mod functions;
mod konfig;
mod layers;
mod origins;
mod partial;
mod plugins;
mod provenance;
mod stream;
