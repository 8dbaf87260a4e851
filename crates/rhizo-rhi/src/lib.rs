//! The Rhizo GPU contract.
