#!/usr/bin/env bash
# Chromium, Node 18 or newer, psql, and the packages of the browser tests. On Debian and Ubuntu, as root or with sudo, it installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "${FAIRGATE_CHROMIUM:-}" ] || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
command -v psql >/dev/null || [ -n "${PSQL:-}" ] || missing+=(postgresql-client)
if [ ${#missing[@]} -gt 0 ]; then
    command -v apt-get >/dev/null || { echo "install ${missing[*]}, then run this again" >&2; exit 1; }
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"
fi

major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 18 ] || { echo "Node is $(node --version), the browser tests need 18 or newer: see https://nodejs.org" >&2; exit 1; }

cd crates/fairgate-admin/browser
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent
