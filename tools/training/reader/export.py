"""Writes a checkpoint of train.py (or a safetensors file of its weights) as a Hugging Face model folder in float32.

Usage: python3 export.py CHECKPOINT(.pt or .safetensors) TARGET_DIR
The folder is then rounded to int8: node dist/quantize-checkpoint.js TARGET_DIR models/nano-reader
"""
import json, os, struct, sys
import numpy as np, torch
from model import KINDS, load_safetensors

source, target = sys.argv[1:3]
z = torch.load(source)["sd"] if source.endswith(".pt") else load_safetensors(source)
D = z["emb"].shape[1]
e, out = "bert.embeddings.", {}
out[e + "word_embeddings.weight"] = z["emb"]
out[e + "position_embeddings.weight"] = z["pos"]
out[e + "token_type_embeddings.weight"] = z["typ"][:KINDS]
out[e + "LayerNorm.weight"], out[e + "LayerNorm.bias"] = z["ew"], z["eb"]
layer = 0
while f"L.{layer}.qkv" in z:
    a, b = f"L.{layer}.", f"bert.encoder.layer.{layer}."
    for k, name in enumerate(("query", "key", "value")):
        out[f"{b}attention.self.{name}.weight"] = z[a + "qkv"][k * D:(k + 1) * D]
        out[f"{b}attention.self.{name}.bias"] = z[a + "qb"][k * D:(k + 1) * D]
    for w, c, name in (("o", "ob", "attention.output.dense"), ("n1", "b1", "attention.output.LayerNorm"), ("up", "ub", "intermediate.dense"), ("down", "db", "output.dense"), ("n2", "b2", "output.LayerNorm")):
        out[f"{b}{name}.weight"], out[f"{b}{name}.bias"] = z[a + w], z[a + c]
    layer += 1
out["bert.pooler.dense.weight"], out["bert.pooler.dense.bias"] = z["pool"], z["pb"]
out["classifier.weight"], out["classifier.bias"] = z["cls"][:1], z["cb"][:1]

os.makedirs(target, exist_ok=True)
header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
for name in sorted(out):
    array = np.ascontiguousarray(out[name].detach().float().numpy())
    header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
    blobs.append(array.tobytes()); offset += array.nbytes
text = json.dumps(header).encode(); text += b" " * (-len(text) % 8)
with open(os.path.join(target, "model.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    for blob in blobs: file.write(blob)
config = {
    "architectures": ["BertForSequenceClassification"], "model_type": "bert", "vocab_size": out[e + "word_embeddings.weight"].shape[0],
    "hidden_size": D, "num_hidden_layers": layer, "num_attention_heads": 8, "intermediate_size": z["L.0.up"].shape[0], "hidden_act": "gelu_new",
    "max_position_embeddings": z["pos"].shape[0], "type_vocab_size": KINDS, "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0, "position_embedding_type": "absolute", "pad_token_id": 0, "torch_dtype": "float32", "num_labels": 1,
    "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}, "problem_type": "regression"}
with open(os.path.join(target, "config.json"), "w") as file: file.write(json.dumps(config, indent=1) + "\n")
