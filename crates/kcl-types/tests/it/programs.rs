//! Small programs with their findings written under the code.
