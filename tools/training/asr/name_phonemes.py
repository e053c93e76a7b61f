"""Gives the recordings of people phonemes and words: name_phonemes.py CHECKPOINT VOCAB SHARDS OUT

CHECKPOINT (of train.py: it has the head for phonemes) hears each clip of people.py's SHARDS as recorded (version 0). The most probable path
through espeak's phonemes of its words, with silence allowed between any two, says which phoneme is in each frame. OUT gets these shards with
`phonemes` of these and with `words` uint8 [frames]: the number of words that have begun. Both are 255 in a clip that is too short for its phonemes.
"""
import glob
import json
import os
import shutil
import sys

import numpy as np
import torch

from model import CONFIG, NanoCtc
from speakers import PHONEMES, Espeak
from synthesise import LEVELS, UNKNOWN
from train import STEP, weights_of
from units import Units

ACCENT = "en-US"


def path_of(scores, phonemes):
    """Scores [steps, PHONEMES], phonemes in order -> the place of the phoneme at each step: 2k + 1 is phoneme k, 2k the silence before it.

    None if there are fewer steps than phonemes.
    """
    states = np.zeros(2 * len(phonemes) + 1, int)
    states[1::2] = phonemes
    if len(scores) < len(phonemes):
        return None
    emitted = scores[:, states]
    skips = np.arange(len(states)) % 2 == 1
    best, back = np.full(len(states), -np.inf), np.zeros((len(scores), len(states)), np.int8)
    best[:2] = emitted[0, :2]
    for step in range(1, len(scores)):
        one, two = np.full(len(states), -np.inf), np.full(len(states), -np.inf)
        one[1:], two[2:] = best[:-1], best[:-2]
        two[~skips] = -np.inf
        choices = np.stack([best, one, two])
        back[step] = choices.argmax(0)
        best = choices[back[step], np.arange(len(states))] + emitted[step]
    state = len(states) - 1 if best[-1] > best[-2] else len(states) - 2
    if best[state] == -np.inf:
        return None
    path = np.zeros(len(scores), int)
    for step in range(len(scores) - 1, -1, -1):
        path[step] = state
        state -= back[step, state]
    return path


class Pronunciations:
    """Of each word on its own, so that the words' borders are known."""

    def __init__(self):
        self.espeak, self.known = Espeak(), {}

    def of_word(self, word):
        if word not in self.known:
            self.known[word] = [bucket for _, bucket in self.espeak.speak("uh" if word == "a" else word, ACCENT)[1] if bucket]
        return self.known[word]

    def of(self, text):
        """-> phoneme buckets without silence, and the word of each, from 1"""
        found = [(bucket, word) for word, name in enumerate(text.split(), 1) for bucket in self.of_word(name)]
        return [bucket for bucket, _ in found], [word for _, word in found]


def scores_of(model, values):
    """Log-probabilities of the phonemes, two for each step of the network."""
    features = np.zeros((len(values), -(-max(len(v) for v in values) // STEP) * STEP, values[0].shape[1]), np.float32)
    for row, value in zip(features, values):
        row[:len(value)] = value.astype(np.float32) / LEVELS
    lengths = torch.tensor([len(value) for value in values])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        phonemes = model(torch.from_numpy(features), lengths)[2]
    phonemes = phonemes.float().reshape(len(values), -1, PHONEMES).log_softmax(2).numpy()
    return [row[:len(value) * 2 // STEP] for row, value in zip(phonemes, values)]


def named(model, pronunciations, values, texts):
    """-> [(phonemes, words)] of utterances, a value for each frame"""
    found = []
    for value, text, scores in zip(values, texts, scores_of(model, values)):
        phonemes, words = pronunciations.of(text)
        path = path_of(scores, phonemes)
        if path is None:
            found.append((np.full(len(value), UNKNOWN, np.uint8), np.full(len(value), 255, np.uint8), None))
            continue
        places = np.minimum(np.arange(len(value)) * 2 // STEP, len(path) - 1)
        states = np.zeros(2 * len(phonemes) + 1, np.uint8)
        states[1::2] = phonemes
        begun = np.concatenate([[0], words])[(path + 1) // 2].astype(np.uint8)[places]
        found.append((states[path][places], begun, scores[np.arange(len(path)), states[path]].mean()))
    return found


def main(checkpoint, vocab, folder, out):
    torch.set_num_threads(1)
    os.makedirs(out, exist_ok=True)
    model = NanoCtc({**CONFIG, "vocab_size": len(Units(vocab).units)}, PHONEMES)
    model.load_state_dict(weights_of(checkpoint, "cpu"))
    model.train()  # the head for phonemes is there while training only
    pronunciations = Pronunciations()
    for path in sorted(glob.glob(f"{folder}/shard-00???.npz")):
        target = f"{out}/{os.path.basename(path)}"
        if os.path.exists(target):
            continue
        data, texts = np.load(path), json.load(open(path[:-4] + ".json"))
        features, offsets = data["features"], data["offsets"]
        results = []
        for start in range(0, len(texts), 16):
            spans = list(zip(offsets[start:start + 16], offsets[start + 1:start + 17]))
            results += named(model, pronunciations, [features[a:b] for a, b in spans], texts[start:start + 16])
        likely = [score for _, _, score in results if score is not None]
        print(f"{path}: {len(likely)} of {len(texts)} with phonemes, mean log-probability {np.mean(likely):.2f}", flush=True)
        shutil.copy(path[:-4] + ".json", target[:-4] + ".json")
        np.savez(target + ".tmp.npz", features=features, offsets=offsets, phonemes=np.concatenate([p for p, _, _ in results]),
                 words=np.concatenate([w for _, w, _ in results]))
        os.replace(target + ".tmp.npz", target)


if __name__ == "__main__":
    main(*sys.argv[1:])
