//! The engine against a real PostgreSQL and Graphile Worker's real tables.

mod admit;
mod world;
