"""Trains nano-asr: train.py SHARDS[,SHARDS] VOCAB OUT --steps N

Reads the shards of each folder that are there and, while it runs, those that synthesise.py and people.py add. The learning rate falls to zero at the
end of the given steps (of all workers together), so their number decides the quality, and a machine that is busy or pauses the processes only takes
longer. To end sooner: `echo STEPS > OUT/finish` lets the rate fall from where it is to zero within that many more steps. Writes OUT/last.pt every two
minutes and at the end; `--continue FILE` starts from one (with a new schedule), `--continue models/nano-asr` from the weights of a model directory.
"""
import argparse
import glob
import json
import multiprocessing
import os
import struct
import time

import numpy as np
import torch
from torch.nn import functional

from model import CONFIG, NanoCtc
from speakers import PHONEMES
from synthesise import LEVELS, UNKNOWN
from units import Units

STEP = 6
MEET = 16  # steps between two meetings of workers
NEARBY = 8  # utterances
DRAWN = 4096  # utterances that are put in order of their length at a time


class Shards:
    """Utterances of all shards in memory.

    `shares`: how much of what is heard comes from each folder; by default as much as it holds. `splice`: the part of the utterances with known
    words that get the end of another one, so that a sentence cannot be learned by heart.
    """

    def __init__(self, folders, units, shares=None, splice=0.0):
        self.folders, self.units, self.shares, self.splice, self.seen = folders.split(","), units, shares, splice, set()
        self.items, self.members = [], [[] for _ in self.folders]

    def scan(self):
        found = [(path, members) for folder, members in zip(self.folders, self.members) for path in sorted(glob.glob(f"{folder}/shard-?????.npz"))]
        for path, members in found:
            if path in self.seen:
                continue
            self.seen.add(path)
            data, texts = np.load(path), json.load(open(path[:-4] + ".json"))
            features, phonemes, offsets = data["features"], data["phonemes"], data["offsets"]
            words = data["words"] if "words" in data else None
            for text, start, end in zip(texts, offsets, offsets[1:]):
                target = self.units.encode(text)
                if fits(target, end - start):
                    members.append(len(self.items))
                    self.items.append((features[start:end], phonemes[start:end], target, None if words is None else words[start:end], text))

    def drawn(self, rng):
        """Places of at most 4,096 utterances, each folder with its share."""
        if self.shares is None:
            return rng.permutation(len(self.items))[:DRAWN]
        counts = [min(int(DRAWN * share), len(members)) for share, members in zip(self.shares, self.members)]
        return np.concatenate([rng.permutation(members)[:count] for count, members in zip(counts, self.members)])

    def heard(self, place, rng):
        """Features, phonemes and units of an utterance, or of its beginning and the end of one nearby, which often is the same person's."""
        features, phonemes, target, words, text = self.items[place]
        if words is None or rng.random() >= self.splice:
            return features, phonemes, target
        other = place + rng.integers(-NEARBY, NEARBY + 1)
        if not 0 <= other < len(self.items) or self.items[other][3] is None:
            return features, phonemes, target
        end_features, end_phonemes, _, end_words, end_text = self.items[other]
        begin, end = text.split(), end_text.split()
        if min(len(begin), len(end)) < 2:
            return features, phonemes, target
        kept, dropped = rng.integers(1, len(begin)), rng.integers(1, len(end))
        until, since = np.argmax(words > kept), np.argmax(end_words > dropped)
        joined = self.units.encode(" ".join(begin[:kept] + end[dropped:]))
        if not fits(joined, until + len(end_features) - since):
            return features, phonemes, target
        return np.concatenate([features[:until], end_features[since:]]), np.concatenate([phonemes[:until], end_phonemes[since:]]), joined

    def batches(self, frames, rng):
        """Endless batches of about `frames` frames, utterances of like length together."""
        while True:
            self.scan()
            drawn = sorted((self.heard(place, rng) for place in self.drawn(rng)), key=lambda item: len(item[0]) + rng.integers(20))
            groups, current, longest = [], [], 0
            for item in drawn:
                longest = max(longest, len(item[0]))
                if current and longest * (len(current) + 1) > frames:
                    groups.append(current)
                    current, longest = [], len(item[0])
                current.append(item)
            for group in rng.permutation(len(groups)):
                yield groups[group]


def fits(target, frames):
    """Whether CTC has a path: a step for each unit, and one between two that are the same."""
    return len(target) + sum(a == b for a, b in zip(target, target[1:])) <= frames // STEP


