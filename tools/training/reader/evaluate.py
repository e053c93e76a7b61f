"""Scores of the reader on groups of sentences."""
import numpy as np, torch
from text import build

def score(m, cs, per=220):
    """per case: (scores, log-sum-exp of token logits) of the candidates"""
    with torch.no_grad():
        flat = [(q, c) for q, C, *_ in cs for c in C]; S, Tk = [], []
        for i in range(0, len(flat), per):
            items = [build(q, *c) for q, c in flat[i:i + per]]
            sc, tl, at, own = m.scores(items); S.append(sc.numpy())
            mx = np.full(len(items), -1e9); np.maximum.at(mx, own, tl.numpy()); Tk.append(mx)
        S, Tk = np.concatenate(S), np.concatenate(Tk); out, o = [], 0
        for q, C, *_ in cs: out.append((S[o:o + len(C)], Tk[o:o + len(C)])); o += len(C)
    return out

def top(m, cs):
    z = [(s, t, c[2]) for c, (s, t) in zip(cs, score(m, cs)) if not c[3]]
    f = lambda key, k: np.mean([y[np.argsort(-key(s, t))[:k]].any() for s, t, y in z])
    return {"top1": f(lambda s, t: s, 1), "top2": f(lambda s, t: s, 2), "span-top1": f(lambda s, t: t, 1), "sum-top1": f(lambda s, t: s + 0.5 * t, 1)}
