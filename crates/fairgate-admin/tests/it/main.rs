//! The pages over a real database, request by request.

mod access;
mod actions;
mod api;
mod nest;
mod pages;
mod seen;
mod site;
