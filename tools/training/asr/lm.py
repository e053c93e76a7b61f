"""A language model over units: lm.py VOCAB OUT TEXTS... [--without FILE] [--order 6] [--entries 600000] [--dev FILE...]

TEXTS are files as texts.py and people.py write them; FILE:N counts a file N times. Counts them, but for
the sentences of --without, and 8,000 sequences of spoken digits; prints the perplexity on each file of --dev. Interpolated Kneser-Ney, pruned to the given number of n-grams and written as one table (lm.bin, little endian):

    4 bytes  "NLM1"
    uint32   order
    uint32   entries
    uint32   0
    uint32   [entries] keys, ascending
    uint8    [entries] minus the natural logarithm of the probability, in sixteenths
    uint8    [entries] minus the natural logarithm of the back-off weight, in sixteenths

The key of an n-gram is a 32-bit hash of its units, oldest first: h = 0x9e3779b1; for each unit: h = (h xor (unit + 1)) ·
0x85ebca6b mod 2³²; h = h xor (h >> 13). Unit 0, CTC's blank, stands for the start and the end of a text here.

log p(unit | history): where the n-gram of the last order − 1 units of the history and the unit is in the table, its
probability; otherwise the back-off weight of that history (1 where it is not in the table) times the probability with
the history's oldest unit left out. A unit that is not in the table at all has probability e^−16.
"""
import argparse
import json
import math
import random
import struct

import numpy as np

from texts import UNITS
from units import Units

STEPS = 16
MASK = 0xFFFFFFFF


def key_of(units):
    h = 0x9E3779B1
    for unit in units:
        h = ((h ^ (unit + 1)) * 0x85EBCA6B) & MASK
        h ^= h >> 13
    return h


