"""A language model over units: lm.py TEXTS VOCAB OUT [--order 4] [--entries 200000]

Counts the texts and 8,000 sequences of spoken digits. Interpolated Kneser-Ney, pruned to the given number of n-grams and written as one table (lm.bin, little endian):

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
import collections
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


def counted(sentences, order):
    """[{n-gram: count}] by length - 1; lower orders count how many different units an n-gram follows."""
    highest = collections.Counter()
    starts = [collections.Counter() for _ in range(order)]
    for sentence in sentences:
        padded = (0,) + tuple(sentence) + (0,)
        for end in range(2, len(padded) + 1):
            gram = padded[max(0, end - order):end]
            if len(gram) == order:
                highest[gram] += 1
            else:
                starts[len(gram) - 1][gram] += 1  # nothing precedes the start: these count as they occur
    levels = [None] * order
    levels[order - 1] = highest
    for n in range(order - 1, 0, -1):
        lower = collections.Counter(gram[1:] for gram in levels[n])
        lower.update(starts[n - 1])
        levels[n - 1] = lower
    return levels


def estimate(levels, entries):
    """-> {n-gram: probability}, {history: back-off weight}, pruned to about `entries` n-grams"""
    order = len(levels)
    size = sum(levels[0].values())
    probability = {gram: (count - 0.5) / size for gram, count in levels[0].items()}
    rest = 0.5 * len(levels[0]) / size
    units = 1 + max(gram[0] for gram in levels[0])
    for unit in range(units):
        probability[(unit,)] = probability.get((unit,), 0) + rest / units
    for n in range(1, order):
        counts = levels[n]
        once, twice = (sum(1 for c in counts.values() if c == k) for k in (1, 2))
        discount = once / (once + 2 * twice)
        totals, kinds = collections.Counter(), collections.Counter()
        for gram, count in counts.items():
            totals[gram[:-1]] += count
            kinds[gram[:-1]] += 1
        for gram, count in counts.items():
            history = gram[:-1]
            left = discount * kinds[history] / totals[history]
            probability[gram] = (count - discount) / totals[history] + left * probability[gram[1:]]
    kept = prune(levels, probability, entries)
    return {gram: probability[gram] for gram in kept}, weights(kept, probability)


def prune(levels, probability, entries):
    """The n-grams that tell most: how often they occur times how far their probability is from the shorter one's."""
    worth = sorted(((count * (math.log(probability[gram]) - math.log(probability[gram[1:]])), gram)
                    for level in levels[1:] for gram, count in level.items() if count > 1), reverse=True)
    kept = {gram for gram in probability if len(gram) == 1}
    for _, gram in worth:
        if len(kept) >= entries:
            break
        while gram not in kept and len(gram) > 1:  # with all that it begins with and ends in
            kept.add(gram)
            kept.update(gram[i:] for i in range(1, len(gram)))
            gram = gram[:-1]
    return kept


def weights(kept, probability):
    used, lower = collections.defaultdict(float), collections.defaultdict(float)
    for gram in kept:
        if len(gram) > 1:
            used[gram[:-1]] += probability[gram]
            lower[gram[:-1]] += probability[gram[1:]]
    return {history: max(1 - used[history], 1e-6) / max(1 - lower[history], 1e-6) for history in used}


def write(path, order, probability, backoff):
    quantise = lambda value: int(np.clip(round(-math.log(value) * STEPS), 0, 255))
    table = {}
    for gram, p in sorted(probability.items(), key=lambda item: len(item[0])):  # of equal keys the shorter n-gram stays
        table.setdefault(key_of(gram), (quantise(p), quantise(backoff.get(gram, 1.0))))
    keys = np.array(sorted(table), np.uint32)
    with open(path, "wb") as file:
        file.write(b"NLM1" + struct.pack("<III", order, len(keys), 0) + keys.astype("<u4").tobytes())
        for part in (0, 1):
            file.write(np.array([table[int(key)][part] for key in keys], np.uint8).tobytes())
    return len(probability) - len(keys)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", help="folder of texts.py")
    parser.add_argument("vocab")
    parser.add_argument("out")
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--entries", type=int, default=200000)
    options = parser.parse_args()
    units = Units(options.vocab)
    read = lambda part: [units.encode(json.loads(line)["text"]) for line in open(f"{options.texts}/{part}.jsonl")]
    chance = random.Random(1)
    numbers = [" ".join(chance.choice(UNITS[:10]) for _ in range(chance.choice((1, 1, 1, 2, 3, 4, 5, 6, 7, 8)))) for _ in range(8000)]
    levels = counted(read("train") + [units.encode(text) for text in numbers], options.order)
    probability, backoff = estimate(levels, options.entries)
    lost = write(options.out, options.order, probability, backoff)
    model = LanguageModel(options.out)
    total = tokens = 0
    for sentence in read("dev"):
        history = (0,)
        for unit in sentence + [0]:
            total += model.score(history, unit)
            tokens += 1
            history = (history + (unit,))[-(options.order - 1):]
    print(f"{len(probability)} n-grams, {lost} lost to equal keys, {math.exp(-total / tokens):.1f} perplexity a unit on dev")


if __name__ == "__main__":
    main()
