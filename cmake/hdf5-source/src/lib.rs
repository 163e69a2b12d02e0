//! Empty: cargo wants a crate to hold the dependency that Cargo.toml names.
