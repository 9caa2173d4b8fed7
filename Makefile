# Everything a contributor runs. `make` alone lists the targets.
#   make demo ARGS="--headless --for 20s"     arguments for the demo
#   make test ARGS="-p fairgate-core"         arguments for the test runner, which then runs no documentation examples

.DEFAULT_GOAL := help
.PHONY: help demo pushfeed test test-queues test-browser check bench build clean tools

ARGS ?=
XTASK := cargo run --quiet --package xtask --

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: tools ## Run real jobs of many tenants through a real queue, in a private PostgreSQL unless DATABASE_URL is set
	@[ -n "$${FAIRGATE_DATABASE_URL:-$$DATABASE_URL}" ] || scripts/ensure-postgres.sh
	cargo run --release --package fairgate-cli --bin fairgate -- demo $(ARGS)

pushfeed: tools ## Run pushfeed on files that answer in GitHub's place, in a private PostgreSQL unless DATABASE_URL is set
	@scripts/ensure-postgres.sh
	@if [ -n "$$DATABASE_URL" ]; then \
		set -x; GITHUB_MODE=$${GITHUB_MODE:-fixture} cargo run --release --package pushfeed -- run $(ARGS); \
	else \
		set -x; $(XTASK) with-postgres -- sh -c 'DATABASE_URL=$$FAIRGATE_TEST_DATABASE_URL GITHUB_MODE=fixture cargo run --release --package pushfeed -- run $(ARGS)'; \
	fi

# The documentation's examples go first, so that the last line is the test runner's summary.
test: tools ## Run all tests, in a private PostgreSQL unless FAIRGATE_TEST_DATABASE_URL is set
	@scripts/ensure-postgres.sh
	$(if $(ARGS),,cargo test --quiet --doc)
	@if cargo nextest --version >/dev/null 2>&1; then \
		set -x; $(XTASK) with-postgres -- cargo nextest run $(ARGS); \
	else \
		set -x; $(XTASK) with-postgres -- cargo test --lib --bins --tests --examples $(ARGS); \
	fi

test-queues: tools ## Run 1,000 jobs through each queue with real workers from npm, PyPI and crates.io; some are killed
	scripts/test-queues.sh $(ARGS)

test-browser: tools ## Drive the admin pages in headless Chromium against the demo under load; screenshots go to target/browser
	@scripts/ensure-postgres.sh
	@scripts/ensure-browser.sh
	cargo build --package fairgate-cli --bin fairgate
	FAIRGATE_BIN=$${CARGO_TARGET_DIR:-target}/debug/fairgate node crates/fairgate-admin/browser/drive.mjs

check: tools ## Check format, lints, documentation, licences and the house rules
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps
	@cargo deny --version >/dev/null 2>&1 || { set -x; cargo install --locked cargo-deny; }
	cargo deny --log-level error check licenses bans sources
	$(XTASK) check

bench: tools ## Measure fairgate beside PostgreSQL's own limit (about 10 minutes); BENCH_JSON=FILE writes it as JSON too
	@scripts/ensure-postgres.sh
	cargo run --release --package fairgate-bench -- $(ARGS)

build: tools ## Build everything, optimised
	cargo build --release --workspace

clean: ## Remove what was built, and the demo's data in this folder
	cargo clean
	rm -rf .fairgate

tools:
	@command -v cargo >/dev/null || { echo "Rust is not installed: see https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "Rust needs a C compiler to link: install gcc (apt-get install gcc, dnf install gcc) or, on macOS, run xcode-select --install" >&2; exit 1; }
