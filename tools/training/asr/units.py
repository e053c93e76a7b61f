"""Byte-pair units over the words of the texts: units.py TEXTS OUT [--size 256]

Writes OUT (vocab.json): unit -> id. 0 is CTC's blank; `▁` begins a word. Every letter is a unit of its own too, so any
word can be written.
"""
import argparse
import collections
import json

from texts import UNITS

BLANK = "<blank>"


def initial(word):
    return ("▁" + word[0],) + tuple(word[1:])


def merged(pieces, pair):
    result, index = [], 0
    while index < len(pieces):
        if index + 1 < len(pieces) and (pieces[index], pieces[index + 1]) == pair:
            result.append(pieces[index] + pieces[index + 1])
            index += 2
        else:
            result.append(pieces[index])
            index += 1
    return tuple(result)


def learn(counts, size):
    letters = "abcdefghijklmnopqrstuvwxyz'"
    units = [BLANK] + ["▁" + c for c in letters] + list(letters)
    words = {word: initial(word) for word in counts}
    while len(units) < size:
        pairs = collections.Counter()
        for word, pieces in words.items():
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += counts[word]
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        units.append(best[0] + best[1])
        words = {word: merged(pieces, best) if len(pieces) > 1 else pieces for word, pieces in words.items()}
    return units


class Units:
    """Texts to ids and back. The units' order is the order of the merges."""

    def __init__(self, path):
        vocabulary = json.load(open(path))
        self.units = sorted(vocabulary, key=vocabulary.get)
        self.ids, self.known = vocabulary, {}

    def word(self, word):
        if word not in self.known:
            pieces = initial(word)
            while len(pieces) > 1:
                best = min(zip(pieces, pieces[1:]), key=lambda pair: self.ids.get(pair[0] + pair[1], 1 << 30))
                if best[0] + best[1] not in self.ids:
                    break
                pieces = merged(pieces, best)
            self.known[word] = [self.ids[piece] for piece in pieces]
        return self.known[word]

    def encode(self, text):
        return [i for word in text.split() for i in self.word(word)]

    def decode(self, ids):
        return "".join(self.units[i] for i in ids).replace("▁", " ").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("out")
    parser.add_argument("--size", type=int, default=256)
    options = parser.parse_args()
    counts = collections.Counter(word for line in open(options.texts) for word in json.loads(line)["text"].split())
    for digit in UNITS[:10]:  # spoken digits are one unit each
        counts[digit] += 20000
    units = learn(counts, options.size)
    json.dump({unit: index for index, unit in enumerate(units)}, open(options.out, "w"), ensure_ascii=False, indent=1)
    print(len(units), "units;", " ".join(units[-20:]))


if __name__ == "__main__":
    main()
