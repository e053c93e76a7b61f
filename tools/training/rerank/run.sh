#!/bin/sh
# Trains the reranker further on whole passages, and prints its quality on held-out questions: run.sh QA_DIR WORK
# [SECONDS]
# QA_DIR: the files of questions in models/SOURCES.md. WORK: a folder outside the repository. Run it in the root of
# the repository; it needs numpy, torch and g++. The shipped weights are made by ship.sh (see README.md).
set -eu
qa=$1 work=$2 seconds=${3:-2000}
reader=tools/training/reader
. "$reader/prepare.sh"

export PYTHONPATH="$reader"
"$python" tools/training/rerank/groups.py "$qa" "$work/groups.jsonl"
"$python" tools/training/rerank/train.py "$work/groups.jsonl" "$work/rerank" --tokenizer models/nano-rerank/tokenizer.json \
  --init models/nano-reader/model.safetensors --groups 10000 --seconds "$seconds" --at 0,640,1250,2500,5000
"$python" "$reader/export.py" "$work/rerank-final.pt" "$work/float"
npm run build
node dist/quantize-checkpoint.js "$work/float" "$work/int8"
