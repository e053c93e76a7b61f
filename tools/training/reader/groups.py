"""Training groups: question, positive sentences, hard negatives (same paragraph, BM25 hits elsewhere in the source).

Usage: python3 groups.py QA_DIR OUT.jsonl [PER_SOURCE_LIMIT]
"""
import sys, os, json, math, glob, random
from collections import Counter, defaultdict
import numpy as np
from text import sentences, norm, stem, STOP
import re
from multiprocessing import Pool

def toks(t): return [stem(w) for w in re.findall(r"[a-z0-9]+", t.lower()) if w not in STOP]

def source(path):
    rng = random.Random(7)
    rows = [json.loads(l) for l in open(path)]
    name = os.path.basename(path)[:-6]
    sent, where, paras, pid = [], [], [], {}      # sentence table; where: (paragraph, index)
    def para(key, S):
        if key not in pid:
            pid[key] = len(paras); paras.append(list(range(len(sent), len(sent) + len(S))))
            for i, s in enumerate(S): sent.append(s); where.append((pid[key], i))
        return pid[key]
    for r in rows:
        if "context" in r: r["p"] = para(r["context"], sentences(r["context"]))
        elif "sentence" in r: r["p"] = para(r["sentence"], [r["sentence"]])
        else: r["p"] = para("\n".join(r["candidates"]), r["candidates"])
    normed = [" " + norm(s) + " " for s in sent]
    post = defaultdict(list); ln = []
    for i, s in enumerate(sent):
        c = Counter(toks(s)); ln.append(sum(c.values()))
        for w, k in c.items(): post[w].append((i, k))
    N = len(sent); av = sum(ln) / N; ln = np.array(ln)
    P = {w: (np.array([x for x, _ in v]), np.array([k for _, k in v], float), math.log(1 + (N - len(v) + .5) / (len(v) + .5))) for w, v in post.items()}
    out = []
    if name == "policyqa": rng.shuffle(rows); rows = rows[:4000]
    for n, r in enumerate(rows):
        own = paras[r["p"]]; ans = [norm(a) for a in r.get("answers") or []]; ans = [a for a in ans if a]
        if "context" in r:
            pos = [] if r.get("impossible") else [i for i in own if any(f" {a} " in normed[i] for a in ans)]
            if not pos and not r.get("impossible"): continue
        elif "sentence" in r: pos = own
        else: pos = [own[k] for k in r["labels"]]
        if not pos and not r.get("impossible"): continue
        sc = np.zeros(N)
        qw = set(toks(r["question"]))
        for w in qw:
            if w in P: a, k, idf = P[w]; sc[a] += idf * k * 2.2 / (k + 1.2 * (.25 + .75 * ln[a] / av))
        if len(pos) > 2: pos = sorted(pos, key=lambda i: -sc[i])[:2]
        bad = set(pos)
        ok = lambda i: i not in bad and not any(f" {a} " in normed[i] for a in ans) and normed[i] not in {normed[j] for j in pos}
        near = [i for i in own if ok(i)] if "sentence" not in r else []
        if len(near) > 6: near = sorted(near, key=lambda i: -sc[i] + rng.random() * 3)[:6]
        top = np.argpartition(-sc, min(40, N - 1))[:40]; top = top[np.argsort(-sc[top])]
        far = [int(i) for i in top if sc[i] > 0 and ok(i) and i not in near and where[i][0] != r["p"]]
        if "sentence" in r:
            far = far[:24]
            row = own[0]; nb = [i for i in range(max(0, row - 12), min(N, row + 13)) if ok(i) and i not in far]; rng.shuffle(nb); near = nb[:4]
        far = far[:16]
        # unlucky draws: keep the hardest and some of the rest
        far = far[:4] + rng.sample(far[4:], min(len(far) - 4, 5)) if len(far) > 4 else far
        cand = pos + (near + far)
        def row_of(i):
            p, k = where[i]; S = paras[p]; single = "sentence" in r or "candidates" in r and False
            return {"s": sent[i], "prev": sent[S[k - 1]] if k else "", "next": sent[S[k + 1]] if k + 1 < len(S) else "", "doc": [sent[j] for j in S[max(0, k - 3):k + 4] if abs(j - i) > 1]}
        g = {"src": name, "q": r["question"], "npos": len(pos), "imp": bool(r.get("impossible")), "answers": r.get("answers") or [], "cand": [row_of(i) for i in cand[:len(pos) + 12]]}
        if len(g["cand"]) - len(pos) >= 3: out.append(g)
    return name, out

if __name__ == "__main__":
    files = sorted(glob.glob(sys.argv[1] + "/*.jsonl"), key=lambda f: -os.path.getsize(f))
    n = 0
    with open(sys.argv[2], "w") as o, Pool(2) as pool:
        for name, out in pool.imap_unordered(source, files):
            for g in out: o.write(json.dumps(g) + "\n")
            n += len(out); print(name, len(out), sum(len(g["cand"]) for g in out) / max(1, len(out)), flush=True)
    print("groups", n)
