[package]
name = "webshop"
edition = "0.1.0"
version = "0.1.0"
