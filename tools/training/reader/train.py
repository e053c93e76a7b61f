"""Train the reader on the groups of groups.py for a given time.

Usage: python3 train.py GROUPS.jsonl OUT_PREFIX --tokenizer T --init models/nano-rerank/model.safetensors --seconds 1400 --eval groups.jsonl...
"""
import sys, os, json, time, argparse, random
import numpy as np, torch
from ops import L as LIB, AdamW, W
from text import Coder, build
from model import Reader
from evaluate import top

ap = argparse.ArgumentParser(); ap.add_argument("groups"); ap.add_argument("out"); ap.add_argument("--tokenizer"); ap.add_argument("--init"); ap.add_argument("--resume"); ap.add_argument("--eval", nargs="*", default=[])
for k, v in dict(seconds=60, batch=24, cand=10, threads=2, seed=1, warm=50, dim=256, layers=4, heads=8, ff=768, limit=0, evaln=500).items(): ap.add_argument("--" + k, type=int, default=v)
for k, v in dict(lr=6e-4, wd=0.02, span=0.3, binary=0.3, decay=0.35, ema=0.995, drop=0.07).items(): ap.add_argument("--" + k, type=float, default=v)
ap.add_argument("--at", default="", help="fractions of the time at which to evaluate")
a = ap.parse_args(); torch.set_num_threads(a.threads); LIB.omp_set_num_threads(a.threads); torch.manual_seed(a.seed); rng = random.Random(a.seed)
KEEP = {"squad-train-sentences-lower-case": 0.6, "policyqa": 0.4, "bioasq": 0.6}   # other styles than the questions we expect
nrng = np.random.default_rng(a.seed); T0 = time.time(); code = Coder(a.tokenizer); G = []
HELD = {"squadshifts-new-wiki", "squad-train-paragraphs", "covid-qa", "squad-train-sentences", "selqa", "qed"}   # their last eighth is kept for fitting the fusion
from collections import Counter
total, number = Counter(json.loads(l)["src"] for l in open(a.groups)), Counter()
for line in open(a.groups):
    g = json.loads(line); number[g["src"]] += 1
    if g["src"] in HELD and number[g["src"]] > total[g["src"]] * 7 / 8: continue
    if rng.random() > KEEP.get(g["src"], 1): continue
    doc = lambda c: np.unique(np.concatenate([code(s)[1] for s in c["doc"]])) if c["doc"] else np.zeros(0, np.int32)
    C = [(code(c["s"]), code(c["prev"]), code(c["next"]), doc(c)) for c in g["cand"]]
    G.append((code(g["q"]), C, g["npos"], [code(x)[0] for x in set(g["answers"])], g["src"]))
print("groups", len(G), f"{time.time()-T0:.0f}s", flush=True)
def dev(path, n):
    out = []
    for line in list(open(path))[:n * 3:3]:
        g = json.loads(line)
        C = [(code(c["s"]), code(c["prev"]), code(c["next"]), np.unique(np.concatenate([code(s)[1] for s in c["doc"]])) if c["doc"] else np.zeros(0, np.int32)) for c in g["cand"]]
        out.append((code(g["q"]), C, np.arange(len(C)) < g["npos"], False))
    return out
evs = [(f, dev(f, a.evaln)) for f in a.eval]
m = Reader(a.dim, a.layers, a.heads, a.ff)
if a.init: m.from_rerank(a.init)
if a.resume:
    from model import load_safetensors
    m.load_state_dict(load_safetensors(a.resume))
ps = list(m.parameters()); opt = AdamW([([p for p in ps if p.dim() > 1], a.wd), ([p for p in ps if p.dim() == 1], 0.0)], betas=(0.9, 0.98))
ema = [p.detach().clone() for p in ps]
print("params", sum(p.numel() for p in ps) / 1e6, flush=True)

def span(ids, answers):
    hit = np.zeros(len(ids), bool)
    for x in answers:
        n = len(x)
        if n:
            for i in range(len(ids) - n + 1):
                if ids[i] == x[0] and (ids[i:i + n] == x).all(): hit[i:i + n] = True
    return hit

