"""A checkpoint of train.py as a model directory with float32 weights: export.py CHECKPOINT VOCAB LM OUT [OTHER SHARE]

OTHER, a checkpoint or a model directory that CHECKPOINT was trained from: SHARE of each weight is taken from it, so that less of what
it knew is forgotten.

tools/quantize-checkpoint.mjs then makes the int8 model.safetensors of models/nano-asr out of it.
"""
import json
import os
import shutil
import struct
import sys

import numpy as np

from features import SETTINGS
from model import CONFIG
from train import weights_of


def blended(checkpoint, other, share):
    """The weights of a checkpoint, `share` of each taken from another one (0 to 1)."""
    weights = {name: value for name, value in weights_of(checkpoint, "cpu").items() if not name.startswith("phonemes.")}
    if other is None:
        return weights
    if not 0 <= share <= 1:
        raise SystemExit("SHARE: a number from 0 to 1")
    before = weights_of(other, "cpu")
    return {name: (1 - share) * value + share * before[name] for name, value in weights.items()}


def main(checkpoint, vocab, lm, out, other=None, share="0"):
    os.makedirs(out, exist_ok=True)
    tensors = {name: value.numpy().astype("<f4") for name, value in blended(checkpoint, other, float(share)).items()}
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{out}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())
    config = {**CONFIG, "vocab_size": len(json.load(open(vocab)))}
    for name, content in (("config.json", config), ("preprocessor_config.json", SETTINGS)):
        with open(f"{out}/{name}", "w") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
    shutil.copy(vocab, f"{out}/vocab.json")
    shutil.copy(lm, f"{out}/lm.bin")


if __name__ == "__main__":
    main(*sys.argv[1:7])
