"""Recordings of people for training: people.py SPEECH OUT [--versions 10]

SPEECH has SOURCE.tsv (file, speaker, sentence) and SOURCE.tar with the files, for each of SOURCES. Of each source the
clips of 30 speakers, chosen by the hash of their name, are for measuring and those of 10 for choosing. No other speaker
is trained on with a sentence of these. Writes
- OUT/sets/test-SOURCE and dev-SOURCE: the clips as they are and `transcripts.tsv` (file, tab, words);
- OUT/shards/shard-VVSSS.npz and .json: version VV of every training clip, as synthesise.py writes shards. Version 0 is
  as recorded, the others are stretched, in rooms, with noise;
- OUT/texts.jsonl and OUT/held-out.jsonl: the words of the training clips, and those of the others.
Needs ffmpeg. Shards that are there are not made again, so any number of processes may run with different --first.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import zlib

import numpy as np

from augment import augment, fast_length, resample
from features import RATE, log_mel
from synthesise import CLEAN, LEVELS, UNKNOWN

SOURCES = ("common-voice", "speechocean762-adults")
TEST_SPEAKERS, DEV_SPEAKERS, PER_SHARD = 30, 10, 1000


def words_of(sentence):
    """What is to be recognized: a-z, apostrophe, single spaces."""
    text = re.sub("[\u2018\u2019]", "'", sentence.lower())
    text = re.sub(r"[^a-z' ]", " ", text)
    text = re.sub(r"(^| )'+|'+( |$)", " ", text)
    return re.sub(r" +", " ", text).strip()


def clips(speech, source):
    """(part, file, words) of a source; the part is test, dev or train."""
    with open(f"{speech}/{source}.tsv", encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    speakers = sorted({row["speaker"] for row in rows}, key=lambda name: zlib.crc32(name.encode()))
    part = {name: "test" if place < TEST_SPEAKERS else "dev" if place < TEST_SPEAKERS + DEV_SPEAKERS else "train"
            for place, name in enumerate(speakers)}
    return [(part[row["speaker"]], row["file"], words_of(row["sentence"])) for row in rows]


def decoded(paths, at_once=100):
    """Samples at 16 kHz of many files; ffmpeg takes longer to start than to decode one."""
    for start in range(0, len(paths), at_once):
        with tempfile.TemporaryDirectory() as folder:
            part = paths[start:start + at_once]
            inputs = [word for path in part for word in ("-i", path)]
            outputs = [word for index in range(len(part)) for word in
                       ("-map", f"{index}:a", "-ac", "1", "-ar", str(RATE), "-f", "s16le", f"{folder}/{index}")]
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", *inputs, *outputs], check=True)
            yield from (np.fromfile(f"{folder}/{index}", np.int16) for index in range(len(part)))


def unpack(speech, out):
    """Writes the sets and texts. -> [(samples, words)] of the training clips"""
    training, held_out = [], []
    for source in SOURCES:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(f"{speech}/{source}.tar") as tar:
            tar.extractall(folder)
            found = {os.path.basename(path): path for path in (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)}
            rows = clips(speech, source)
            for part in ("test", "dev"):
                target = f"{out}/sets/{part}-{source}"
                os.makedirs(target, exist_ok=True)
                with open(f"{target}/transcripts.tsv", "w") as transcripts:
                    for _, file, words in (row for row in rows if row[0] == part):
                        shutil.copy(found[file], f"{target}/{file}")
                        transcripts.write(f"{file}\t{words}\n")
            held_out += [words for part, _, words in rows if part != "train"]
            chosen = [(found[file], words) for part, file, words in rows if part == "train"]
            training += zip(decoded([path for path, _ in chosen]), (words for _, words in chosen))
    forbidden = set(held_out)
    training = [(samples, words) for samples, words in training if words not in forbidden]
    for name, texts in (("texts", [words for _, words in training]), ("held-out", held_out)):
        with open(f"{out}/{name}.jsonl", "w") as file:
            file.writelines(json.dumps({"spoken": text, "text": text}) + "\n" for text in texts)
    return training


def heard(samples, version, rng, background):
    """Features of one version of a clip."""
    samples = samples.astype(np.float32) / 32768
    if version == 0:
        return log_mel(samples)
    size = fast_length(len(samples))
    samples = resample(samples, fast_length(int(size * rng.uniform(0.87, 1.13))) / size)
    cut = [int(RATE * rng.uniform(0, 0.3)) for _ in range(2)]
    samples = np.pad(samples, cut)
    if rng.random() < 0.2:
        return log_mel(samples)
    return log_mel(augment(samples, rng, background, rng.random() < CLEAN))


def make_shard(training, version, path):
    rng = np.random.default_rng(zlib.crc32(os.path.basename(path).encode()))
    features, offsets, texts, background = [], [0], [], None
    for samples, words in training:
        values = heard(samples, version, rng, background)
        background = samples.astype(np.float32) / 32768
        features.append(np.clip(np.round(values * LEVELS), -127, 127).astype(np.int8))
        offsets.append(offsets[-1] + len(values))
        texts.append(words)
    with open(path + ".json", "w") as file:
        json.dump(texts, file)
    phonemes = np.full(offsets[-1], UNKNOWN, np.uint8)
    np.savez(path + ".tmp.npz", features=np.concatenate(features), phonemes=phonemes, offsets=np.array(offsets))
    os.replace(path + ".tmp.npz", path + ".npz")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("speech")
    parser.add_argument("out")
    parser.add_argument("--versions", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    os.makedirs(f"{options.out}/shards", exist_ok=True)
    training = unpack(options.speech, options.out)
    print(f"{len(training)} clips, {sum(len(s) for s, _ in training) / RATE / 3600:.2f} hours to train on", flush=True)
    for version in range(options.first, options.first + options.versions):
        for start in range(0, len(training), PER_SHARD):
            path = f"{options.out}/shards/shard-{version:02d}{start // PER_SHARD:03d}"
            if not os.path.exists(path + ".npz"):
                make_shard(training[start:start + PER_SHARD], version, path)
        print(f"version {version}", flush=True)


if __name__ == "__main__":
    main()
