[package]
name = "@NAME@"
