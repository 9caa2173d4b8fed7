//! `/partitions`: which policy; `/partitions/{policy}`: its partitions, page by page, or one of them.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use fairgate::PolicyName;
use fairgate::observe::{self, PageMark, PartitionList, PartitionSort, PartitionStatus, PartitionsAsked};
use maud::{Markup, html};

use super::{Asked, given, partition};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{form, number, part, time};

/// Rows of a page.
const ROWS: u32 = 50;
/// The sorts with their words.
const SORTS: [(PartitionSort, &str); 6] = [
    (PartitionSort::Pending, "most waiting"),
    (PartitionSort::InFlight, "most in flight"),
    (PartitionSort::Recent, "most active"),
    (PartitionSort::Due, "next look"),
    (PartitionSort::Admitted, "most ever admitted"),
    (PartitionSort::Key, "key"),
];

pub(crate) async fn partitions(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
) -> Result<Response, Failure> {
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let policies = observe::policies(&mut tx).await?;
    drop(tx);
    let rows: Vec<Markup> = policies
        .iter()
        .map(|policy| {
            html! {
                tr {
                    th scope="row" { (form::link(&ctx, &format!("/partitions/{}", policy.name), &policy.name)) }
                    td.number { (number::count(policy.partitions)) }
                    td.number { (number::count(policy.pending)) }
                    td.number { (number::count(policy.in_flight)) }
                    td { (search(&ctx, &policy.name)) }
                }
            }
        })
        .collect();
    let head =
        [("policy", false), ("partitions", true), ("waiting", true), ("in flight", true), ("search", false)];
    let body =
        html! { h1 { "Partitions" } p.quiet { "Of which policy?" } (part::table("Policies", &head, &rows)) };
    Ok(ctx.page("Partitions", "/partitions", &body))
}

fn search(ctx: &Ctx, policy: &str) -> Markup {
    html! {
        form.inline method="get" action=(ctx.to(&format!("/partitions/{policy}"))) {
            input type="search" name="search" aria-label={ "Text in the keys of " (policy) } placeholder="text in the key";
            button type="submit" { "Search" }
        }
    }
}

pub(crate) async fn partitions_of(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path(policy): Path<String>,
    Query(query): Asked,
) -> Result<Response, Failure> {
    let policy: PolicyName = policy.parse()?;
    if let Some(key) = query.get("key") {
        return partition::partition(&admin, &ctx, &policy, &key.parse()?).await;
    }
    // A mark that somebody made up or broke leads to the first page, and is told of.
    let after: Option<Result<PageMark, _>> = query.get("after").map(|mark| mark.parse());
    let asked = PartitionsAsked {
        search: given(&query, "search").map(str::to_owned),
        sort: given(&query, "sort").and_then(PartitionSort::from_name).unwrap_or_default(),
        waiting: given(&query, "waiting").is_some(),
        after: after.clone().and_then(Result::ok),
    };
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let list = observe::partition_page(&mut tx, &policy, &asked, ROWS).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let body = html! {
        p.crumbs { (form::link(&ctx, "/partitions", "Partitions")) " / " (form::policy(&ctx, policy.as_str())) }
        h1 { "Partitions of " (policy) }
        (filter(&ctx, &policy, &asked))
        @if let Some(Err(problem)) = after { p.card.failure role="alert" { (problem) } }
        (rows(&ctx, &list, now))
        (pages(&ctx, &list, &asked))
    };
    Ok(ctx.page(&format!("Partitions of {policy}"), "/partitions", &body))
}

fn filter(ctx: &Ctx, policy: &PolicyName, asked: &PartitionsAsked) -> Markup {
    html! {
        form.card.filter method="get" action=(ctx.to(&format!("/partitions/{policy}"))) {
            label { "Key contains" input type="search" name="search" value=(asked.search.as_deref().unwrap_or("")) autocomplete="off" spellcheck="false"; }
            label { "Sort by" select name="sort" {
                @for (sort, words) in SORTS { option value=(sort.name()) selected[sort == asked.sort] { (words) } }
            } }
            label.check { input type="checkbox" name="waiting" value="1" checked[asked.waiting]; "only where jobs wait" }
            button type="submit" { "Show" }
        }
    }
}

fn rows(ctx: &Ctx, list: &PartitionList, now: DateTime<Utc>) -> Markup {
    let rows: Vec<Markup> = list
        .partitions
        .iter()
        .map(|one| {
            html! {
                tr {
                    th scope="row" { (form::partition(ctx, list.policy.as_str(), &one.key)) }
                    td.number { (number::count(one.pending)) @if one.scheduled > 0 { span.quiet { " +" (number::count(one.scheduled)) " later" } } }
                    td.number { (number::count(one.in_flight)) }
                    td.number { (number::count(one.admitted)) }
                    td { (next_look(one, now)) }
                    td { @if let Some(code) = &one.denial { (part::reason(code)) } }
                    td { (one.shard) }
                }
            }
        })
        .collect();
    let head = [
        ("partition", false),
        ("waiting", true),
        ("in flight", true),
        ("ever admitted", true),
        ("next look", false),
        ("held by, last look", false),
        ("shard", false),
    ];
    html! {
        @if rows.is_empty() {
            p.card.quiet { "No partition matches. One appears when a job of it is staged." }
        } @else { (part::table("Partitions", &head, &rows)) }
    }
}

fn next_look(one: &PartitionStatus, now: DateTime<Utc>) -> Markup {
    html! {
        @if one.paused { (part::badge("warning", "paused")) }
        @else if let Some(at) = one.due_at { (time::until(now, at)) }
    }
}

fn pages(ctx: &Ctx, list: &PartitionList, asked: &PartitionsAsked) -> Markup {
    let mut query = format!("sort={}", asked.sort.name());
    if let Some(search) = &asked.search {
        query += &format!("&search={}", form::encoded(search));
    }
    if asked.waiting {
        query += "&waiting=1";
    }
    let path = ctx.to(&format!("/partitions/{}?{query}", list.policy));
    html! {
        nav.pages aria-label="Pages of the list" {
            @if asked.after.is_some() { a href=(path) { "« first page" } }
            @if let Some(next) = &list.next { a rel="next" href={ (path) "&after=" (form::encoded(next)) } { "next page »" } }
        }
    }
}
