[package]
name = "konfig"
version = "0.1.0"
