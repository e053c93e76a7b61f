#!/bin/sh
# Makes models/nano-asr from nothing: run.sh FSDD_RECORDINGS WORK [HOURS_OF_SPEECH] [STEPS_OF_TRAINING]
# FSDD_RECORDINGS: the folder of wav files of the Free Spoken Digit Dataset. WORK: a folder outside the repository for
# texts, speech and checkpoints; what is there already is not made again. To be run in the root of the repository.
# SPEECH=folder: recordings of people for people.py; after the made speech the network then learns from both, again for
# STEPS_OF_TRAINING, a fifth of them before it names the phonemes of the recordings.
# QA=folder: sets of questions for texts.py. WORKERS: processes that train side by side.
# START=models/nano-asr leaves out the training on made speech alone, and goes on from the shipped weights and units.
set -eu
recordings=$1 work=$2 hours=${3:-64} steps=${4:-60000}
here=tools/training/asr
python=${PYTHON:-/usr/bin/python3}
workers=${WORKERS:-1} people=$work/people

sh "$here/fetch.sh" "$work/fetched"
[ -d "$work/text" ] || "$python" "$here/texts.py" "$work/fetched" . "$work/text" ${QA:+"$QA"}
[ -z "${START:-}" ] || cp "$START/vocab.json" "$work/vocab.json"
[ -f "$work/vocab.json" ] || "$python" "$here/units.py" "$work/text/train.jsonl" "$work/vocab.json"
[ -z "${SPEECH:-}" ] || [ -f "$people/texts.jsonl" ] || "$python" "$here/people.py" "$SPEECH" "$people" --versions 6
[ -f "$work/lm.bin" ] || "$python" "$here/lm.py" "$work/vocab.json" "$work/lm.bin" \
  "$work/text/train.jsonl" "$work/text/questions.jsonl" "$work/text/examples.jsonl" \
  ${SPEECH:+"$people/texts.jsonl:2" --without "$people/held-out.jsonl"}
cat "$work/text/train.jsonl" "$work/text/questions.jsonl" > "$work/spoken.jsonl"
"$python" "$here/synthesise.py" "$work/spoken.jsonl" "$recordings" "$work/shards" --shards $((hours * 6 / 5))
[ -d "$work/sets" ] || "$python" "$here/evaluation_sets.py" "$work/text" "$recordings" "$work/sets"
last=${START:-$work/run/last.pt}
[ -n "${START:-}" ] ||
  "$python" "$here/train.py" "$work/shards" "$work/vocab.json" "$work/run" --steps "$steps" --workers "$workers"
if [ -n "${SPEECH:-}" ]; then
  "$python" "$here/train.py" "$people/shards,$work/shards" "$work/vocab.json" "$work/run-first" --steps $((steps / 5)) \
    --workers "$workers" --rate 1.8e-3 --warmup 80 --vary --shares 0.65,0.35 --dropout 0.1 --continue "$last"
  "$python" "$here/name_phonemes.py" "$work/run-first/last.pt" "$work/vocab.json" "$people/shards" "$people/named"
  "$python" "$here/train.py" "$people/named,$people/shards,$work/shards" "$work/vocab.json" "$work/run-people" --steps $((steps * 4 / 5)) \
    --workers "$workers" --rate 1.8e-3 --warmup 40 --vary --shares 0.4,0.1,0.5 --splice 0.5 --dropout 0.1 --continue "$work/run-first/last.pt"
  last=$work/run-people/last.pt
fi
sh "$here/ship.sh" "$last" "$work"