def varied(values, phones, rng):
    """Another speaker in another place, on features alone: tempo, size of the head, microphone, noise."""
    frames, bands = values.shape
    length = max(STEP, int(frames * rng.uniform(0.9, 1.12)))
    at = np.linspace(0, frames - 1, length).astype(np.float32)
    first = np.minimum(at.astype(int), max(frames - 2, 0))
    part = (at - first)[:, None]
    values, phones = values[first] * (1 - part) + values[np.minimum(first + 1, frames - 1)] * part, phones[np.round(at).astype(int)]
    band = np.clip(np.arange(bands) * rng.uniform(0.93, 1.07) + rng.uniform(-0.7, 0.7), 0, bands - 1.001).astype(np.float32)
    low = band.astype(int)
    values = values[:, low] * (1 - (band - low)) + values[:, low + 1] * (band - low)
    knots = np.linspace(0, bands - 1, 6)
    values = values + np.interp(np.arange(bands), knots, rng.normal(0, 0.2, 6)).astype(np.float32)
    if rng.random() < 0.2:
        noise = np.interp(np.arange(bands), knots, rng.normal(0, 0.4, 6)) + rng.uniform(-2.5, -0.4)
        # A deviation of the features is about 2.5 in the logarithm of the power.
        values = np.logaddexp(2.5 * values, 2.5 * noise + rng.normal(0, 0.7, values.shape)) / 2.5
    return ((values - values.mean()) / (values.std() + 1e-5)).astype(np.float32), phones


