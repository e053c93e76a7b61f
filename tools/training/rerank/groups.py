"""Groups to train a reranker on: a question, the passage that answers it, and passages that BM25 finds for it and that do not.

Usage: python3 groups.py QA_DIR OUT.jsonl
Passages are cut as ingestion cuts them (at most 90 words, at sentence borders). Files that hold sentences alone get passages of
neighboring sentences. The last eighth of each file is marked `held`: it is never trained on.
"""
import glob, json, math, os, random, re, sys
from collections import Counter, defaultdict
from multiprocessing import Pool
import numpy as np
from text import STOP, norm, sentences, stem

WORDS = 90
SENTENCES = 45   # of a passage that is made of sentences of a file
NEGATIVES = 12
LIMITS = {"bioasq": 1600}   # another style than the questions that are expected
SKIPPED = {"policyqa"}   # the same questions about many sites: no passage is the right one


def terms(text): return [stem(w) for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in STOP]


def cut(text):
    """Passages of about equal length and at most WORDS words (one sentence may be longer)."""
    parts = sentences(text)
    total = sum(len(s.split()) for s in parts)
    aim = total / max(1, math.ceil(total / WORDS))
    out, now, count = [], [], 0
    for s in parts:
        n = len(s.split())
        if now and (count + n > WORDS or count + n / 2 > aim):
            out.append(" ".join(now)); now, count = [], 0
        now.append(s); count += n
    return out + [" ".join(now)] if now else out


def paragraphs(rows):
    """Puts the place of its passages into each row: (passages, owner of each)."""
    texts, owner, known = [], [], {}
    def add(key, parts):
        if key not in known:
            known[key] = range(len(texts), len(texts) + len(parts)); texts.extend(parts); owner.extend([len(known)] * len(parts))
        return known[key]
    run, count, last = [], 0, None
    for r in rows:
        if "context" in r: r["own"] = add(r["context"], cut(r["context"]))
        elif "candidates" in r:
            text = " ".join(r["candidates"]); r["own"] = add(text, cut(text)); r["answers"] = [r["candidates"][k] for k in r["labels"]]
    single = [r for r in rows if "sentence" in r]
    for r in single:   # neighboring sentences of a file stand in one article
        s = r["sentence"]
        if s != last and count + len(s.split()) > SENTENCES: run, count = [], 0
        if s != last and s not in run: run.append(s); count += len(s.split())
        r["run"], r["answers"], last = run, [s], s
    for r in single: text = " ".join(r["run"]); r["own"] = add(text, [text])
    return texts, owner


def source(path):
    name, rng = os.path.basename(path)[:-6], random.Random(7)
    rows = [json.loads(line) for line in open(path)]
    texts, owner = paragraphs(rows)
    for r in rows: r.pop("run", None)
    owner, plain = np.array(owner), [f" {norm(t)} " for t in texts]
    posts, lengths = defaultdict(list), []
    for i, t in enumerate(texts):
        c = Counter(terms(t)); lengths.append(sum(c.values()))
        for w, k in c.items(): posts[w].append((i, k))
    n, lengths = len(texts), np.array(lengths, float); mean = lengths.mean()
    index = {w: (np.array([x for x, _ in v]), np.array([k for _, k in v], float), math.log(1 + (n - len(v) + .5) / (len(v) + .5))) for w, v in posts.items()}
    held = set(map(id, rows[len(rows) * 7 // 8:]))
    if name in LIMITS: rows = [r for r in rows if id(r) in held][:200] + rng.sample([r for r in rows if id(r) not in held], LIMITS[name])
    out = []
    for r in rows:
        answers = [a for a in (norm(a) for a in r.get("answers") or []) if a]
        holds = lambda i: any(f" {a} " in plain[i] for a in answers)
        score = np.zeros(n)
        for w in set(terms(r["question"])):
            if w in index: at, k, idf = index[w]; score[at] += idf * k * 1.6 / (k + .6 * (.5 + .5 * lengths[at] / mean))
        right = sorted((i for i in r["own"] if holds(i)), key=lambda i: -score[i])[:1]
        if not right: continue
        near = [i for i in r["own"] if i not in right and not holds(i)][:2]
        top = np.argpartition(-score, min(60, n - 1))[:60]; top = top[np.argsort(-score[top])]
        far = [int(i) for i in top if owner[i] != owner[right[0]] and not holds(i)][:40]
        far = far[:6] + rng.sample(far[6:], min(len(far) - 6, NEGATIVES - 6)) if len(far) > 6 else far
        if len(far) < 5: continue
        out.append({"source": name, "held": id(r) in held, "question": r["question"], "right": texts[right[0]], "near": [texts[i] for i in near], "far": [texts[i] for i in far],
                    "bm25": [float(score[i]) for i in right + near + far], "answers": list(dict.fromkeys(r.get("answers") or []))[:4]})
    return name, out


if __name__ == "__main__":
    files = sorted((f for f in glob.glob(sys.argv[1] + "/*.jsonl") if os.path.basename(f)[:-6] not in SKIPPED), key=lambda f: -os.path.getsize(f))
    with open(sys.argv[2], "w") as target, Pool(2) as pool:
        for name, out in pool.imap_unordered(source, files):
            for g in out: target.write(json.dumps(g) + "\n")
            first = np.mean([g["bm25"][0] > max(g["bm25"][1 + len(g["near"]):]) for g in out])
            print(name, len(out), "groups,", sum(g["held"] for g in out), f"held, BM25 prefers the right one in {first:.3f}", flush=True)
