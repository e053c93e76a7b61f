#!/bin/sh
# Makes models/nano-reader from a reranker: run.sh QA_DIR SQUAD_FILE WORK [SECONDS_OF_TRAINING]
# QA_DIR: the files of questions in models/SOURCES.md. SQUAD_FILE: passages whose questions are used for reports only.
# WORK: a folder outside the repository. RERANKER: the initial reranker, by default models/nano-rerank before it
# got the weights of nano-reader. Run it in the root of the repository; it needs numpy, torch, g++
# and the history of the repository.
set -eu
qa=$1 squad=$2 work=$3 seconds=${4:-1400}
here=tools/training/reader
. "$here/prepare.sh"

reranker=${RERANKER:-$work/models/nano-rerank}
[ -n "${RERANKER:-}" ] || fetch_first_reranker
"$python" "$here/groups.py" "$qa" "$work/groups.jsonl"
"$python" "$here/train.py" "$work/groups.jsonl" "$work/reader" --tokenizer "$reranker/tokenizer.json" \
  --init "$reranker/model.safetensors" --seconds "$seconds" --cand 8
"$python" "$here/export.py" "$work/reader-final.pt" "$work/float"
npm run build
node dist/quantize-checkpoint.js "$work/float" models/nano-reader
cp "$work/float/config.json" "$reranker/tokenizer.json" "$reranker/tokenizer_config.json" \
  "$reranker/special_tokens_map.json" models/nano-reader/
node dist/passages-reader.js "$qa" "$squad" "$work/passages" --report
node dist/fit-reader.js "$work/passages" models/nano-reader --report squad-reported technical-reported
