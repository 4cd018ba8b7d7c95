# SPDX-License-Identifier: MIT
"""Twelve transformers of one or two layers, each with the mask arithmetic of its kind. Each has the model, a
function that makes a sample of its inputs, and one that returns the valid positions of the output."""
import math

import torch
import torch.nn.functional as F
from torch import nn

LOWEST = torch.finfo(torch.float32).min
SIZE, WIDTH, HEADS, WORDS = 8, 32, 4, 40


def split(x, heads=HEADS):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


class Attention(nn.Module):
    def __init__(self, heads_of_keys=HEADS, bias=True):
        super().__init__()
        self.heads_of_keys = heads_of_keys
        inner = WIDTH // HEADS * heads_of_keys
        self.q, self.out = nn.Linear(WIDTH, WIDTH, bias=bias), nn.Linear(WIDTH, WIDTH, bias=bias)
        self.k, self.v = nn.Linear(WIDTH, inner, bias=bias), nn.Linear(WIDTH, inner, bias=bias)

    def heads(self, x, other=None):
        other = x if other is None else other
        return split(self.q(x)), split(self.k(other), self.heads_of_keys), split(self.v(other), self.heads_of_keys)

    def scores(self, q, k):
        return torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])

    def finish(self, scores, v):
        return self.out(merge(torch.matmul(torch.softmax(scores, -1), v)))


class Block(nn.Module):
    """Attention followed by two linear layers, with the norms before or after."""

    def __init__(self, attention, norm=nn.LayerNorm, act=F.gelu, first=True):
        super().__init__()
        self.attention, self.act, self.first = attention, act, first
        self.norm1, self.norm2 = norm(WIDTH), norm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, *mask):
        if self.first:
            x = x + self.attention(self.norm1(x), *mask)
            return x + self.down(self.act(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, *mask))
        return self.norm2(x + self.down(self.act(self.up(x))))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotated(x):
    positions = torch.arange(x.shape[-2])[:, None] * 0.3 ** torch.arange(x.shape[-1] // 2)[None, :]
    angles = torch.cat([positions, positions], -1)
    half = torch.cat([-x[..., x.shape[-1] // 2:], x[..., : x.shape[-1] // 2]], -1)
    return x * angles.cos() + half * angles.sin()


def repeated(x, n):
    return x[:, :, None].expand(-1, -1, n, -1, -1).reshape(x.shape[0], -1, x.shape[2], x.shape[3])


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(SIZE, WIDTH)

    def forward(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.shape[1]))


class Bert(nn.Module):
    class Attention(Attention):
        def forward(self, x, mask):
            q, k, v = self.heads(x)
            return self.finish(self.scores(q, k) + mask, v)

    def __init__(self):
        super().__init__()
        self.embedded, self.norm = Embedded(), nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Bert.Attention(), first=False) for _ in range(2))

    def forward(self, ids, mask):
        extended = (1.0 - mask[:, None, None, :].to(torch.float32)) * LOWEST
        x = self.norm(self.embedded(ids))
        for block in self.blocks:
            x = block(x, extended)
        return x


class Gpt2(nn.Module):
    class Attention(Attention):
        def __init__(self):
            super().__init__()
            self.register_buffer("causal", torch.ones(SIZE, SIZE, dtype=torch.bool).tril()[None, None])

        def forward(self, x, mask):
            q, k, v = self.heads(x)
            scores = self.scores(q, k)
            lowest = torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype)
            return self.finish(torch.where(self.causal, scores, lowest) + mask, v)

    def __init__(self):
        super().__init__()
        self.embedded, self.norm = Embedded(), nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Gpt2.Attention(), act=lambda x: F.gelu(x, approximate="tanh")) for _ in range(2))

    def forward(self, ids, mask):
        mask = (1.0 - mask.view(1, -1)[:, None, None, :]) * LOWEST
        x = self.embedded(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


def causal_mask(mask):
    future = torch.triu(torch.full((SIZE, SIZE), LOWEST), diagonal=1)[None, None].expand(mask.shape[0], 1, -1, -1).clone()
    padding = (future + mask[:, None, None, :].to(torch.float32)) == 0
    return future.masked_fill(padding, LOWEST)


class Llama(nn.Module):
    class Attention(Attention):
        def __init__(self):
            super().__init__(2, bias=False)

        def forward(self, x, mask):
            q, k, v = self.heads(x)
            q, k = rotated(q), rotated(k)
            k, v = repeated(k, 2), repeated(v, 2)
            return self.finish(self.scores(q, k) + mask, v)

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), RmsNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Llama.Attention(), RmsNorm, F.silu) for _ in range(2))

    def forward(self, ids, mask):
        mask = causal_mask(mask)
        x = self.words(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class Qwen(nn.Module):
    class Attention(Attention):
        def __init__(self):
            super().__init__(2)

        def forward(self, x, mask):
            q, k, v = self.heads(x)
            q, k = rotated(q), rotated(k)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
            return self.out(merge(y))

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), RmsNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Qwen.Attention(), RmsNorm, F.silu) for _ in range(2))

    def forward(self, ids, mask):
        causal = torch.arange(SIZE)[:, None] >= torch.arange(SIZE)[None, :]
        mask = causal[None, None] & mask.to(torch.bool)[:, None, None, :]
        x = self.words(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class Clip(nn.Module):
    class Attention(Attention):
        def forward(self, x, causal, mask):
            q, k, v = self.heads(x)
            return self.finish(self.scores(q, k) + causal + mask, v)

    def __init__(self):
        super().__init__()
        self.embedded, self.norm = Embedded(), nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Clip.Attention(), act=lambda x: x * torch.sigmoid(1.702 * x)) for _ in range(2))

    def forward(self, ids, mask):
        causal = torch.empty(SIZE, SIZE).fill_(LOWEST).triu_(1)[None, None]
        expanded = mask[:, None, None, :].expand(mask.shape[0], 1, SIZE, SIZE).to(torch.float32)
        inverted = 1.0 - expanded
        padding = inverted.masked_fill(inverted.to(torch.bool), LOWEST)
        x = self.embedded(ids)
        for block in self.blocks:
            x = block(x, causal, padding)
        return self.norm(x)


