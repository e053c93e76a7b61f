"""Writes models in the file forms of the installed sentence-transformers and transformers, with what these libraries
compute of them as reference.json. usage: write_forms.py OUT [SENTENCE_MODEL]

Without SENTENCE_MODEL the models are tiny and random (the fixtures of test/fixtures/model-forms).
"""

import json
import os
import shutil
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
from tokenizers import BertWordPieceTokenizer
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertModel,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    ModernBertModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

torch.manual_seed(7)
out = sys.argv[1]
given = sys.argv[2] if len(sys.argv) > 2 else None
shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)

words = "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat sat on mat what is : query passage dog ran . ?".split()
words += [chr(c) for c in range(97, 123)] + ["##" + chr(c) for c in range(97, 123)]
texts = ["the cat sat on the mat.", "a dog ran", "What is a cat?", "the " * 20, "x"]
pairs = [["what is a cat?", "the cat sat on the mat."], ["a dog", "a dog ran and ran"], ["x", "the mat"]]


def tokenizer(folder):
    vocabulary = os.path.join(folder, "vocab.txt")
    with open(vocabulary, "w", encoding="utf8") as file:
        file.write("\n".join(words))
    inner = BertWordPieceTokenizer(vocabulary, lowercase=True)
    os.remove(vocabulary)
    names = dict(cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")
    PreTrainedTokenizerFast(
        tokenizer_object=inner._tokenizer,
        model_max_length=48,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **names,
    ).save_pretrained(folder)


def encoder(kind):
    """A folder with a tiny transformer."""
    folder = os.path.join(out, "base-" + kind)
    if not os.path.exists(folder):
        os.makedirs(folder)
        sizes = dict(vocab_size=len(words), hidden_size=16, num_attention_heads=2, intermediate_size=24)
        ids = dict(pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3)
        modern = dict(max_position_embeddings=64, local_attention=8, initializer_range=0.4, num_hidden_layers=3)
        if kind == "bert":
            model = BertModel(BertConfig(**sizes, num_hidden_layers=2, max_position_embeddings=64, initializer_range=0.4))
        elif kind == "modernbert":
            model = ModernBertModel(ModernBertConfig(**sizes, **ids, **modern))
        else:
            config = ModernBertConfig(**sizes, **ids, **modern, num_labels=1)
            model = ModernBertForSequenceClassification(config)
        model.save_pretrained(folder)
        tokenizer(folder)
    return folder


def transformer(kind):
    return Transformer(given) if given and kind == "bert" else Transformer(encoder(kind))


def note(folder, reference):
    for name in ("README.md", "special_tokens_map.json"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    with open(os.path.join(folder, "reference.json"), "w", encoding="utf8") as file:
        json.dump(reference, file)


def save_sentence(name, modules, **options):
    model = SentenceTransformer(modules=modules, device="cpu", **options)
    folder = os.path.join(out, name)
    model.save_pretrained(folder)
    rows = {
        kind: [[round(float(x), 6) for x in row] for row in encode(texts, normalize_embeddings=True)]
        for kind, encode in dict(
            other=model.encode, query=model.encode_query, document=model.encode_document
        ).items()
    }
    note(folder, dict(kind="embedding", texts=texts, vectors=rows))


def save_reranker(name, model):
    folder = os.path.join(out, name)
    model.save_pretrained(folder)
    scores = [float(x) for x in model.predict(pairs, activation_fn=torch.nn.Sigmoid())]
    note(folder, dict(kind="reranking", pairs=pairs, scores=scores))


prompts = {"query": "query: ", "document": "passage: "}
bert = transformer("bert")
width = bert.get_embedding_dimension()
save_sentence("mean-normalized", [bert, Pooling(width, "mean"), Normalize()])
save_sentence("prompts", [bert, Pooling(width, "cls"), Normalize()], prompts=prompts, default_prompt_name="query")
modes = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
save_sentence("all-poolings", [bert, Pooling(width, modes)])
for mode in modes:
    save_sentence("pooling-" + mode, [bert, Pooling(width, mode)])
save_sentence(
    "every-module",
    [
        bert,
        Pooling(width, ("mean", "cls")),
        Dense(2 * width, 24, activation_function=torch.nn.GELU(), use_residual=True),
        Dense(24, 24, bias=False, use_residual=True),
        LayerNorm(24),
        Dense(24, 8, activation_function=torch.nn.Identity()),
        Normalize(),
    ],
    prompts=prompts,
    similarity_fn_name="dot",
)
modern = transformer("modernbert")
save_sentence("modernbert", [modern, Pooling(16, "mean")])
save_reranker(
    "cross-encoder-modules",
    CrossEncoder(
        modules=[
            modern,
            Pooling(16, "cls"),
            Dense(16, 16, activation_function=torch.nn.GELU()),
            LayerNorm(16),
            Dense(16, 1, activation_function=torch.nn.Identity(), module_output_name="scores"),
        ],
        device="cpu",
    ),
)
save_reranker("cross-encoder-classifier", CrossEncoder(encoder("classifier"), device="cpu"))

sizes = dict(
    vocab_size=96,
    hidden_size=32,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    intermediate_size=48,
    num_hidden_layers=2,
    max_position_embeddings=128,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    initializer_range=0.25,
)
full, sliding = dict(rope_type="default", rope_theta=1_000_000.0), dict(rope_type="default", rope_theta=500.0)
llama3 = dict(
    rope_type="llama3",
    rope_theta=500_000.0,
    factor=4.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=32,
)
decoders = {
    "gemma3-nested-rope": Gemma3ForCausalLM(
        Gemma3TextConfig(
            **sizes,
            sliding_window=6,
            layer_types=["sliding_attention", "full_attention"],
            rope_parameters=dict(full_attention=full, sliding_attention=sliding),
        )
    ),
    "llama-tied-rope": LlamaForCausalLM(LlamaConfig(**sizes, tie_word_embeddings=True, rope_parameters=llama3)),
    "qwen3-sharded": Qwen3ForCausalLM(
        Qwen3Config(**sizes, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=777.0))
    ),
}
prompt = [1] + [3 + (i * 37) % 90 for i in range(39)]
for name, model in decoders.items():
    folder = os.path.join(out, name)
    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="16KB" if "sharded" in name else "1GB")
    with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf8") as file:
        file.write("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")
    exact = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = exact(torch.tensor([prompt])).logits[0, -1]
    note(folder, dict(kind="decoder", ids=prompt, logits=[round(float(x), 6) for x in logits]))
for name in os.listdir(out):
    if name.startswith("base-"):
        shutil.rmtree(os.path.join(out, name))