def collate(items, rng, vary):
    """-> features [B, T, mels] with masked bands and spans, lengths, phonemes [B, T/6, 2], targets"""
    items = [(values.astype(np.float32) / LEVELS, phones, target) for values, phones, target in items]
    if vary:
        items = [(*varied(values, phones, rng), target) for values, phones, target in items]
    lengths = np.array([len(f) for f, _, _ in items])
    width = -(-lengths.max() // STEP) * STEP
    features = np.zeros((len(items), width, items[0][0].shape[1]), np.float32)
    phonemes = np.full((len(items), width), UNKNOWN, np.int64)
    for row, (values, phones, _) in enumerate(items):
        length, bands = values.shape
        for _ in range(2):
            band = rng.integers(0, 9)
            at = rng.integers(0, bands - band)
            values[:, at:at + band] = 0
        for _ in range(length // 100):
            span = rng.integers(0, 13)
            at = rng.integers(0, length - span)
            values[at:at + span] = 0
        features[row, :length], phonemes[row, :length] = values, phones
    halves = phonemes.reshape(len(items), -1, STEP)[:, :, (1, 4)]
    return torch.from_numpy(features), torch.from_numpy(lengths), torch.from_numpy(halves), [target for _, _, target in items]


def losses(model, batch, device, amount):
    features, lengths, phonemes, targets = batch
    with torch.autocast(device, torch.bfloat16):
        scores, count, phoneme_scores = model(features.to(device), lengths.to(device))
    flat = torch.tensor([i for target in targets for i in target])
    sizes = torch.tensor([len(target) for target in targets])
    ctc = functional.ctc_loss(scores.float().log_softmax(2).transpose(0, 1), flat.to(device), count, sizes.to(device), reduction="sum", zero_infinity=True)
    named = functional.cross_entropy(phoneme_scores.float().reshape(-1, PHONEMES), phonemes.to(device).reshape(-1), ignore_index=UNKNOWN, reduction="sum")
    named = named / max(1, (phonemes != UNKNOWN).sum().item())  # people's shards name no phonemes
    return ctc / sizes.sum() + amount * named, ctc.item() / sizes.sum().item(), named.item()


def weights_of(path, device):
    """Of a checkpoint of this script, or of a model directory (int8 rows times their scale, or float32)."""
    if not os.path.isdir(path):
        return torch.load(path, map_location=device)["model"]
    with open(f"{path}/model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kinds = {"F32": np.float32, "I8": np.int8}
    read = {name: np.frombuffer(data[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}
    scaled = {name: value * read[f"{name}_scale"] if f"{name}_scale" in read else value for name, value in read.items()}
    return {name: torch.tensor(value.astype(np.float32)) for name, value in scaled.items() if not name.endswith("_scale")}


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("vocab")
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=15000, help="of all workers together; each hears --frames")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--warmup", type=int, default=200, help="steps of a worker until the full rate")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="processes that train side by side and share their weights every few steps")
    parser.add_argument("--phonemes", type=float, default=0.5, help="weight of the phoneme loss at the start; it falls with the learning rate")
    parser.add_argument("--shares", help="how much of the utterances comes from each folder of SHARDS, such as 0.6,0.4")
    parser.add_argument("--dropout", type=float, default=0.0, help="part of each block's values left out at the start; it falls with the learning rate")
    parser.add_argument("--splice", type=float, default=0.0, help="part of the utterances with words (name_phonemes.py) that get another one's end")
    parser.add_argument("--vary", action="store_true", help="change tempo, head, microphone and noise anew each time an utterance is heard")
    parser.add_argument("--continue", dest="start")
    return parser.parse_args(arguments)


def main():
    options = options_of()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    os.makedirs(options.out, exist_ok=True)
    units = Units(options.vocab)
    model = NanoCtc({**CONFIG, "vocab_size": len(units.units)}, PHONEMES).to(device)
    print(f"{sum(p.numel() for n, p in model.named_parameters() if not n.startswith('phonemes.')) / 1e6:.2f} M parameters on {device}", flush=True)
    if options.start:
        # A model directory has no head for phonemes: that begins anew.
        missing, unexpected = model.load_state_dict(weights_of(options.start, device), strict=False)
        assert not unexpected and all(name.startswith("phonemes.") for name in missing), (missing, unexpected)
    if options.steps < 1:
        raise SystemExit("--steps: at least 1")
    if not 0 <= options.splice <= 1:
        raise SystemExit("--splice: a number from 0 to 1")
    shares = options.shares and [float(share) for share in options.shares.split(",")]
    if shares and (len(shares) != len(options.shards.split(",")) or abs(sum(shares) - 1) > 1e-6):
        raise SystemExit("--shares: a number for each folder of SHARDS, 1 in all")
    shards = Shards(options.shards, units, shares, options.splice)
    shards.scan()
    print(f"{len(shards.items)} utterances", flush=True)
    begin = time.time()
    schedule = Schedule(options.steps, f"{options.out}/finish")
    if options.workers == 1:
        train(0, model, None, shards, options, device, begin, schedule)
        save(model, options.out)
        return
    # The weights that the workers share; fork, so that the utterances are in memory once.
    common = [p.detach().clone().share_memory_() for p in model.parameters()]
    workers = [multiprocessing.get_context("fork").Process(target=train, args=(index, model, common, shards, options, device, begin, schedule))
               for index in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    take(model, common)
    save(model, options.out)


def take(model, common):
    with torch.no_grad():
        for own, shared in zip(model.parameters(), common):
            own.copy_(shared)


def meet(model, common):
    """A worker's weights and the common ones both become their mean."""
    with torch.no_grad():
        for own, shared in zip(model.parameters(), common):
            own.add_(shared).mul_(0.5)
            shared.copy_(own)


class Schedule:
    """The part of the full rate after each step; steps of all workers count. A number in the file `finish` ends it in that many more steps."""

    def __init__(self, steps, finish):
        self.finish, self.lock = finish, multiprocessing.get_context("fork").Lock()
        # Steps so far, then a line of the rate: the step and the part where it begins, and the step where it is zero.
        self.line = torch.tensor([0.0, 0.0, 1.0, steps], dtype=torch.float64).share_memory_()
        if os.path.exists(finish):
            os.remove(finish)

    def next(self):
        """Counts a step. -> 1 at the start to 0, where the training ends"""
        with self.lock:
            now, begin, height, end = self.line.tolist()
            part = max(0.0, height * (end - now) / (end - begin))
            if now % 20 == 0 and os.path.exists(self.finish):
                self._end_anew(now, part)
            self.line[0] += 1
            return part

    def _end_anew(self, now, part):
        with open(self.finish) as file:
            more = file.read().strip()
        if not more:
            return  # it is being written
        os.remove(self.finish)
        if more.isdecimal() and int(more) > 0:
            self.line[1:] = torch.tensor([now, part, now + int(more)])
        else:
            print(f"{self.finish}: {more!r} is not a number of steps", flush=True)


def train(worker, model, common, shards, options, device, begin, schedule):
    rng = np.random.default_rng(1 + worker)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}], lr=options.rate, betas=(0.9, 0.98))
    model.train()
    saved = time.time()
    history, heard = [], 0.0
    for step, items in enumerate(shards.batches(options.frames, rng), 1):
        fall = schedule.next()
        if fall == 0:
            break
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(1, step / options.warmup) * fall
        for block in model.blocks:
            block.dropout = options.dropout * fall
        batch = collate(items, rng, options.vary)
        loss, ctc, named = losses(model, batch, device, options.phonemes * fall)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
        if common and step % MEET == 0:
            meet(model, common)
        history.append((ctc, named))
        heard += batch[1].sum().item() / 360000
        if step % 50 == 0:
            ctc, named = np.mean(history, 0)
            history = []
            print(f"{worker}: {step} {time.time() - begin:.0f} s: ctc {ctc:.3f} phonemes {named:.3f} norm {norm:.2f} heard {heard:.2f} h rate {options.rate * fall:.1e}", flush=True)
        if worker == 0 and time.time() - saved > 120:
            saved = time.time()
            save(model, options.out)


def save(model, folder):
    torch.save({"model": model.state_dict()}, f"{folder}/last.tmp")
    os.replace(f"{folder}/last.tmp", f"{folder}/last.pt")


if __name__ == "__main__":
    main()
