"""References of test/real-models/real-models.spec.ts, by transformers and sentence-transformers with float32 weights. usage:
write_references.py MODELS OUT TEXT_FILE... where MODELS is the folder of fetch_models.py. Needs torch, transformers and
sentence-transformers."""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
models, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
prompts = """What is the capital of France?
Write a haiku about the sea.
Explain photosynthesis in two sentences.
List three fruits.
Translate 'good morning' to Spanish.
Who wrote Hamlet?
Write a Python function that adds two numbers.
Why is the sky blue?
Give me a recipe for pancakes.
Name the planets of the solar system.
Define 'entropy'.
How do I boil an egg?""".splitlines()
texts = [
    "The harbour opens at six.",
    "A speed limit of 4 knots holds inside the breakwater, and fines begin at 200 euros.",
    "naïve café — Straße 東京 🙂",
    "x",
    "def add(a, b):\n    return a + b",
    " ".join(f"Sentence {i} of a long text about boats and weather." for i in range(20)),
]

folder = f"{models}/smollm2-135m-instruct"
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)


def of(ids, first):
    """The ids, and the log probability of each from `first` on."""
    with torch.no_grad():
        rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return dict(ids=ids, first=first, logprobs=[round(float(rows[i - 1, ids[i]]), 5) for i in range(first, len(ids))])


answers, text = [], []
for prompt in prompts:
    turns = [{"role": "user", "content": prompt}]
    written = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(written, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        answer = model.generate(torch.tensor([ids]), max_new_tokens=24, do_sample=False, pad_token_id=2)
    answers.append(dict(prompt=prompt, **of(answer[0].tolist(), len(ids))))
for file in files:
    ids = tokenizer(open(file, encoding="utf8").read(), add_special_tokens=False)["input_ids"]
    for start in range(0, min(len(ids) - 256, 6 * 256), 256):
        text.append(of(ids[start : start + 256], 1))
with open(f"{out}/smollm2.json", "w") as f:
    json.dump(dict(answers=answers, text=text), f, separators=(",", ":"))
embedder = SentenceTransformer(f"{models}/all-MiniLM-L6-v2")
vectors = [[round(float(x), 5) for x in vector] for vector in embedder.encode(texts)]
with open(f"{out}/minilm.json", "w") as f:
    json.dump([dict(text=t, vector=v) for t, v in zip(texts, vectors)], f, ensure_ascii=False, separators=(",", ":"))
