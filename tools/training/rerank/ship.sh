#!/bin/sh
# Makes models/nano-rerank: ship.sh QA_DIR WORK. QA_DIR: the files of questions in models/SOURCES.md. WORK: a folder
# outside the repository. It starts with nano-rerank before it had marks of matching words, and trains on the first 960
# questions of every fourth group, in the format of nano-reader. Run it in the root of the repository; it needs numpy,
# torch, g++ and the history of the repository.
set -eu
qa=$1 work=$2
reader=tools/training/reader
. "$reader/prepare.sh"

before=$work/models/nano-rerank
fetch_first_reranker
"$python" "$reader/groups.py" "$qa" "$work/groups.jsonl"
awk 'NR % 4 == 1' "$work/groups.jsonl" >"$work/quarter.jsonl"
# The limit ends the training; the time alone would lower its rate.
"$python" "$reader/train.py" "$work/quarter.jsonl" "$work/rerank" --tokenizer "$before/tokenizer.json" \
  --init "$before/model.safetensors" --cand 8 --limit 960 --seconds 36000
"$python" "$reader/export.py" "$work/rerank-final.pt" "$work/float"
npm run build
node dist/quantize-checkpoint.js "$work/float" models/nano-rerank