def batch(gs):
    items, gid, pos, tg = [], [], [], []
    for k, g in enumerate(gs):
        q, C, npos, ans, src = g
        p = rng.randrange(npos); neg = C[npos:]; n = a.cand - 1
        if len(neg) > n: neg = rng.sample(neg, n)
        caps = rng.random() > 0.15
        for j, c in enumerate([C[p]] + neg):
            it = build(q, c[0], c[1], c[2], c[3], caps)
            if a.drop: it[0][(nrng.random(len(it[0])) < a.drop) & (it[0] > 4)] = 4
            items.append(it); gid.append(k); pos.append(j == 0)
            n_c = it[2][1] - it[2][0]
            tg.append(span(c[0][0][:n_c], ans) if j == 0 and ans else np.zeros(n_c, bool))
    return items, np.array(gid), np.array(pos), np.concatenate(tg)

def swap():
    for p, e in zip(ps, ema): t = p.data.clone(); p.data.copy_(e); e.copy_(t)
    W.step += 1
def evaluate(tag):
    swap(); t = time.time()
    for f, cs in evs: print("EVAL", tag, os.path.basename(f), *(f"{k} {v:.4f}" for k, v in top(m, cs).items()), f"{time.time()-t:.0f}s", flush=True)
    torch.save({"sd": m.state_dict(), "args": vars(a), "seen": seen}, a.out + ".tmp"); os.replace(a.out + ".tmp", f"{a.out}-{tag}.pt"); swap()

order, seen, step, acc = [], 0, 0, []
marks = [float(x) for x in a.at.split(",") if x]; evtime = 0; t0 = time.time()
while True:
    el = time.time() - t0 - evtime; fr = el / a.seconds
    if fr >= 1 or (a.limit and seen >= a.limit): break
    if marks and fr >= marks[0]:
        t = time.time(); evaluate(f"{seen}"); marks.pop(0); evtime += time.time() - t
    lr = a.lr * min(1, (step + 1) / a.warm) * min(1.0, max(0.02, (1 - fr) / a.decay))
    if len(order) < a.batch: order = order + rng.sample(range(len(G)), len(G))
    gs = [G[order.pop()] for _ in range(a.batch)]
    items, gid, pos, tg = batch(gs)
    sc, tl, at, own = m.scores(items)
    gidt = torch.from_numpy(gid); B = len(gs)
    lse = lambda v, idx: (lambda mx: torch.zeros(B).index_add(0, idx, (v - mx[idx]).exp()).log() + mx)(torch.full((B,), -1e4).scatter_reduce(0, idx, v.detach(), "amax"))
    post = torch.from_numpy(pos); sp = sc[post]; l1 = (lse(sc, gidt) - sp).mean()
    l2 = torch.nn.functional.binary_cross_entropy_with_logits(sc, post.float(), pos_weight=torch.tensor(4.0))
    tgid = gidt[torch.from_numpy(own)]; tgt = torch.from_numpy(tg); cnt = torch.zeros(B).index_add(0, tgid[tgt], torch.ones(int(tgt.sum()))); has = cnt > 0
    loss = l1 + a.binary * l2; l3 = torch.zeros(())
    if has.any() and a.span:
        l3 = ((lse(tl, tgid) - torch.zeros(B).index_add(0, tgid[tgt], tl[tgt]) / cnt.clamp(min=1)) * has).sum() / B
        loss = loss + a.span * l3
    loss.backward(); gn = opt.step(lr); step += 1; seen += B
    d = min(a.ema, (1 + step) / (10 + step))
    for e, p in zip(ema, ps): e.mul_(d).add_(p.data, alpha=1 - d)
    best = np.full(B, -1e9); s = sc.detach().numpy(); np.maximum.at(best, gid, s); acc.append((l1.item(), l2.item(), l3.item(), (s[pos] >= best).mean(), len(at), sum(len(x[0]) for x in items)))
    if step % 25 == 0: v = np.mean(acc, 0); acc = []; print(f"{step} seen {seen} list {v[0]:.3f} bin {v[1]:.3f} span {v[2]:.3f} acc {v[3]:.3f} tokens {v[5]:.0f} gn {gn:.2f} lr {lr:.1e} {time.time()-t0-evtime:.0f}s {seen/(time.time()-t0-evtime):.1f} groups/s", flush=True)
evaluate("final")
