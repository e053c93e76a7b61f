"""Trains a reranker on the groups of groups.py, with the token kinds of nano-reader: they mark where words of the question match.

Usage: python3 train.py GROUPS.jsonl OUT_PREFIX --tokenizer T --init models/nano-reader/model.safetensors --groups 20000 [--seconds 3000]
Writes the averaged weights at each of --at (numbers of questions) and at the end, with quality on the held questions.
"""
import argparse, json, os, random, time
import numpy as np, torch
import text
text.MAXC = 128   # a passage, not a sentence
from ops import L as LIB, AdamW, W
from text import Coder, build
from model import Reader, load_safetensors

none = np.zeros(0, np.int32)


def read_groups(path, code, limits, held):
    """(question, passages with the right one first, how many of the next are of its paragraph, BM25, answers)"""
    out = []
    for line in open(path):
        g = json.loads(line)
        if g["held"] != held or (limits and g["source"] not in limits): continue
        out.append((g["question"], [g["right"], *g["near"], *g["far"]], len(g["near"]), g["bm25"]))
    return out


def from_reader(m, path):
    """The weights of nano-reader, token kinds included."""
    z = load_safetensors(path); m.from_rerank(path)
    with torch.no_grad(): t = z["bert.embeddings.token_type_embeddings.weight"]; m.typ[:len(t)] = t
    return m


def items_of(code, question, passages): q = code(question); return [build(q, code(p), (none,) * 3, (none,) * 3, none) for p in passages]


def held_quality(m, code, groups, weight):
    """Share of groups whose right passage comes first: by the model, by BM25, by both; passages of its paragraph count as right."""
    hits = np.zeros(3)
    with torch.no_grad():
        for question, passages, near, bm25 in groups:
            s = m.scores(items_of(code, question, passages))[0].numpy(); b = np.array(bm25)
            hits += [np.argmax(x) <= near for x in (s, b, s + weight * b)]
    return hits / len(groups)


def main():
    ap = argparse.ArgumentParser(); ap.add_argument("source"); ap.add_argument("out"); ap.add_argument("--tokenizer"); ap.add_argument("--init"); ap.add_argument("--at", default="")
    for k, v in dict(groups=20000, seconds=0, batch=16, cand=6, threads=2, seed=1, warm=40, evaln=200).items(): ap.add_argument("--" + k, type=int, default=v)
    for k, v in dict(lr=4e-4, wd=0.02, binary=0.3, decay=0.4, ema=0.99).items(): ap.add_argument("--" + k, type=float, default=v)
    a = ap.parse_args(); torch.set_num_threads(a.threads); LIB.omp_set_num_threads(a.threads); torch.manual_seed(a.seed); rng = random.Random(a.seed)
    code = Coder(a.tokenizer)
    train, held = read_groups(a.source, code, None, False), read_groups(a.source, code, {"squadshifts-new-wiki", "squad-train-paragraphs"}, True)
    held = random.Random(3).sample(held, min(a.evaln, len(held))); rng.shuffle(train); print("groups", len(train), "held", len(held), flush=True)
    m = from_reader(Reader(), a.init); mix = torch.nn.Parameter(torch.tensor([0.3]))   # of BM25 in the fused order
    ps = [*m.parameters(), mix]; ema = [p.detach().clone() for p in ps]; opt = AdamW([([p for p in ps if p.dim() > 1], a.wd), ([p for p in ps if p.dim() == 1], 0.0)], betas=(0.9, 0.98))

    def swap():
        for p, e in zip(ps, ema): t = p.data.clone(); p.data.copy_(e); e.copy_(t)
        W.step += 1

    def save(tag):
        swap(); torch.save({"sd": m.state_dict(), "mix": float(mix), "seen": seen}, a.out + ".tmp"); os.replace(a.out + ".tmp", f"{a.out}-{tag}.pt")
        if a.evaln: print("HELD", tag, "model %.3f BM25 %.3f both %.3f" % tuple(held_quality(m, code, held, float(mix))), "mix %.3f" % float(mix), flush=True)
        swap()

    marks, seen, step, acc, started = [int(x) for x in a.at.split(",") if x], 0, 0, [], time.time()
    while True:
        done = max(seen / a.groups, (time.time() - started) / a.seconds if a.seconds else 0)   # whichever limit comes first
        if done >= 1: break
        if marks and seen >= marks[0]: save(str(marks.pop(0)))
        lr = a.lr * min(1, (step + 1) / a.warm) * min(1.0, max(0.02, (1 - done) / a.decay))
        items, bm25 = [], []
        for _ in range(a.batch):
            question, passages, near, words = train[(seen + len(bm25)) % len(train)]
            own = [k for k in range(1, 1 + near) if rng.random() < 0.5]; far = list(range(1 + near, len(passages)))
            hard = far[:4]; rest = far[4:]; rng.shuffle(rest); chosen = ([0] + own + hard + rest)[:a.cand]
            items += items_of(code, question, [passages[k] for k in chosen]); bm25.append([words[k] for k in chosen])
        s = m.scores(items)[0].view(a.batch, a.cand); b = torch.tensor(bm25); right = torch.zeros(a.batch, dtype=torch.long); y = torch.zeros_like(s); y[:, 0] = 1
        alone, both = (torch.nn.functional.cross_entropy(x, right) for x in (s, s + mix * b))
        loss = 0.5 * alone + 0.5 * both + a.binary * torch.nn.functional.binary_cross_entropy_with_logits(s, y, pos_weight=torch.tensor(a.cand / 2))
        loss.backward(); gn = opt.step(lr); step += 1; seen += a.batch
        d = min(a.ema, (1 + step) / (10 + step))
        for e, p in zip(ema, ps): e.mul_(d).add_(p.data, alpha=1 - d)
        acc.append((alone.item(), both.item(), (s.argmax(1) == 0).float().mean().item(), ((s + mix * b).argmax(1) == 0).float().mean().item(), sum(len(i[0]) for i in items)))
        if step % 20 == 0: v = np.mean(acc, 0); acc = []; print(f"{step} seen {seen} alone {v[0]:.3f} both {v[1]:.3f} first {v[2]:.3f} {v[3]:.3f} mix {float(mix):.3f} tokens {v[4]:.0f} gn {gn:.2f} lr {lr:.1e} {time.time()-started:.0f}s", flush=True)
    save("final")


if __name__ == "__main__": main()
