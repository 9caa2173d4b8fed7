//! Who is served first in a tick, and how much each gets.

mod recent;
mod share;
pub mod weighted;

pub use recent::decayed;
pub use share::{everybody_gets_one, offers};
