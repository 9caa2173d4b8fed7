//! What every request passes: where the router is mounted, who asks, from where; and the headers of every answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::{OriginalUri, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view;

/// Nothing but our own files; no frame, no inline script or style, forms to ourselves.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) async fn enter(State(admin): State<Shared>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let base = base(&request);
    let who = admin.access.who(request.headers());
    let is_health = path.starts_with("/health/");
    let mut response = if admin.local_only && !is_local(request.headers()) {
        Failure::new(
            StatusCode::FORBIDDEN,
            "these pages are served to this machine only, as localhost or 127.0.0.1",
        )
        .hint("A tunnel works; for other names, bind another address, with a password.")
        .into_response()
    } else if let Some(who) = who.or_else(|| is_health.then(String::new)) {
        let ctx = Ctx::new(&admin, &request, base.clone(), who);
        request.extensions_mut().insert(ctx.clone());
        let response = next.run(request).await;
        match response.extensions().get::<Arc<Failure>>().cloned() {
            Some(failure) if !is_data(&path) => told(&ctx, &failure),
            _ => response,
        }
    } else {
        refused()
    };
    if is_data(&path)
        && let Some(failure) = response.extensions().get::<Arc<Failure>>().cloned()
    {
        response =
            (failure.status, Json(json!({ "error": failure.message, "hint": failure.hint }))).into_response();
    } else if response
        .extensions()
        .get::<Arc<Failure>>()
        .is_some_and(|_| !response.headers().contains_key(CONTENT_TYPE))
    {
        let failure = response.extensions().get::<Arc<Failure>>().cloned();
        let text = failure.map(|failure| failure.message.clone()).unwrap_or_default();
        response = (response.status(), text).into_response();
    }
    guard(response.headers_mut());
    response
}

fn is_data(path: &str) -> bool {
    path.starts_with("/api/")
}

/// A failure as a page.
fn told(ctx: &Ctx, failure: &Failure) -> Response {
    let body = view::layout::failure(ctx, failure);
    let mut response = ctx.page("Not carried out", "", &body);
    *response.status_mut() = failure.status;
    response
}

fn refused() -> Response {
    let mut response = (StatusCode::UNAUTHORIZED, "a password is needed\n").into_response();
    let challenge = HeaderValue::from_static("Basic realm=\"fairgate\", charset=\"UTF-8\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

fn guard(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// What a nest took off the path before it came here.
fn base(request: &Request) -> String {
    let inner = request.uri().path();
    let outer = request.extensions().get::<OriginalUri>().map_or(inner, |original| original.0.path());
    let base = outer.strip_suffix(inner).unwrap_or(outer);
    base.trim_end_matches('/').to_owned()
}

fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return true;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}
