"""Recordings of people for training and for measuring: people.py SPEECH OUT --copies N

SPEECH holds, for each source, NAME.tar with recordings and NAME.tsv (file, speaker, sentence, …). Of each source 30 speakers are held
out, by the hash of their name. Writes OUT/shards/shard-5xxxx.npz in the form of synthesise.py, each recording N times with other
changes (speed, room, noise, line), and OUT/sets/<source>/ with the held-out speakers as wav files. Needs ffmpeg.
"""
import argparse
import csv
import hashlib
import json
import os
import re
import subprocess
import tarfile

import numpy as np

from augment import augment, fast_length, resample
from evaluation_sets import write_set, write_wave
from features import HOP, RATE, log_mel
from synthesise import LEVELS, PER_SHARD, UNKNOWN, padded

HELD_OUT = 30  # speakers of each source
FIRST_SHARD = 50_000


def plain(sentence):
    """The words as the model writes them: lower case letters and apostrophes; None where the sentence has a digit."""
    words = re.sub(r"[^a-z' ]", " ", sentence.lower().replace("\u2019", "'").replace("-", " ")).split()
    words = [word.strip("'") for word in words]
    return None if re.search(r"\d", sentence) else " ".join(word for word in words if word)


def decode(data):
    """A recording in any form -> samples at 16 kHz."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-f", "f32le", "-ac", "1", "-ar", str(RATE), "-"]
    return np.frombuffer(subprocess.run(command, input=data, capture_output=True, check=True).stdout, np.float32)


def recordings(folder):
    """-> (source, speaker, text, samples) of every recording."""
    for name in sorted(name[:-4] for name in os.listdir(folder) if name.endswith(".tsv")):
        rows = {row["file"]: row for row in csv.DictReader(open(f"{folder}/{name}.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE)}
        with tarfile.open(f"{folder}/{name}.tar") as archive:
            for member in archive:
                row = rows.get(os.path.basename(member.name))
                text = row and plain(row["sentence"])
                if text:
                    yield name, row["speaker"], text, decode(archive.extractfile(member).read())


def held_out(speakers):
    """The 30 speakers whose names have the least hashes."""
    return set(sorted(speakers, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:HELD_OUT])


class ShardWriter:
    """Collects utterances and writes a shard whenever it is full."""

    def __init__(self, folder):
        self.folder, self.number = folder, FIRST_SHARD
        os.makedirs(folder, exist_ok=True)
        self.clear()

    def clear(self):
        self.features, self.offsets, self.texts = [], [0], []

    def add(self, samples, text):
        values = np.clip(np.round(log_mel(samples) * LEVELS), -127, 127).astype(np.int8)
        self.features.append(values)
        self.offsets.append(self.offsets[-1] + len(values))
        self.texts.append(text)
        if len(self.texts) == PER_SHARD:
            self.write()

    def write(self):
        if not self.texts:
            return
        path = f"{self.folder}/shard-{self.number:05d}"
        json.dump(self.texts, open(path + ".json", "w"))
        phonemes = np.full(self.offsets[-1], UNKNOWN, np.uint8)
        np.savez(path + ".tmp.npz", features=np.concatenate(self.features), phonemes=phonemes, offsets=np.array(self.offsets))
        os.replace(path + ".tmp.npz", path + ".npz")
        print(f"{path}: {self.offsets[-1] * HOP / RATE / 60:.1f} minutes", flush=True)
        self.number += 1
        self.clear()


def changed(samples, rng, copy):
    """The first copy is nearly as recorded; each further one is another head, another room."""
    samples = samples / (np.abs(samples).max() + 1e-9)
    if copy > 0:
        n = fast_length(len(samples))
        samples = resample(samples, fast_length(int(n * rng.uniform(0.85, 1.15))) / n)
    samples, _ = padded(samples, None, rng)
    return augment(samples, rng, None, clean=copy == 0 or rng.random() < 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("speech")
    parser.add_argument("out")
    parser.add_argument("--copies", type=int, default=3)
    options = parser.parse_args()
    all_recordings = list(recordings(options.speech))
    speakers = {}
    for source, speaker, _, _ in all_recordings:
        speakers.setdefault(source, set()).add(speaker)
    kept = {source: held_out(names) for source, names in speakers.items()}
    for source, names in kept.items():
        chosen = [(text, samples) for origin, speaker, text, samples in all_recordings if origin == source and speaker in names]
        write_set(f"{options.out}/sets/{source}", ((f"{index:04d}.wav", text, lambda path, samples=samples: write_wave(path, samples))
                                                   for index, (text, samples) in enumerate(chosen)))
        print(f"{source}: {len(chosen)} recordings of {len(names)} people held out", flush=True)
    training = [(text, samples) for source, speaker, text, samples in all_recordings if speaker not in kept[source]]
    rng, writer = np.random.default_rng(5), ShardWriter(f"{options.out}/shards")
    for copy in range(options.copies):
        for index in rng.permutation(len(training)):
            text, samples = training[index]
            if 0.5 * RATE < len(samples) < 12 * RATE:
                writer.add(changed(samples, rng, copy), text)
    writer.write()


if __name__ == "__main__":
    main()