class Gemma(nn.Module):
    class Attention(Attention):
        def __init__(self):
            super().__init__(1, bias=False)

        def forward(self, x, mask):
            q, k, v = self.heads(x)
            q, k = rotated(q), rotated(k)
            k, v = repeated(k, HEADS), repeated(v, HEADS)
            return self.finish(torch.tanh(self.scores(q, k) / 5.0) * 5.0 + mask, v)

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), RmsNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Gemma.Attention(), RmsNorm, F.gelu) for _ in range(2))

    def forward(self, ids, mask):
        causal = torch.arange(SIZE)[:, None] >= torch.arange(SIZE)[None, :]
        allowed = causal[None, None] & mask[:, None, None, :].to(torch.bool)
        mask = torch.where(allowed, torch.tensor(0.0), torch.tensor(LOWEST))
        x = self.words(ids) * WIDTH ** 0.5
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class Whisper(nn.Module):
    """A decoder: causal attention, and attention to an encoder's output."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.own, self.cross = Attention(), Attention()
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))
            self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

        def forward(self, x, audio, mask):
            q, k, v = self.own.heads(self.norm1(x))
            x = x + self.own.finish(self.own.scores(q, k) + mask[:SIZE, :SIZE], v)
            q, k, v = self.cross.heads(self.norm2(x), audio)
            x = x + self.cross.finish(self.cross.scores(q, k), v)
            return x + self.down(F.gelu(self.up(self.norm3(x))))

    def __init__(self):
        super().__init__()
        self.embedded, self.norm = Embedded(), nn.LayerNorm(WIDTH)
        self.register_buffer("mask", torch.empty(2 * SIZE, 2 * SIZE).fill_(-math.inf).triu_(1))
        self.blocks = nn.ModuleList(Whisper.Block() for _ in range(2))

    def forward(self, ids, audio):
        x = self.embedded(ids)
        for block in self.blocks:
            x = block(x, audio, self.mask)
        return self.norm(x)


class T5(nn.Module):
    class Attention(Attention):
        def __init__(self):
            super().__init__(bias=False)

        def scores(self, q, k):
            return torch.matmul(q, k.transpose(3, 2)) / 3.0

        def forward(self, x, bias):
            q, k, v = self.heads(x)
            scores = self.scores(q, k)
            scores += bias
            return self.finish(scores, v)

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), RmsNorm(WIDTH)
        self.table = nn.Embedding(2 * SIZE, HEADS)
        self.blocks = nn.ModuleList(Block(T5.Attention(), RmsNorm, F.relu) for _ in range(2))

    def forward(self, ids, mask):
        distance = torch.arange(SIZE)[None, :] - torch.arange(SIZE)[:, None]
        bucket = torch.where(distance > 0, SIZE, 0) + distance.abs().clamp(max=SIZE - 1)
        bias = self.table(bucket).permute([2, 0, 1]).unsqueeze(0)
        bias = bias + (1.0 - mask[:, None, None, :].to(torch.float32)) * LOWEST
        x = self.words(ids)
        for block in self.blocks:
            x = block(x, bias)
        return self.norm(x)


class Vit(nn.Module):
    class Attention(Attention):
        def forward(self, x):
            q, k, v = self.heads(x)
            return self.out(merge(F.scaled_dot_product_attention(q, k, v)))

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 4, 4)
        self.first = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.5)
        self.places = nn.Parameter(torch.randn(1, 5, WIDTH) * 0.2)
        self.blocks = nn.ModuleList(Block(Vit.Attention()) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class DistilBert(nn.Module):
    class Attention(Attention):
        def forward(self, x, mask):
            q, k, v = self.heads(x)
            scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.transpose(2, 3))
            missing = (mask == 0).view(mask.shape[0], 1, 1, SIZE).expand_as(scores)
            return self.finish(scores.masked_fill(missing, torch.tensor(LOWEST)), v)

    def __init__(self):
        super().__init__()
        self.embedded, self.norm = Embedded(), nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(DistilBert.Attention(), first=False) for _ in range(2))

    def forward(self, ids, mask):
        x = self.norm(self.embedded(ids))
        for block in self.blocks:
            x = block(x, mask)
        return x


class Detr(nn.Module):
    """Queries that attend to the parts of an image that are not padding, through nn.MultiheadAttention."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.own = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.cross = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x, queries, memory, missing):
            asked = x + queries
            x = self.norm1(x + self.own(asked, asked, x, need_weights=False)[0])
            y = self.cross(x + queries, memory, memory, key_padding_mask=missing, need_weights=False)[0]
            return self.norm2(x + y)

    def __init__(self):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, 4, WIDTH))
        self.blocks = nn.ModuleList(Detr.Block() for _ in range(2))

    def forward(self, memory, missing):
        x = torch.zeros_like(self.queries)
        for block in self.blocks:
            x = block(x, self.queries, memory, missing)
        return x


