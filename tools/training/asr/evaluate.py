"""Word error rates of a checkpoint without a language model: evaluate.py CHECKPOINT|MODEL VOCAB SETS [SET …]

A quick look while training; the numbers of the model card come from the product's own path (tools/evaluate-speech.mjs).
"""
import os
import sys

import numpy as np
import torch

from augment import resample
from features import RATE, log_mel
from model import CONFIG, NanoCtc
from people import decoded
from speakers import read_wave
from train import weights_of
from units import Units


def errors(reference, hypothesis):
    """Fewest insertions, deletions and substitutions between two lists."""
    row = list(range(len(hypothesis) + 1))
    for i, expected in enumerate(reference, 1):
        previous, row[0] = row[0], i
        for j, found in enumerate(hypothesis, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (expected != found))
    return row[-1]


def scores_of(model, path):
    """Log-probabilities [frames, units] of one file."""
    samples, rate = read_wave(path) if path.endswith(".wav") else (next(decoded([path])) / np.float32(32768), RATE)
    values = log_mel(samples if rate == RATE else resample(samples, RATE / rate))
    padded = np.pad(values, ((0, -len(values) % 6), (0, 0)))
    with torch.no_grad():
        return model(torch.from_numpy(padded)[None], torch.tensor([len(values)]))[0][0].log_softmax(1)


def greedy(scores, units):
    best = scores.argmax(1).tolist()
    return units.decode([unit for unit, before in zip(best, [0] + best) if unit != before and unit != 0])


def load(path, units):
    model = NanoCtc({**CONFIG, "vocab_size": len(units.units)})
    model.load_state_dict({k: v for k, v in weights_of(path, "cpu").items() if not k.startswith("phonemes.")})
    return model.eval()


def main(checkpoint, vocab, folder, names):
    torch.set_num_threads(1)
    units = Units(vocab)
    model = load(checkpoint, units)
    for name in names or sorted(os.listdir(folder)):
        wrong = words = 0
        for index, line in enumerate(open(f"{folder}/{name}/transcripts.tsv")):
            file, text = line.rstrip("\n").split("\t")
            found = greedy(scores_of(model, f"{folder}/{name}/{file}"), units)
            wrong += errors(text.lower().split(), found.split())
            words += len(text.split())
            if index < 5:
                print(f"  {text.lower()}\n  > {found}")
        print(f"{name}: {100 * wrong / words:.2f}% of {words} words", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
