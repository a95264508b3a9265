//! How two versions of a Kubernetes object become one: JSON patch, merge patch, strategic merge
//! patch and server-side apply with managed fields.
//!
//! Pure functions over JSON and a [`TypeTable`](kusion_k8s_schema::TypeTable). Knows nothing of
//! storage, HTTP or the engine.