class Deberta(nn.Module):
    """Scores from contents and from relative positions, and a mask of pairs."""

    class Attention(Attention):
        def __init__(self):
            super().__init__()
            self.relative = nn.Parameter(torch.randn(2 * SIZE, WIDTH) * 0.3)

        def forward(self, x, mask):
            q, k, v = self.heads(x)
            scale = math.sqrt(q.shape[-1] * 2)
            scores = torch.matmul(q, k.transpose(-2, -1) / scale)
            places = split(self.k(self.relative)[None])
            distance = torch.arange(SIZE)[:, None] - torch.arange(SIZE)[None, :] + SIZE
            by_place = torch.matmul(q, places.transpose(-2, -1)) / scale
            scores = scores + torch.gather(by_place, -1, distance.expand(q.shape[0], HEADS, -1, -1))
            missing = ~mask.to(torch.bool)
            shares = torch.softmax(scores.masked_fill(missing, LOWEST), -1).masked_fill(missing, 0)
            return self.out(merge(torch.matmul(shares, v)))

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(Deberta.Attention(), first=False) for _ in range(2))

    def forward(self, ids, mask):
        extended = mask.unsqueeze(1).unsqueeze(2)
        pairs = extended * extended.squeeze(-2).unsqueeze(-1)
        x = self.norm(self.words(ids)) * mask.unsqueeze(2).to(torch.float32)
        for block in self.blocks:
            x = block(x, pairs)
        return x


def keys(dtype=torch.int64):
    m = torch.ones(1, SIZE, dtype=dtype)
    m[0, SIZE - int(torch.randint(0, 4, ())):] = 0
    return m


def words():
    return torch.randint(0, WORDS, (1, SIZE))


def valid_keys(inputs):
    return inputs[1][0].to(torch.bool)


def everything(inputs):
    return slice(None)


KINDS = {
    "BERT": (Bert, lambda: (words(), keys()), valid_keys),
    "GPT-2": (Gpt2, lambda: (words(), keys(torch.float32)), valid_keys),
    "Llama": (Llama, lambda: (words(), keys()), valid_keys),
    "Qwen": (Qwen, lambda: (words(), keys()), valid_keys),
    "CLIP": (Clip, lambda: (words(), keys()), valid_keys),
    "Gemma": (Gemma, lambda: (words(), keys()), valid_keys),
    "Whisper": (Whisper, lambda: (words(), torch.randn(1, SIZE, WIDTH)), everything),
    "T5": (T5, lambda: (words(), keys()), valid_keys),
    "ViT": (Vit, lambda: (torch.randn(1, 3, 8, 8),), everything),
    "DistilBERT": (DistilBert, lambda: (words(), keys()), valid_keys),
    "DETR": (Detr, lambda: (torch.randn(1, SIZE, WIDTH), keys() == 0), everything),
    "DeBERTa": (Deberta, lambda: (words(), keys()), valid_keys),
}
