"""BERT over packed sequences, and how sequences are packed."""
import math
import numpy as np, torch
from ops import *

class Bert(torch.nn.Module):
    def __init__(s, V=8192, D=256, NL=4, H=8, FF=768, maxpos=512):
        super().__init__(); s.V, s.D, s.NL, s.H, s.FF, s.hd, s.maxpos = V, D, NL, H, FF, D // H, maxpos
        n = lambda *sh, std=0.02: torch.nn.Parameter(torch.randn(*sh) * std); o = lambda k=D: torch.nn.Parameter(torch.ones(k)); z = lambda k: torch.nn.Parameter(torch.zeros(k))
        s.emb, s.pos, s.typ, s.ew, s.eb = n(V, D, std=0.05), n(maxpos, D, std=0.01), n(32, D, std=0.01), o(), z(D); s.L = torch.nn.ModuleList(); a = D ** -0.5
        for _ in range(NL):
            l = torch.nn.Module(); l.qkv, l.qb = n(3 * D, D, std=a), z(3 * D); l.o, l.ob = n(D, D, std=a / math.sqrt(2 * NL)), z(D); l.n1, l.b1 = o(), z(D); l.up, l.ub = n(FF, D, std=a), z(FF); l.down, l.db = n(D, FF, std=FF ** -0.5 / math.sqrt(2 * NL)), z(D); l.n2, l.b2 = o(), z(D); s.L.append(l)
        s.pool, s.pb = n(D, D, std=a), z(D); s.cls, s.cb = n(32, D, std=0.02), z(32)   # rerank head (first row used)
    def hidden(s, ids, cu, pos, typ=None):
        x = Emb.apply(ids, s.emb) + Emb.apply(pos, s.pos) + Emb.apply(torch.zeros_like(ids) if typ is None else typ, s.typ)
        _, h, x = Norm.apply(x, None, s.ew, s.eb, 1e-12, 1, True)
        for l in s.L:   # post-LN
            y = Linear.apply(Attn.apply(Linear.apply(h, l.qkv, l.qb), cu, s.H, s.H, s.hd, 0, None, None), l.o, l.ob); _, h, x = Norm.apply(x, y, l.n1, l.b1, 1e-12, 1, True)
            y = Linear.apply(Gelu.apply(Linear.apply(h, l.up, l.ub)), l.down, l.db); _, h, x = Norm.apply(x, y, l.n2, l.b2, 1e-12, 1, True)
        return x

def pack(seqs, typs=None):
    """list of id arrays -> ids, pos, cu, segment index (padded to a multiple of 32 with one extra sequence)"""
    lens = np.array([len(x) for x in seqs]); M = lens.sum(); pad = -M % 32; ids = np.concatenate(seqs + [np.zeros(pad, np.int64)]).astype(np.int64); st = np.concatenate([[0], np.cumsum(lens)]); pos = np.arange(M + pad) - np.repeat(np.concatenate([st[:-1], [M]]), np.concatenate([lens, [pad]]))
    cu = np.concatenate([st, [M + pad]]) if pad else st; t = torch.from_numpy; r = [t(ids), t(pos.astype(np.int64)), t(cu.astype(np.int64)), t(np.repeat(np.arange(len(lens)), lens)), t(lens)]
    if typs is not None: r.append(t(np.concatenate(typs + [np.zeros(pad, np.int64)]).astype(np.int64)))
    return r
