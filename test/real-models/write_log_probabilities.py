"""Log probabilities of a decoder with float32 weights: of its own greedy answers, and of text. usage:
write_log_probabilities.py MODEL OUT.json TEXT_FILE..."""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
folder, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
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


def prompt_ids(text):
    if tokenizer.chat_template:
        turns = [{"role": "user", "content": text}]
        text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return tokenizer(text, add_special_tokens=False)["input_ids"]
    return tokenizer(text)["input_ids"]


def of(ids, first):
    """The ids, and the log probability of each from `first` on."""
    with torch.no_grad():
        rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return dict(ids=ids, first=first, logprobs=[float(rows[i - 1, ids[i]]) for i in range(first, len(ids))])


forced, text = [], []
for prompt in prompts:
    ids = prompt_ids(prompt)
    with torch.no_grad():
        answer = model.generate(torch.tensor([ids]), max_new_tokens=24, do_sample=False, pad_token_id=0)
    forced.append(of(answer[0].tolist(), len(ids)))
for file in files:
    ids = tokenizer(open(file, encoding="utf8").read())["input_ids"]
    for start in range(0, min(len(ids) - 256, 6 * 256), 256):
        text.append(of(ids[start : start + 256], 1))
json.dump(dict(forced=forced, text=text), open(out, "w"))
