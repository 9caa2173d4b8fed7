#!/usr/bin/env bash
# Makes sure that a PostgreSQL server is installed (not that one runs): does nothing if its programs are found,
# installs them with apt-get on Debian and Ubuntu, and says what to install elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

# The search itself is fairgate-localpg's, so that this script and the server agree on where to look.
if message=$(cargo run --quiet --package xtask -- find-postgres 2>&1); then
    exit 0
fi
# A folder chosen by hand, or a system without apt-get, is not ours to change.
if [ -n "${FAIRGATE_PG_BIN:-}" ] || ! command -v apt-get >/dev/null; then
    printf '%s\n' "$message" >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "PostgreSQL is not installed. As root, run: apt-get install --no-install-recommends postgresql" >&2
        exit 1
    fi
    as_root=(sudo)
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >&2
}

echo "PostgreSQL is not installed: installing its server programs with apt-get ..." >&2
apt update
apt install -y --no-install-recommends postgresql-common

# The server package would create and start a cluster of its own, unless this setting says otherwise meanwhile.
setting=/etc/postgresql-common/createcluster.conf
saved=$(mktemp)
cp "$setting" "$saved" 2>/dev/null || true
restore() {
    "${as_root[@]}" cp "$saved" "$setting"
    rm -f "$saved"
}
trap restore EXIT
echo "create_main_cluster = false" | "${as_root[@]}" tee -a "$setting" >/dev/null
apt install -y --no-install-recommends postgresql

cargo run --quiet --package xtask -- find-postgres >&2
