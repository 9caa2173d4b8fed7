//! Styles and scripts, compiled in. Their address carries a digest of what they hold, so browsers may keep them for good.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

const ASSETS: [Asset; 5] = [
    Asset {
        name: "style.css",
        kind: CSS,
        text: concat!(include_str!("../assets/style.css"), include_str!("../assets/parts.css")),
    },
    Asset { name: "theme.js", kind: JS, text: include_str!("../assets/theme.js") },
    Asset { name: "app.js", kind: JS, text: include_str!("../assets/app.js") },
    Asset { name: "idiomorph.js", kind: JS, text: include_str!("../assets/vendor/idiomorph-0.8.0.min.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("../assets/icon.svg") },
];

/// Changes whenever one of them does.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest =
        ASSETS.iter().fold(Sha256::new(), |digest, asset| digest.chain_update(asset.text)).finalize();
    digest[..6].iter().map(|byte| format!("{byte:02x}")).collect()
});

/// The address of an asset below the router.
pub(crate) fn path(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

pub(crate) async fn get(Path((version, name)): Path<(String, String)>) -> Result<Response, Failure> {
    let asset = ASSETS.iter().find(|asset| asset.name == name && version == *VERSION);
    let asset = asset.ok_or_else(|| Failure::not_found("there is no such file; reload the page"))?;
    let headers = [(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, asset.text).into_response())
}
