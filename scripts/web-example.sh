#!/usr/bin/env bash
# Tests the example of a web service: a workspace of its own, with a web framework and SQLite, which needs a C compiler once.
set -euo pipefail
cd "$(dirname "$0")/../examples/web"

command -v cc >/dev/null || { echo "scripts/web-example.sh: SQLite is compiled here: install a C compiler (cc)" >&2; exit 1; }
cargo fmt --check
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-../../target/web}" cargo clippy --all-targets --locked -- -D warnings
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-../../target/web}" cargo test --locked
