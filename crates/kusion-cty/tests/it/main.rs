//! Laws of the encodings on random values, and hostile input.

mod hostile;
mod laws;
mod samples;
