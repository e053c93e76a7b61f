#!/bin/sh
# Writes a checkpoint as models/nano-asr and measures it: ship.sh CHECKPOINT WORK [MODEL_DIRECTORY]
# BLEND="OTHER SHARE": as export.py says, such as BLEND="models/nano-asr 0.2".
# WORK is the folder of run.sh. To be run in the root of the repository.
set -eu
checkpoint=$1 work=$2 model=${3:-models/nano-asr}
here=tools/training/asr
"${PYTHON:-/usr/bin/python3}" "$here/export.py" "$checkpoint" "$work/vocab.json" "$work/lm.bin" "$work/float" ${BLEND:-}
mkdir -p "$model"
for name in config.json preprocessor_config.json vocab.json lm.bin; do cp "$work/float/$name" "$model"; done
npm run build
node dist/quantize-checkpoint.js "$work/float" "$model"
node dist/evaluate-speech.js "$model" "$work"/sets/sentences "$work"/sets/voice "$work"/sets/noisy "$work"/sets/digits
[ ! -d "$work/people/sets" ] || node dist/evaluate-speech.js "$model" "$work"/people/sets/test-*
