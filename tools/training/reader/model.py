"""Cross-encoder of the reader: nano-rerank's BERT with 17 token kinds and a token head for the answer span."""
import json, struct
import numpy as np, torch
from bert import Bert, pack
from text import build

KINDS = 17

def load_safetensors(path):
    """Float32 tensors of a file; int8 matrices with a scale a row are multiplied out."""
    with open(path, "rb") as file: data = file.read()
    size = struct.unpack("<Q", data[:8])[0]; header = json.loads(data[8:8 + size]); kinds = {"F16": np.float16, "F32": np.float32, "I8": np.int8}; out = {}
    for name, entry in header.items():
        if name == "__metadata__": continue
        start, end = entry["data_offsets"]; kind = np.dtype(kinds[entry["dtype"]])
        out[name] = torch.from_numpy(np.frombuffer(data, kind, offset=8 + size + start, count=(end - start) // kind.itemsize).reshape(entry["shape"]).astype(np.float32))
    for name in [name for name in out if name.endswith("_scale")]: out[name[:-6]] *= out.pop(name)
    return out

class Reader(Bert):
    def __init__(s, dim=256, layers=4, heads=8, ff=768, vocab=8192):
        super().__init__(vocab, dim, layers, heads, ff)
        s.tok = torch.nn.Parameter(torch.randn(1, dim) * 0.02)

    def from_rerank(s, path):
        z = load_safetensors(path); e = "bert.embeddings."
        with torch.no_grad():
            s.emb.copy_(z[e + "word_embeddings.weight"]); s.pos.copy_(z[e + "position_embeddings.weight"]); s.ew.copy_(z[e + "LayerNorm.weight"]); s.eb.copy_(z[e + "LayerNorm.bias"])
            t = z[e + "token_type_embeddings.weight"]; sd = float(s.emb[5:].std())
            for k in range(32): s.typ[k] = t[0 if k < 5 else 1] + torch.randn(s.D) * 0.5 * sd
            for i, l in enumerate(s.L):
                b = f"bert.encoder.layer.{i}."
                l.qkv.copy_(torch.cat([z[f"{b}attention.self.{n}.weight"] for n in ("query", "key", "value")])); l.qb.copy_(torch.cat([z[f"{b}attention.self.{n}.bias"] for n in ("query", "key", "value")]))
                for w, c, n in ((l.o, l.ob, "attention.output.dense"), (l.n1, l.b1, "attention.output.LayerNorm"), (l.up, l.ub, "intermediate.dense"), (l.down, l.db, "output.dense"), (l.n2, l.b2, "output.LayerNorm")):
                    w.copy_(z[b + n + ".weight"]); c.copy_(z[b + n + ".bias"])
            s.pool.copy_(z["bert.pooler.dense.weight"]); s.pb.copy_(z["bert.pooler.dense.bias"]); s.cls[0].copy_(z["classifier.weight"][0]); s.cb[0] = z["classifier.bias"][0]
        return s

    def scores(s, items):
        """items: list of build() results -> (score of each, token logits, index array of candidate tokens, owner of each)"""
        ids, pos, cu, seg, lens, ty = pack([x[0] for x in items], [x[1] for x in items])
        h = s.hidden(ids, cu, pos, ty)
        st = cu[:len(items)]
        c = torch.tanh(torch.nn.functional.linear(h[st], s.pool, s.pb))
        sc = torch.nn.functional.linear(c, s.cls[:1], s.cb[:1])[:, 0]
        st = st.numpy()
        at = np.concatenate([np.arange(o + a, o + b) for o, (_, _, (a, b)) in zip(st, items)])
        own = np.repeat(np.arange(len(items)), [b - a for _, _, (a, b) in items])
        tl = torch.nn.functional.linear(h[torch.from_numpy(at)], s.tok)[:, 0]
        return sc, tl, at, own
