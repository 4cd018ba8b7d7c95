# SPDX-License-Identifier: MIT
"""Attention with every form of mask that models use, as modules of (x, mask…), each with a function that
makes samples of its inputs. FORMS is the list for the comparison and the fixtures."""
import math

import torch
import torch.nn.functional as F
from torch import nn

LOWEST = torch.finfo(torch.float32).min
SIZE, WIDTH, HEADS = 6, 16, 2


class Scores(nn.Module):
    """One layer of attention; each form defines `masked(scores, *inputs)`."""

    def __init__(self, masked, softmax=None):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.masked = masked
        self.softmax = softmax or (lambda scores: torch.softmax(scores, -1))

    def forward(self, x, *inputs):
        q, k, v = (t.view(1, SIZE, HEADS, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(WIDTH // HEADS)
        return torch.matmul(self.softmax(self.masked(scores, *inputs)), v)


class Sdpa(nn.Module):
    def __init__(self, mask_of=None, **options):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mask_of, self.options = mask_of, options

    def forward(self, x, *inputs):
        q, k, v = (t.view(1, SIZE, HEADS, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        mask = self.mask_of(*inputs) if self.mask_of else None
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


class MultiHead(nn.Module):
    def __init__(self, *names):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.names = names

    def forward(self, x, *masks):
        return self.attention(x, x, x, need_weights=False, **dict(zip(self.names, masks)))[0]


class Alibi(Scores):
    """A bias by distance, minus infinity above the diagonal."""

    def __init__(self):
        super().__init__(lambda scores: scores + self.bias)
        distance = torch.arange(SIZE)[None, :] - torch.arange(SIZE)[:, None]
        slopes = torch.tensor([0.5, 0.25]).view(HEADS, 1, 1)
        bias = (slopes * distance).masked_fill(distance > 0, -math.inf)
        self.register_buffer("bias", bias[None])


class Relative(Scores):
    """T5: a learned bias of relative positions, combined with the mask before it is added to the scores."""

    def __init__(self):
        super().__init__(lambda scores, m: scores + (self.bias() + (1.0 - m) * LOWEST))
        self.table = nn.Embedding(2 * SIZE - 1, HEADS)

    def bias(self):
        distance = torch.arange(SIZE)[None, :] - torch.arange(SIZE)[:, None] + SIZE - 1
        return self.table(distance).permute(2, 0, 1)[None]


class Window(Scores):
    """Swin: a bias of relative positions, and a stored mask of 0 and -100 between shifted windows."""

    def __init__(self, lowest):
        super().__init__(lambda scores: scores + self.bias + self.mask)
        self.bias = nn.Parameter(torch.randn(HEADS, SIZE, SIZE) * 0.2)
        region = torch.tensor([0, 0, 0, 0, 1, 1])
        mask = (region[:, None] != region[None, :]).float() * lowest
        self.register_buffer("mask", mask[None, None])


def keys():
    """Returns True for valid keys: the last two or three are not valid."""
    m = torch.ones(SIZE, dtype=torch.bool)
    m[SIZE - int(torch.randint(1, 4, ())):] = False
    return m


def causal():
    return torch.ones(SIZE, SIZE, dtype=torch.bool).tril()


def as_keys(m):
    return m.view(1, 1, 1, SIZE)


def clip_mask(m):
    inverted = 1.0 - as_keys(m).expand(1, 1, SIZE, SIZE).to(torch.float32)
    return inverted.masked_fill(inverted.to(torch.bool), LOWEST)


def clip(scores, m):
    future = torch.full((SIZE, SIZE), LOWEST).triu(1)[None, None]
    return scores + future + clip_mask(m)


def llama_mask(m):
    mask = torch.full((SIZE, SIZE), LOWEST)
    mask = torch.triu(mask, diagonal=1)
    mask = mask * (torch.arange(SIZE) > torch.arange(SIZE).reshape(-1, 1) - 1)
    mask = mask[None, None].expand(1, 1, -1, -1).clone()
    padding = mask[:, :, :, :SIZE] + as_keys(m).to(torch.float32)
    return mask.masked_fill(padding == 0, LOWEST)


def gemma(scores, m):
    scores = torch.tanh(scores / 5.0) * 5.0
    return scores + torch.where(causal() & as_keys(m), 0.0, LOWEST)


def by_hand(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def two_regions(scores, m):
    allowed = torch.cat([torch.zeros(1, 1, SIZE, 2), (1.0 - as_keys(m)[:, :, :, 2:]).expand(1, 1, SIZE, SIZE - 2) * -1e9], -1)
    return scores + allowed


def float_mask(lowest):
    return lambda: [torch.where(keys() & causal(), 0.0, lowest)]


def biased_mask():
    bias = -0.25 * (torch.arange(SIZE)[:, None] - torch.arange(SIZE)[None, :]).abs().float()
    return [torch.where(keys() & causal(), bias, -math.inf)]


def key_mask(dtype):
    return lambda: [keys().to(dtype)]


def where_mask(lowest):
    return lambda: {"model": Scores(lambda s, m: s + torch.where(as_keys(m), 0.0, lowest)),
                    "inputs": key_mask(torch.bool)}


FORMS = {
    "add_where_inf": where_mask(-math.inf),
    "add_where_1e4": where_mask(-1e4),
    "add_where_1e5": where_mask(-1e5),
    "add_where_1e9": where_mask(-1e9),
    "add_where_1e10": where_mask(-1e10),
    "add_where_lowest": where_mask(LOWEST),
    "masked_fill_scores": lambda: {"model": Scores(lambda s, m: s.masked_fill(~as_keys(m), -math.inf)),
                                   "inputs": key_mask(torch.bool)},
    "masked_fill_zeros": lambda: {"model": Scores(lambda s, m: s + torch.zeros(1, 1, 1, SIZE).masked_fill(~as_keys(m), -math.inf)),
                                  "inputs": key_mask(torch.bool)},
    "triu_lowest": lambda: {"model": Scores(lambda s: s + torch.full((SIZE, SIZE), LOWEST).triu(1))},
    "triu_inf": lambda: {"model": Scores(lambda s: s + torch.triu(torch.full((SIZE, SIZE), -math.inf), 1))},
    "bert_float": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m)) * LOWEST), "inputs": key_mask(torch.float32)},
    "bert_float_1e4": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m)) * -10000.0), "inputs": key_mask(torch.float32)},
    "bert_int": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m).to(torch.float32)) * LOWEST), "inputs": key_mask(torch.int64)},
    "bert_bool": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m).to(torch.float32)) * -1e9), "inputs": key_mask(torch.bool)},
    "bert_pairs": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m) * m.view(1, 1, SIZE, 1)) * -1e9), "inputs": key_mask(torch.float32), "queries": True},
    "bert_causal": lambda: {"model": Scores(lambda s, m: s + (1.0 - as_keys(m) * causal().float()) * LOWEST), "inputs": key_mask(torch.float32)},
    "gpt2_old": lambda: {"model": Scores(lambda s, m: s * m - 1e10 * (1.0 - m)), "inputs": lambda: [causal().float()]},
    "gpt2_buffer": lambda: {"model": Scores(lambda s: torch.where(causal(), s, torch.full([], LOWEST)))},
    "opt_max": lambda: {"model": Scores(lambda s, m: torch.max(s + torch.where(causal() & as_keys(m), 0.0, LOWEST), torch.tensor(LOWEST))), "inputs": key_mask(torch.bool)},
    "clamp_min": lambda: {"model": Scores(lambda s, m: torch.clamp(s + torch.where(as_keys(m), 0.0, -math.inf), min=LOWEST)), "inputs": key_mask(torch.bool)},
    "log_mask": lambda: {"model": Scores(lambda s, m: s + torch.log(as_keys(m))), "inputs": key_mask(torch.float32)},
    "minus_big": lambda: {"model": Scores(lambda s, m: s - 1e9 * (1.0 - as_keys(m))), "inputs": key_mask(torch.float32)},
    "scaled_after": lambda: {"model": Scores(lambda s, m: (s * 3 + torch.where(as_keys(m), 0.0, -1e9)) / 3), "inputs": key_mask(torch.bool)},
    "negated": lambda: {"model": Scores(lambda s, m: -(torch.where(as_keys(m), 0.0, 1e9) - s)), "inputs": key_mask(torch.bool)},
    "multiplied": lambda: {"model": Scores(lambda s, m: s + torch.full((SIZE, SIZE), LOWEST) * (~as_keys(m))), "inputs": key_mask(torch.bool)},
    "joined_parts": lambda: {"model": Scores(two_regions), "inputs": key_mask(torch.float32)},
    "padded_mask": lambda: {"model": Scores(lambda s, m: s + F.pad(torch.where(as_keys(m)[..., 1:], 0.0, -1e9), (1, 0))), "inputs": key_mask(torch.bool)},
    "by_hand": lambda: {"model": Scores(lambda s, m: s + torch.where(as_keys(m), 0.0, -1e9), by_hand), "inputs": key_mask(torch.bool)},
    "alibi": lambda: {"model": Alibi()},
    "t5": lambda: {"model": Relative(), "inputs": lambda: [as_keys(keys()).float()]},
    "swin_100": lambda: {"model": Window(-100.0)},
    "swin_inf": lambda: {"model": Window(-1e9)},
    "clip": lambda: {"model": Scores(clip), "inputs": key_mask(torch.int64)},
    "llama": lambda: {"model": Scores(lambda s, m: s + llama_mask(m)), "inputs": key_mask(torch.int64)},
    "qwen_sdpa": lambda: {"model": Sdpa(llama_mask), "inputs": key_mask(torch.int64)},
    "gemma": lambda: {"model": Scores(gemma), "inputs": key_mask(torch.bool)},
    "sdpa_bool": lambda: {"model": Sdpa(lambda m: as_keys(m)), "inputs": key_mask(torch.bool)},
    "sdpa_float": lambda: {"model": Sdpa(lambda m: torch.where(as_keys(m), 0.0, -math.inf)), "inputs": key_mask(torch.bool)},
    "sdpa_causal": lambda: {"model": Sdpa(is_causal=True)},
    "mha_keys": lambda: {"model": MultiHead("key_padding_mask"), "inputs": lambda: [~keys()[None]]},
    "mha_attention": lambda: {"model": MultiHead("attn_mask"), "inputs": lambda: [~causal()]},
    "mha_both": lambda: {"model": MultiHead("key_padding_mask", "attn_mask"), "inputs": lambda: [~keys()[None], ~causal()]},
    "mha_float": lambda: {"model": MultiHead("key_padding_mask"), "inputs": lambda: [torch.where(keys()[None], 0.0, -math.inf)]},
    "input_inf": lambda: {"model": Scores(lambda s, m: s + m), "inputs": float_mask(-math.inf)},
    "input_lowest": lambda: {"model": Scores(lambda s, m: s + m), "inputs": float_mask(LOWEST)},
    "input_1e9_sdpa": lambda: {"model": Sdpa(lambda m: m), "inputs": float_mask(-1e9)},
    "input_bias": lambda: {"model": Scores(lambda s, m: s + m), "inputs": biased_mask},
}


def samples_of(form, count):
    """Returns that many tuples of inputs."""
    inputs = form.get("inputs", list)
    return [(torch.randn(1, SIZE, WIDTH), *inputs()) for _ in range(count)]
