#!/bin/sh
# Makes models/nano-reader from models/nano-rerank: run.sh QA_DIR SQUAD_FILE WORK [SECONDS_OF_TRAINING]
# QA_DIR: the files of questions that models/SOURCES.md names. SQUAD_FILE: passages whose questions are only reported on.
# WORK: a folder outside the repository. To be run in the root of the repository; needs numpy, torch and g++.
set -eu
qa=$1 squad=$2 work=$3 seconds=${4:-1400}
here=tools/training/reader
python=${PYTHON:-/usr/bin/python3}

mkdir -p "$work"
# Without AMX the matrix products take AVX-512's bfloat16 instructions.
grep -q amx_bf16 /proc/cpuinfo && tiles= || tiles=-DNOAMX
g++ -O3 -march=native -ffast-math -fopenmp -shared -fPIC $tiles "$here/ops.cpp" -o "$work/libops.so"
export OPS="$work/libops.so" OMP_NUM_THREADS="${OMP_NUM_THREADS:-$(nproc)}"
"$python" "$here/groups.py" "$qa" "$work/groups.jsonl"
"$python" "$here/train.py" "$work/groups.jsonl" "$work/reader" --tokenizer models/nano-rerank/tokenizer.json \
  --init models/nano-rerank/model.safetensors --seconds "$seconds" --cand 8
"$python" "$here/export.py" "$work/reader-final.pt" "$work/float"
npm run build
node dist/quantize-checkpoint.js "$work/float" models/nano-reader
cp "$work/float/config.json" models/nano-rerank/tokenizer.json models/nano-rerank/tokenizer_config.json \
  models/nano-rerank/special_tokens_map.json models/nano-reader/
node dist/passages-reader.js "$qa" "$squad" "$work/passages" --report
node dist/fit-reader.js "$work/passages" models/nano-reader --report squad-reported technical-reported
