//! What is to be done, worked out without asking anyone: the graph of resources and the plan.

pub mod graph;
