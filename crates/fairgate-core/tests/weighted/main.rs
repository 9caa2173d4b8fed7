//! Weighted fairness, claim by claim, in a simulated lane: ticks, partitions, gates, back-pressure and workers in virtual
//! time, with fixed seeds.
#![allow(clippy::unwrap_used)]

mod changes;
mod controls;
mod gates;
mod jobs;
mod measure;
mod sim;
mod state;
mod time;
