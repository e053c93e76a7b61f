"""What nano-asr is measured on: evaluation_sets.py TEXTS FSDD OUT

TEXTS is the folder of texts.py. Each set is a folder of wav files with `transcripts.tsv` (file, tab, text):
- dev: held-out sentences for choosing, voices of the training
- sentences: held-out sentences, voices of the training
- voice: held-out sentences, an accent and two voices that the training never hears
- noisy: held-out sentences, voices of the training, with room, noise and line
- digits: every recording of the two people of FSDD that the training never hears, as recorded (8 kHz)
"""
import json
import os
import random
import shutil
import sys
import wave

import numpy as np

from augment import augment, resample
from features import RATE
from speakers import ACCENTS, ESPEAK_RATE, HELD_OUT_ACCENT, HELD_OUT_VARIANTS, VARIANTS, Espeak
from synthesise import DIGITS, digits_of_people

PER_SET = 250


def write_wave(path, samples):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def write_set(folder, items):
    """items: (name, text, writer of the wav file)"""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/transcripts.tsv", "w") as transcripts:
        for name, text, write in items:
            write(f"{folder}/{name}")
            transcripts.write(f"{name}\t{text}\n")


def spoken(espeak, sentences, accents, variants, chance, change):
    for index, item in enumerate(sentences):
        voice = f"{chance.choice(accents)}+{chance.choice(variants)}"
        samples, _ = espeak.speak(item["spoken"], voice, chance.uniform(140, 180), chance.uniform(30, 70))
        samples = change(resample(samples, RATE / ESPEAK_RATE))
        yield f"{index:03d}-{voice}.wav", item["text"], lambda path, samples=samples: write_wave(path, samples)


def main(texts, fsdd, out):
    espeak, rng = Espeak(), np.random.default_rng(7)
    held_out = {part: [json.loads(line) for line in open(f"{texts}/{part}.jsonl")] for part in ("dev", "test")}
    plain = lambda samples: samples / np.abs(samples).max() * 0.5
    for seed, (name, part, accents, variants, change) in enumerate((
            ("dev", "dev", ACCENTS, VARIANTS, plain), ("sentences", "test", ACCENTS, VARIANTS, plain),
            ("voice", "test", [HELD_OUT_ACCENT], HELD_OUT_VARIANTS, plain),
            ("noisy", "test", ACCENTS, VARIANTS, lambda samples: augment(samples, rng)))):
        chance = random.Random(seed)
        chosen = [item for item in held_out[part] if len(item["text"].split()) > 3]
        write_set(f"{out}/{name}", spoken(espeak, chance.sample(chosen, PER_SET), accents, variants, chance, change))
    people = digits_of_people(fsdd, held_out=True)
    write_set(f"{out}/digits", ((os.path.basename(path), DIGITS[digit], lambda target, path=path: shutil.copy(path, target))
                                for recordings in people.values() for path, digit in recordings))


if __name__ == "__main__":
    main(*sys.argv[1:4])
