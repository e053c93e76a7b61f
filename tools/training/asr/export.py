"""A checkpoint of train.py as a model directory with float32 weights: export.py CHECKPOINT VOCAB LM OUT

tools/quantize-checkpoint.mjs then makes the int8 model.safetensors of models/nano-asr out of it.
"""
import json
import os
import shutil
import struct
import sys

import numpy as np
import torch

from features import SETTINGS
from model import CONFIG


def main(checkpoint, vocab, lm, out):
    os.makedirs(out, exist_ok=True)
    tensors = {name: value.numpy().astype("<f4") for name, value in torch.load(checkpoint, map_location="cpu")["model"].items()
               if not name.startswith("phonemes.")}
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
    main(*sys.argv[1:5])
