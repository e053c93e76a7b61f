#!/bin/sh
# Makes models/nano-asr from nothing: run.sh FSDD_RECORDINGS WORK [HOURS_OF_SPEECH] [MINUTES_OF_TRAINING]
# FSDD_RECORDINGS: the folder of wav files of the Free Spoken Digit Dataset. WORK: a folder outside the repository for
# texts, speech and checkpoints; what is there already is not made again. To be run in the root of the repository.
set -eu
recordings=$1 work=$2 hours=${3:-64} minutes=${4:-300}
here=tools/training/asr
python=${PYTHON:-/usr/bin/python3}

sh "$here/fetch.sh" "$work/fetched"
"$python" "$here/texts.py" "$work/fetched" . "$work/text"
[ -f "$work/vocab.json" ] || "$python" "$here/units.py" "$work/text/train.jsonl" "$work/vocab.json"
[ -f "$work/lm.bin" ] || "$python" "$here/lm.py" "$work/text" "$work/vocab.json" "$work/lm.bin"
"$python" "$here/synthesise.py" "$work/text/train.jsonl" "$recordings" "$work/shards" --shards $((hours * 6 / 5))
[ -d "$work/sets" ] || "$python" "$here/evaluation_sets.py" "$work/text" "$recordings" "$work/sets"
"$python" "$here/train.py" "$work/shards" "$work/vocab.json" "$work/run" --minutes "$minutes"
"$python" "$here/export.py" "$work/run/last.pt" "$work/vocab.json" "$work/lm.bin" "$work/float"
mkdir -p models/nano-asr
cp "$work/float/config.json" "$work/float/preprocessor_config.json" "$work/float/vocab.json" "$work/float/lm.bin" models/nano-asr/
npm run build
node dist/quantize-checkpoint.js "$work/float" models/nano-asr
node dist/evaluate-speech.js models/nano-asr "$work/sets/sentences" "$work/sets/voice" "$work/sets/noisy" "$work/sets/digits"
