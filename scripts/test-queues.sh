#!/bin/sh
# Installs the real workers of other languages from their registries, and runs 1,000 jobs through each queue. What cannot be had is an error.
set -eu
cd "$(dirname "$0")/.."

need() {
    command -v "$1" >/dev/null || { echo "test-queues: $1 is not installed: $2" >&2; exit 1; }
}
fetch() {
    what=$1; shift
    echo "test-queues: installing $what" >&2
    "$@" || { echo "test-queues: $what could not be installed; is its registry within reach?" >&2; exit 1; }
}

need node "Node 20 or newer, https://nodejs.org"
need npm "it comes with Node, https://nodejs.org"
need python3 "Python 3.10 or newer with venv"

fetch "the workers of Node (npm)" npm --prefix workers/node ci --no-audit --no-fund --silent
fetch "the producer in Node (npm)" npm --prefix examples/node ci --no-audit --no-fund --silent
[ -x workers/python/venv/bin/python ] || fetch "a Python of its own (venv)" python3 -m venv workers/python/venv
fetch "the workers of Python (PyPI)" workers/python/venv/bin/pip install --quiet --disable-pip-version-check -r workers/python/requirements.txt -r examples/python/requirements.txt
# apalis checks its statements against the database of DATABASE_URL while it is built, if there is one.
fetch "the workers in Rust (crates.io)" env -u DATABASE_URL SQLX_OFFLINE=true cargo build --release --locked --quiet \
    --manifest-path workers/rust/Cargo.toml --target-dir "${FAIRGATE_WORKERS_TARGET:-workers/rust/target}"

scripts/ensure-postgres.sh
# One queue at a time: each brings processes of its own.
cargo run --quiet --package xtask -- with-postgres -- cargo test --package fairgate-testkit --test workers --test producers -- --ignored --test-threads 1 "$@"
