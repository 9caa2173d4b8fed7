//! A lane in virtual time: no clock, no threads, no randomness but a seeded one.

mod dice;
mod tenant;
mod tick;
mod workers;
mod world;

pub(crate) use dice::Dice;
pub(crate) use tenant::{Gate, Length, Tenant};
pub(crate) use world::{Rule, World};
