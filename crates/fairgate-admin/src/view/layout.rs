//! What every page has around it.

use maud::{DOCTYPE, Markup, html};

use super::form;
use crate::assets;
use crate::ctx::Ctx;
use crate::failure::Failure;

/// The menu: address and word.
const MENU: [(&str, &str); 5] = [
    ("/", "Dashboard"),
    ("/policies", "Policies"),
    ("/partitions", "Partitions"),
    ("/quarantine", "Quarantine"),
    ("/audit", "Trail"),
];
const REFRESH: [(&str, &str); 4] = [("0", "off"), ("2", "2 s"), ("5", "5 s"), ("10", "10 s")];
const THEMES: [(&str, &str); 3] = [("auto", "auto"), ("light", "light"), ("dark", "dark")];

/// A whole page. What is in `main` is what a refresh replaces.
pub(crate) fn page(ctx: &Ctx, title: &str, at: &str, body: &Markup) -> Markup {
    let asset = |name| ctx.to(&assets::path(name));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · fairgate" }
                link rel="icon" type="image/svg+xml" href=(asset("icon.svg"));
                link rel="stylesheet" href=(asset("style.css"));
                script src=(asset("theme.js")) {}
                script src=(asset("idiomorph.js")) defer {}
                script src=(asset("app.js")) defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href=(ctx.to("/")) {
                        svg aria-hidden="true" viewBox="0 0 24 24" width="22" height="22" {
                            path d="M4 21V8l8-5 8 5v13M4 13h16M9 21v-8m6 8v-8" {}
                        }
                        span { "fairgate" }
                    }
                    nav aria-label="Pages" {
                        @for (path, word) in MENU {
                            a href=(ctx.to(path)) aria-current=[(path == at).then_some("page")] { (word) }
                        }
                    }
                    form.lookup role="search" method="get" action=(ctx.to("/jobs")) {
                        label.hidden for="lookup" { "Job id" }
                        input #lookup type="search" name="id" placeholder="Find a job by its id" autocomplete="off" spellcheck="false";
                    }
                    div.knobs #knobs hidden {
                        label { "Refresh " select #refresh { @for (value, word) in REFRESH { option value=(value) { (word) } } } }
                        label { "Theme " select #theme { @for (value, word) in THEMES { option value=(value) { (word) } } } }
                    }
                }
                div #told role="status" {
                    @if let Some(flash) = &ctx.flash {
                        p class=(if flash.good { "told good" } else { "told bad" }) { (flash.text) }
                    }
                }
                main #main tabindex="-1" { (body) }
                footer {
                    span { "fairgate " (env!("CARGO_PKG_VERSION")) }
                    span { "times are the database's, in UTC" }
                    @if ctx.read_only { span { "read-only" } }
                    span { "you are " (ctx.who) }
                    span #refreshed {}
                }
            }
        }
    }
}

/// Why something was not carried out.
pub(crate) fn failure(ctx: &Ctx, failure: &Failure) -> Markup {
    html! {
        h1 { "That did not work" }
        section.card.failure {
            p.strong { (failure.message) }
            @if let Some(hint) = &failure.hint { p { (hint) } }
            p { (form::link(ctx, "/", "Back to the dashboard")) }
        }
    }
}