def windows(sentences, order):
    """(units so far, place in its sentence) of every unit but the starts; units so far is up to `order` of them, a byte each."""
    units = np.concatenate([np.array([0, *sentence, 0], np.uint64) for sentence in sentences])
    lengths = np.array([len(sentence) + 2 for sentence in sentences])
    places = np.arange(len(units)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    keys = np.zeros(len(units), np.uint64)
    for back in range(order):
        earlier = units[:len(units) - back] << np.uint64(8 * back)
        keys[back:] += np.where(places[back:] >= back, earlier, np.uint64(0))
    return keys[places > 0], places[places > 0]


def last(keys, n):
    """The last n units of n-grams."""
    return keys & np.uint64((1 << 8 * n) - 1)


def history(keys):
    return keys >> np.uint64(8)


def summed(keys, counts):
    unique, inverse = np.unique(keys, return_inverse=True)
    return unique, np.bincount(inverse, counts)


def place(level, keys):
    """Where keys are in the ascending keys of a level; they must be there."""
    return np.searchsorted(level, keys)


def counted(sentences, order):
    """[(keys, counts)] by length - 1; lower orders count how many different units an n-gram follows."""
    keys, places = windows(sentences, order)
    full = keys[places >= order - 1]
    levels = [summed(full, np.ones(len(full)))]
    for n in range(order - 1, 0, -1):
        # Nothing precedes the start of a sentence: those n-grams count as they occur.
        starts = keys[places == n - 1]
        after = last(levels[0][0], n)
        levels.insert(0, summed(np.concatenate([after, starts]), np.ones(len(after) + len(starts))))
    return levels


def estimate(levels):
    """[probabilities] of the levels' n-grams."""
    counts = levels[0][1]
    rest = 0.5 * len(counts) / counts.sum()
    found = [(counts - 0.5) / counts.sum() + rest / len(counts)]
    for n, (keys, counts) in enumerate(levels[1:], 2):
        discount = (counts == 1).sum() / ((counts == 1).sum() + 2 * (counts == 2).sum())
        _, inverse = np.unique(history(keys), return_inverse=True)
        totals, kinds = np.bincount(inverse, counts)[inverse], np.bincount(inverse)[inverse]
        shorter = found[-1][place(levels[n - 2][0], last(keys, n - 1))]
        found.append((counts - discount) / totals + discount * kinds / totals * shorter)
    return found


def kept_above(levels, worth, least):
    """[mask]: the n-grams worth more than `least`, with all that they begin with and end in."""
    masks = [w > least for w in worth]
    for n in range(len(levels), 1, -1):
        keys = levels[n - 1][0][masks[n - 1]]
        masks[n - 2][place(levels[n - 2][0], np.unique(last(keys, n - 1)))] = True
        masks[n - 2][place(levels[n - 2][0], np.unique(history(keys)))] = True
    masks[0][:] = True
    return masks


def prune(levels, probabilities, entries):
    """The n-grams that tell most: how often they occur times how far their probability is from the shorter one's."""
    worth = [np.full(len(levels[0][0]), np.inf)]
    for n, (keys, counts) in enumerate(levels[1:], 2):
        shorter = probabilities[n - 2][place(levels[n - 2][0], last(keys, n - 1))]
        worth.append(np.where(counts > 1, counts * np.abs(np.log(probabilities[n - 1] / shorter)), -1.0))
    low, high = -10.0, 20.0  # of the logarithm
    for _ in range(24):
        middle = (low + high) / 2
        if sum(mask.sum() for mask in kept_above(levels, worth, math.exp(middle))) > entries:
            low = middle
        else:
            high = middle
    return kept_above(levels, worth, math.exp(high))


def weights(levels, probabilities, masks):
    """[back-off weights] of the levels' n-grams; 1 where nothing longer is kept."""
    found = [np.ones(len(keys)) for keys, _ in levels]
    for n in range(2, len(levels) + 1):
        keys = levels[n - 1][0][masks[n - 1]]
        histories, inverse = np.unique(history(keys), return_inverse=True)
        used = np.bincount(inverse, probabilities[n - 1][masks[n - 1]])
        lower = np.bincount(inverse, probabilities[n - 2][place(levels[n - 2][0], last(keys, n - 1))])
        found[n - 2][place(levels[n - 2][0], histories)] = np.maximum(1 - used, 1e-6) / np.maximum(1 - lower, 1e-6)
    return found


def hashes(keys, n):
    h = np.full(len(keys), 0x9E3779B1, np.uint32)
    for back in range(n - 1, -1, -1):
        unit = ((keys >> np.uint64(8 * back)) & np.uint64(255)).astype(np.uint32)
        h = (h ^ (unit + np.uint32(1))) * np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
    return h


def write(path, levels, probabilities, backoff, masks):
    quantized = lambda values: np.clip(np.round(-np.log(values) * STEPS), 0, 255).astype(np.uint8)
    keys = np.concatenate([hashes(keys[mask], n) for n, ((keys, _), mask) in enumerate(zip(levels, masks), 1)])
    parts = [quantized(np.concatenate([values[mask] for values, mask in zip(part, masks)])) for part in (probabilities, backoff)]
    keys, first = np.unique(keys, return_index=True)  # of equal keys the shorter n-gram stays
    with open(path, "wb") as file:
        file.write(b"NLM1" + struct.pack("<III", len(levels), len(keys), 0) + keys.astype("<u4").tobytes())
        for part in parts:
            file.write(part[first].tobytes())
    return len(keys)


class LanguageModel:
    """Reads what `write` wrote."""

    def __init__(self, path):
        data = open(path, "rb").read()
        _, self.order, count, _ = struct.unpack_from("<4sIII", data)
        keys = np.frombuffer(data, "<u4", count, 16).tolist()
        parts = np.frombuffer(data, np.uint8, 2 * count, 16 + 4 * count).reshape(2, count) / -STEPS
        self.table = dict(zip(keys, zip(parts[0].tolist(), parts[1].tolist())))
        self.cache = {}

    def score(self, history, unit):
        """Natural logarithm of p(unit | history); history is a tuple of at most order - 1 units."""
        known = self.cache.get((history, unit))
        if known is None:
            entry = self.table.get(key_of(history + (unit,)))
            if entry:
                known = entry[0]
            elif not history:
                known = -16.0
            else:
                known = self.table.get(key_of(history), (0, 0.0))[1] + self.score(history[1:], unit)
            self.cache[(history, unit)] = known
        return known


def texts_of(name):
    """The sentences of a file, FILE:N of them N times over."""
    path, _, times = name.partition(":")
    return [json.loads(line)["text"] for line in open(path)] * int(times or 1)


def perplexity(model, sentences, units):
    total = tokens = 0
    for sentence in map(units.encode, sentences):
        before = (0,)
        for unit in sentence + [0]:
            total += model.score(before, unit)
            tokens += 1
            before = (before + (unit,))[-(model.order - 1):]
    return math.exp(-total / tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocab")
    parser.add_argument("out")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--without", help="sentences that are measured on")
    parser.add_argument("--dev", nargs="*", default=[])
    parser.add_argument("--order", type=int, default=6, help="8 at most: a unit is a byte of the keys")
    parser.add_argument("--entries", type=int, default=600000)
    options = parser.parse_args()
    units = Units(options.vocab)
    chance = random.Random(1)
    numbers = [" ".join(chance.choice(UNITS[:10]) for _ in range(chance.choice((1, 1, 1, 2, 3, 4, 5, 6, 7, 8)))) for _ in range(8000)]
    forbidden = set(texts_of(options.without)) if options.without else set()
    sentences = [text for name in options.texts for text in texts_of(name) if text not in forbidden] + numbers
    levels = counted([units.encode(text) for text in sentences], options.order)
    probabilities = estimate(levels)
    masks = prune(levels, probabilities, options.entries)
    size = write(options.out, levels, probabilities, weights(levels, probabilities, masks), masks)
    print(f"{size} n-grams of {[len(keys) for keys, _ in levels]}")
    model = LanguageModel(options.out)
    for name in options.dev:
        print(f"{name}: {perplexity(model, texts_of(name), units):.2f} perplexity a unit", flush=True)


if __name__ == "__main__":
    main()
