"""Speech for training: synthesise.py TEXTS FSDD OUT --shards N [--first K] [--flite 0.04]

Writes OUT/shard-00000.npz …, each of 1,000 utterances: `features` int8 [frames, 48] (normalized log-mel times 31),
`phonemes` uint8 [frames] (espeak's alignment; 255 where unknown), `offsets` int64 [1001]; OUT/shard-00000.json has the
texts. A shard depends on its number alone, so any number of processes may write different ones.
"""
import argparse
import glob
import json
import os
import random

import numpy as np

from augment import augment, fast_length, resample
from features import BANDS, HOP, RATE, SIZE, log_mel
from speakers import ACCENTS, ESPEAK_RATE, VARIANTS, Espeak, flite, read_wave
from texts import UNITS, number

DIGITS = UNITS[:10]
HELD_OUT_PEOPLE = ("george", "yweweler")
FLITE_VOICES = ("slt", "rms", "awb", "kal16")
PER_SHARD = 1000
CLEAN = 0.4  # of the utterances go without a room and almost without noise
UNKNOWN = 255
LEVELS = 31


def digits_of_people(folder, held_out):
    """{speaker: [(path, digit)]} of the Free Spoken Digit Dataset."""
    people = {}
    for path in sorted(glob.glob(f"{folder}/*.wav")):
        digit, speaker, _ = os.path.basename(path)[:-4].split("_")
        if (speaker in HELD_OUT_PEOPLE) == held_out:
            people.setdefault(speaker, []).append((path, int(digit)))
    return people


class Speech:
    """Random utterances, each as samples at 16 kHz, phonemes [(sample, bucket)] or None, and text."""

    def __init__(self, texts, fsdd, seed, flite_share=0.04):
        self.flite_share = flite_share
        self.texts, self.people = texts, digits_of_people(fsdd, held_out=False)
        self.random, self.rng, self.espeak = random.Random(seed), np.random.default_rng(seed), Espeak()

    def utterance(self):
        draw = self.random.random()
        if draw < 0.2:
            return self.person()
        spoken, text = self.words()
        if draw < 0.2 + self.flite_share:
            return self.stretched(flite(spoken, self.random.choice(FLITE_VOICES)), None, 1.0) + (text,)
        return self.synthetic(spoken) + (text,)

    def words(self):
        draw = self.random.random()
        if draw < 0.08:
            digit = self.random.choice(DIGITS)
            return digit, digit
        if draw < 0.13:
            text = " ".join(self.random.choice(DIGITS) for _ in range(self.random.randint(2, 8)))
            return (text.replace(" ", ", ") if self.random.random() < 0.5 else text), text
        if draw < 0.15:
            text = number(int(10 ** self.random.uniform(1, 5.5)))
            return text, text
        item = self.random.choice(self.texts)
        if draw < 0.24:
            words = item["text"].split()
            start = self.random.randrange(len(words))
            text = " ".join(words[start:start + self.random.randint(1, 4)])
            return text, text
        return item["spoken"], item["text"]

    def synthetic(self, spoken):
        voice = f"{self.random.choice(ACCENTS)}+{self.random.choice(VARIANTS)}"
        samples, phonemes = self.espeak.speak(spoken, voice, min(max(self.random.gauss(160, 25), 110), 215),
                                              min(max(self.random.gauss(50, 20), 10), 90), self.random.uniform(20, 80))
        return self.stretched(samples, phonemes, RATE / ESPEAK_RATE)

    def stretched(self, samples, phonemes, factor, least=0.86, most=1.11):
        """Played a little slower or faster, which moves the formants as the size of a head does."""
        n = fast_length(len(samples))
        factor = fast_length(int(n * factor * self.rng.uniform(least, most))) / n
        return resample(samples, factor), phonemes and [(int(at * factor), bucket) for at, bucket in phonemes]

    def person(self):
        recordings = self.people[self.random.choice(sorted(self.people))]
        chosen = [self.random.choice(recordings) for _ in range(1 if self.random.random() < 0.7 else self.random.randint(2, 6))]
        pieces = []
        for path, _ in chosen:
            samples, rate = read_wave(path)
            samples = samples / (np.abs(samples).max() + 1e-9)
            if pieces:
                pieces.append(np.zeros(int(RATE * self.rng.uniform(0, 0.3)), np.float32))
            # Three people are few: their heads and haste vary more than those of the many made voices.
            pieces.append(self.stretched(samples, None, RATE / rate, 0.8, 1.2)[0])
        return np.concatenate(pieces), None, " ".join(DIGITS[digit] for _, digit in chosen)


def padded(samples, phonemes, rng):
    before, after = (0 if rng.random() < 0.2 else int(RATE * rng.uniform(0, 0.5)) for _ in range(2))
    return np.pad(samples, (before, after)), phonemes and [(at + before, bucket) for at, bucket in phonemes]


def frame_phonemes(phonemes, frames):
    """The phoneme in the middle of each frame."""
    if phonemes is None:
        return np.full(frames, UNKNOWN, np.uint8)
    starts = np.array([at for at, _ in phonemes])
    buckets = np.array([0] + [bucket for _, bucket in phonemes], np.uint8)
    return buckets[np.searchsorted(starts, np.arange(frames) * HOP + SIZE // 2, side="right")]


def make_shard(speech, path):
    features, phones, offsets, texts, background = [], [], [0], [], None
    while len(texts) < PER_SHARD:
        samples, phonemes, text = speech.utterance()
        samples, phonemes = padded(samples, phonemes, speech.rng)
        clean = speech.rng.random() < CLEAN
        if len(samples) > 12 * RATE or len(samples) < 0.15 * RATE:
            continue
        values = log_mel(augment(samples, speech.rng, background, clean))
        background = samples
        features.append(np.clip(np.round(values * LEVELS), -127, 127).astype(np.int8))
        phones.append(frame_phonemes(phonemes, len(values)))
        offsets.append(offsets[-1] + len(values))
        texts.append(text)
    json.dump(texts, open(path + ".json", "w"))
    np.savez(path + ".tmp.npz", features=np.concatenate(features), phonemes=np.concatenate(phones), offsets=np.array(offsets))
    os.replace(path + ".tmp.npz", path + ".npz")
    return offsets[-1] * HOP / RATE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("fsdd")
    parser.add_argument("out")
    parser.add_argument("--shards", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--flite", type=float, default=0.04, help="part of the utterances that flite speaks, up to 0.8")
    options = parser.parse_args()
    texts = [json.loads(line) for line in open(options.texts)]
    os.makedirs(options.out, exist_ok=True)
    speech = None
    for shard in range(options.first, options.first + options.shards):
        path = f"{options.out}/shard-{shard:05d}"
        if os.path.exists(path + ".npz"):
            continue
        if speech is None:
            speech = Speech(texts, options.fsdd, 0, options.flite)
        speech.random.seed(shard)
        speech.rng = np.random.default_rng(shard)
        print(f"shard {shard}: {make_shard(speech, path) / 60:.1f} minutes", flush=True)


if __name__ == "__main__":
    main()
