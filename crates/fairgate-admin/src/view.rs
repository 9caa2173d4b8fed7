//! What pages are made of.

pub(crate) mod chart;
pub(crate) mod definition;
pub(crate) mod form;
pub(crate) mod hold;
pub(crate) mod layout;
pub(crate) mod number;
pub(crate) mod part;
pub(crate) mod time;
