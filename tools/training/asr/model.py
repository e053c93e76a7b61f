"""A time-delay network: log-mel frames in, scores of CTC units at a sixth of the frames out.

Everything is a matrix product over neighboring frames laid side by side, which plain BLAS, oneDNN and int8 kernels all
do well. The names of the tensors are those of model.safetensors.
"""
import torch
from torch import nn
from torch.nn import functional

CONFIG = {
    "model_type": "nano-ctc", "architectures": ["NanoForCTC"], "n_mels": 48, "stack": [2, 3], "stem_size": 128, "hidden_size": 256,
    "intermediate_size": 256, "dilations": [1, 2, 1, 3, 1, 2, 4, 1, 2, 4, 1, 2], "layer_norm_eps": 1e-5, "vocab_size": 256, "blank_token_id": 0,
    "languages": ["en"], "quiet_margin": 0.4, "language_model": {"file": "lm.bin", "weight": 0.75, "unit_bonus": 3.0},
}


class _Context(torch.autograd.Function):
    """Written by hand: padding, slicing and joining cost more than the products between them."""

    @staticmethod
    def forward(context, x, dilation):
        context.dilation = dilation
        batch, frames, channels = x.shape
        result = x.new_empty(batch, frames, 3 * channels)
        shift = min(dilation, frames)
        result[:, :shift, :channels] = 0
        result[:, shift:, :channels] = x[:, :frames - shift]
        result[:, :, channels:2 * channels] = x
        result[:, :frames - shift, 2 * channels:] = x[:, shift:]
        result[:, frames - shift:, 2 * channels:] = 0
        return result

    @staticmethod
    def backward(context, gradient):
        frames, channels = gradient.shape[1], gradient.shape[2] // 3
        shift = min(context.dilation, frames)
        result = gradient[:, :, channels:2 * channels].clone()
        result[:, :frames - shift] += gradient[:, shift:, :channels]
        result[:, shift:] += gradient[:, :frames - shift, 2 * channels:]
        return result, None


def with_context(x, dilation):
    """[B, T, C] -> [B, T, 3C]: the frame `dilation` before, the frame, the frame `dilation` after; zeros outside."""
    return _Context.apply(x, dilation)


def stacked(x, count):
    """[B, T, C] -> [B, T / count, count C]; T is a multiple of count."""
    batch, frames, channels = x.shape
    return x.reshape(batch, frames // count, count * channels)


class Block(nn.Module):
    """`dropout`: the part of the values between the two products that is left out while training, over a whole utterance."""

    def __init__(self, hidden, intermediate, dilation, eps):
        super().__init__()
        self.dilation, self.dropout = dilation, 0.0
        self.norm = nn.LayerNorm(hidden, eps=eps)
        self.up = nn.Linear(3 * hidden, intermediate)
        self.down = nn.Linear(intermediate, hidden)

    def forward(self, x, mask):
        y = self.norm(x).to(mask.dtype) * mask
        y = functional.relu(self.up(with_context(y, self.dilation)))
        if self.training and self.dropout > 0:
            # One choice for all frames costs next to nothing.
            y = y * functional.dropout(y.new_ones(len(y), 1, y.shape[2]), self.dropout)
        return x + self.down(y)


class NanoCtc(nn.Module):
    """`phonemes`: classes of the training-only head that names espeak's phoneme in each half of a frame; 0 for none."""

    def __init__(self, config, phonemes=0):
        super().__init__()
        first, second = config["stack"]
        stem, hidden, eps = config["stem_size"], config["hidden_size"], config["layer_norm_eps"]
        self.first, self.second, self.phoneme_layer = first, second, len(config["dilations"]) // 2
        self.stem = nn.ModuleList([nn.Linear(3 * first * config["n_mels"], stem), nn.Linear(3 * second * stem, hidden)])
        self.blocks = nn.ModuleList(Block(hidden, config["intermediate_size"], d, eps) for d in config["dilations"])
        self.norm = nn.LayerNorm(hidden, eps=eps)
        self.output = nn.Linear(hidden, config["vocab_size"])
        self.phonemes = nn.Linear(hidden, 2 * phonemes) if phonemes else None
        for block in self.blocks:
            nn.init.zeros_(block.down.bias)
            block.down.weight.data.mul_(0.5)

    def forward(self, features, lengths):
        """features [B, T, mels], T a multiple of 6, zeros behind `lengths` -> scores [B, T/6, units], phoneme scores"""
        step = self.first * self.second
        count = torch.div(lengths + step - 1, step, rounding_mode="floor")
        kind = torch.bfloat16 if torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled() else torch.float32
        mask = (torch.arange(features.shape[1] // step, device=features.device)[None] < count[:, None]).to(kind)[:, :, None]
        x = functional.relu(self.stem[0](with_context(stacked(features, self.first), 1)))
        x = x * mask.repeat_interleave(self.second, dim=1)
        x = functional.relu(self.stem[1](with_context(stacked(x, self.second), 1))).float()
        phonemes = None
        for index, block in enumerate(self.blocks):
            if index == self.phoneme_layer and self.phonemes is not None and self.training:
                phonemes = self.phonemes(x)
            x = block(x, mask)
        return self.output(self.norm(x)), count, phonemes
