#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports some 400 calls of torch, torch.nn.functional and torch.nn in eval mode, each as torch.export leaves
it and after run_decompositions(), lowers both to TOSA and to .pte, runs the lowered ones, and compares with
PyTorch.

    torch_functions.py PROGRAM DIRECTORY [--only PART] [--jobs N] [--all]

Needs a Python with torch; DIRECTORY keeps the exports for the next run. Prints each call that can be lowered
after decompositions but not as exported, each wrong result, and each refusal with its reason; --all prints
the others, too. The exit status is 1 if there are any of the first two kinds.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import warnings

CALLS = []


def call(name, function, *inputs, random=False):
    """A case that calls `function` with tensors; an input is a shape of floats, or a function that makes a
    tensor."""
    CALLS.append((name, function, inputs, random))


def integers(*shape, high=5):
    return lambda torch: torch.randint(0, high, shape)


def flags(*shape):
    return lambda torch: torch.randint(0, 2, shape).bool()


def positive(*shape):
    return lambda torch: torch.rand(*shape) + 0.1


def fractions(*shape):
    return lambda torch: torch.rand(*shape) * 0.8 + 0.1


def signs(*shape):
    return lambda torch: torch.randint(0, 2, shape) * 2.0 - 1


def sorted_numbers(*shape):
    return lambda torch: torch.sort(torch.randn(*shape)).values


def list_calls():
    import torch
    import torch.nn.functional as F
    from torch import nn

    # Elementwise.
    for name in ("abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv "
                 "exp exp2 expm1 floor frac i0 isfinite isinf isnan isneginf isposinf isreal lgamma log log10 "
                 "log1p log2 logit nan_to_num neg positive rad2deg real reciprocal relu round rsqrt sgn sigmoid "
                 "sign signbit sin sinc sinh sqrt square tan tanh trunc fix absolute negative conj "
                 "resolve_conj resolve_neg clone detach ravel numel is_nonzero").split():
        if name in ("numel", "is_nonzero"):
            continue
        call(name, getattr(torch, name), fractions(3, 4))
    for name in ("entr erf erfc erfcx erfinv exp2 expit expm1 i0 i0e i1 i1e log1p log_ndtr logit ndtr ndtri "
                 "bessel_j0 bessel_j1 gammaln psi round sinc log_softmax softmax").split():
        function = getattr(torch.special, name)
        if name in ("log_softmax", "softmax"):
            call("special." + name, lambda x, f=function: f(x, 1), fractions(3, 4))
        else:
            call("special." + name, function, fractions(3, 4))
    for name in ("add sub mul div true_divide floor_divide fmod remainder maximum minimum fmax fmin atan2 "
                 "arctan2 copysign hypot logaddexp logaddexp2 xlogy pow float_power eq ne lt le gt ge greater "
                 "less_equal not_equal isclose rsub nextafter heaviside ldexp divide multiply subtract").split():
        call(name, getattr(torch, name), positive(3, 4), positive(3, 4))
    call("special.xlog1py", torch.special.xlog1py, positive(3, 4), positive(3, 4))
    call("special.zeta", torch.special.zeta, lambda t: t.rand(3) + 2, positive(3))
    for name in "bitwise_and bitwise_or bitwise_xor bitwise_left_shift gcd lcm".split():
        call(name, getattr(torch, name), integers(3, 4), integers(3, 4))
    for name in "logical_and logical_or logical_xor".split():
        call(name, getattr(torch, name), flags(3, 4), flags(3, 4))
    call("float_power.number", lambda x: torch.float_power(x, 1.5), positive(3, 4))
    call("float_power.integers", lambda x: torch.float_power(x, 3), integers(3, 4))
    call("float_power.base", lambda x: torch.float_power(2, x), (3, 4))
    call("logical_not", torch.logical_not, flags(3, 4))
    call("bitwise_not", torch.bitwise_not, integers(3, 4))
    call("add.alpha", lambda x, y: torch.add(x, y, alpha=2), (3, 4), (3, 4))
    call("div.floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), (3, 4), positive(3, 4))
    call("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (3, 4), (3, 4), (3, 4))
    call("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), (3, 4), (3, 4), positive(3, 4))
    call("lerp", lambda x, y: torch.lerp(x, y, 0.3), (3, 4), (3, 4))
    call("clamp", lambda x: torch.clamp(x, -0.5, 0.5), (3, 4))
    call("clip", lambda x: torch.clip(x, min=0), (3, 4))
    call("where", lambda c, x, y: torch.where(c, x, y), flags(3, 4), (3, 4), (3, 4))
    call("polygamma", lambda x: torch.polygamma(1, x), positive(3, 4))
    call("mvlgamma", lambda x: torch.mvlgamma(x, 2), lambda t: t.rand(3, 4) + 2)
    call("isclose.tolerances", lambda x, y: torch.isclose(x, y, rtol=0.5, atol=0.1), (3, 4), (3, 4))
    call("isclose.equal_nan", lambda x, y: torch.isclose(x / 0, y / 0, equal_nan=True), (3, 4), (3, 4))
    call("isclose.integers", torch.isclose, integers(3, 4), integers(3, 4))
    call("allclose", lambda x, y: torch.isclose(x, y).all(), (3, 4), (3, 4))

    # Reductions.
    for name in ("sum mean std var max min amax amin argmax argmin prod all any median nanmean nansum "
                 "nanmedian count_nonzero std_mean var_mean aminmax logsumexp norm").split():
        function = getattr(torch, name)
        if name == "logsumexp":
            call(name, lambda x: torch.logsumexp(x, 1), (3, 4))
        else:
            call(name, function, (3, 4))
            if name == "aminmax":
                call(name + ".dim", lambda x, f=function: f(x, dim=1), (3, 4))
            else:
                call(name + ".dim", lambda x, f=function: f(x, dim=-1), (3, 5))
    for name in "median nanmedian mode max min".split():
        call(name + ".keepdim", lambda x, f=getattr(torch, name): f(x, 0, True), (6, 4))
    call("median.integers", lambda x: torch.median(x, 1), integers(3, 5))
    call("median.nan", lambda x: torch.median(torch.where(x > 1, float("nan"), x), 1), (6, 5))
    call("nanmedian.nan", lambda x: torch.nanmedian(torch.where(x > 0.8, float("nan"), x), 1), (6, 5))
    call("nanmean.nan", lambda x: torch.nanmean(torch.where(x > 0, x, float("nan")), 1, keepdim=True), (6, 5))
    call("count_nonzero.integers", lambda x: torch.count_nonzero(x, (0, 1)), integers(3, 4, high=2))
    call("count_nonzero.flags", torch.count_nonzero, flags(3, 4))
    call("sum.dims", lambda x: x.sum((0, 2), keepdim=True), (2, 3, 4))
    call("quantile", lambda x: torch.quantile(x, 0.3, dim=1), (3, 5))
    call("nanquantile", lambda x: torch.nanquantile(x, 0.3, dim=1), (3, 5))
    for mode in ("lower", "higher", "midpoint", "nearest"):
        call(f"quantile.{mode}", lambda x, m=mode: torch.quantile(x, 0.7, interpolation=m), (3, 5))
        call(f"nanquantile.{mode}", lambda x, m=mode: torch.nanquantile(
            torch.where(x > 0.5, float("nan"), x), 0.7, dim=0, interpolation=m), (6, 5))
    call("quantile.tensor", lambda x: torch.quantile(x, torch.tensor([0.1, 0.9]), dim=1, keepdim=True), (3, 5))
    call("quantile.input", lambda x, q: torch.quantile(x, q, dim=0), (6, 5), fractions(3))
    call("nanquantile.tensor", lambda x: torch.nanquantile(
        torch.where(x > 0.5, float("nan"), x), torch.tensor([0.1, 0.9]), dim=1), (3, 5))
    call("kthvalue", lambda x: torch.kthvalue(x, 2), (3, 5))
    call("kthvalue.dim", lambda x: torch.kthvalue(x, 3, 0, True), (4, 5))
    call("kthvalue.integers", lambda x: torch.kthvalue(x, 3, 0).values, integers(4, 5))
    call("topk", lambda x: torch.topk(x, 2), (3, 5))
    call("sort", torch.sort, (3, 5))
    call("argsort", torch.argsort, (3, 5))
    call("msort", torch.msort, (3, 5))
    for name in "cumsum cumprod cummax cummin logcumsumexp".split():
        call(name, lambda x, f=getattr(torch, name): f(x, 1), (3, 5))
        call(name + ".first", lambda x, f=getattr(torch, name): f(x, 0), (4, 3, 2))
    call("cummax.integers", lambda x: torch.cummax(x, 1), integers(3, 5))
    call("cummin.nan", lambda x: torch.cummin(torch.where(x > 0.5, float("nan"), x), 1), (3, 6))
    call("cumulative_trapezoid", torch.cumulative_trapezoid, (3, 5))
    call("trapezoid", torch.trapezoid, (3, 5))
    call("trapezoid.x", torch.trapezoid, (3, 5), (3, 5))
    call("diff", torch.diff, (3, 5))
    call("gradient", lambda x: torch.gradient(x, dim=1), (3, 5))
    call("gradient.all", lambda x: torch.gradient(x, spacing=2), (3, 5))
    call("gradient.edges", lambda x: torch.gradient(x, spacing=0.5, dim=(0, 1), edge_order=2), (3, 5))
    call("gradient.dims", lambda x: torch.gradient(x, dim=(0, 1)), (3, 5))
    call("gradient.numbers", lambda x: torch.gradient(x, spacing=[2.0, 0.5]), (3, 5))
    call("gradient.number", lambda x: torch.gradient(x, spacing=[2.0], dim=[1]), (3, 5))
    call("gradient.coordinates", lambda x, y: torch.gradient(x, spacing=(y,), dim=1, edge_order=2), (3, 5),
         sorted_numbers(5))
    call("gradient.two", lambda x, y: torch.gradient(x, spacing=(y, y), dim=(1, 0)), (5, 5), sorted_numbers(5))
    call("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), (3, 5))
    call("renorm.1", lambda x: torch.renorm(x, 1, 2, 0.5), (3, 2, 4))
    call("dist", lambda x, y: torch.dist(x, y, 2), (3, 4), (3, 4))
    call("dist.1", lambda x, y: torch.dist(x, y, 1), (3, 4), (3, 4))
    call("cov", torch.cov, (3, 5))
    call("corrcoef", torch.corrcoef, (3, 5))
    call("histc", lambda x: torch.histc(x, 4, 0, 1), fractions(12))
    call("bincount", lambda x: torch.bincount(x, minlength=5), integers(6))

    # Products of matrices.
    for name, left, right in (("matmul", (3, 4), (4, 5)), ("mm", (3, 4), (4, 5)), ("bmm", (2, 3, 4), (2, 4, 5)),
                              ("mv", (3, 4), (4,)), ("dot", (4,), (4,)), ("vdot", (4,), (4,)),
                              ("inner", (3, 4), (5, 4)), ("outer", (3,), (4,)), ("ger", (3,), (4,)),
                              ("kron", (2, 3), (3, 2))):
        call(name, getattr(torch, name), left, right)
    call("inner.vectors", torch.inner, (4,), (4,))
    call("inner.batches", torch.inner, (2, 3, 4), (5, 4))
    call("inner.number", torch.inner, (3, 4), ())
    call("kron.ranks", torch.kron, (2,), (2, 3))
    call("tensordot", lambda x, y: torch.tensordot(x, y, 1), (3, 4), (4, 5))
    call("tensordot.dims", lambda x, y: torch.tensordot(x, y, ([0, 2], [2, 0])), (3, 2, 4), (4, 5, 3))
    call("tensordot.none", lambda x, y: torch.tensordot(x, y, 0), (3, 2), (4,))
    call("einsum", lambda x, y: torch.einsum("bij,bjk->bik", x, y), (2, 3, 4), (2, 4, 5))
    call("einsum.diagonal", lambda x: torch.einsum("bii->bi", x), (2, 3, 3))
    call("einsum.trace", lambda x: torch.einsum("ii", x), (3, 3))
    call("einsum.diagonals", lambda x, y: torch.einsum("iij,jkk->ik", x, y), (3, 3, 4), (4, 2, 2))
    call("einsum.three", lambda x: torch.einsum("iii->i", x), (3, 3, 3))
    call("einsum.ellipsis", lambda x: torch.einsum("...ii->...i", x), (2, 2, 3, 3))
    call("addmm", lambda a, x, y: torch.addmm(a, x, y, beta=0.5, alpha=2), (3, 5), (3, 4), (4, 5))
    call("addmv", torch.addmv, (3,), (3, 4), (4,))
    call("addr", torch.addr, (3, 4), (3,), (4,))
    call("addbmm", torch.addbmm, (3, 5), (2, 3, 4), (2, 4, 5))
    call("baddbmm", torch.baddbmm, (2, 3, 5), (2, 3, 4), (2, 4, 5))
    call("chain_matmul", torch.chain_matmul, (3, 4), (4, 5), (5, 2))
    call("linalg.multi_dot", lambda *x: torch.linalg.multi_dot(x), (3, 4), (4, 5), (5, 2))
    call("linalg.matrix_power", lambda x: torch.linalg.matrix_power(x, 3), (3, 3))
    call("linalg.vecdot", torch.linalg.vecdot, (3, 4), (3, 4))
    call("linalg.norm", torch.linalg.norm, (3, 4))
    call("linalg.vector_norm", lambda x: torch.linalg.vector_norm(x, 1, dim=1), (3, 4))
    call("linalg.matrix_norm", torch.linalg.matrix_norm, (3, 4))
    call("linalg.cross", torch.linalg.cross, (4, 3), (4, 3))
    call("linalg.cross.dim", lambda x, y: torch.linalg.cross(x, y, dim=0), (3, 4), (3, 1))
    call("linalg.diagonal", torch.linalg.diagonal, (2, 3, 3))
    call("linalg.matmul", torch.linalg.matmul, (2, 3, 4), (4, 2))
    call("linalg.vander", torch.linalg.vander, (4,))
    call("linalg.vander.rows", lambda x: torch.linalg.vander(x, N=5), (2, 3))
    call("linalg.det", torch.linalg.det, (3, 3))
    call("linalg.inv", torch.linalg.inv, (3, 3))
    call("linalg.solve", torch.linalg.solve, (3, 3), (3, 2))
    call("linalg.qr", torch.linalg.qr, (3, 3))
    call("linalg.svd", torch.linalg.svd, (3, 3))
    call("linalg.cholesky", lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)), (3, 3))
    call("linalg.eigh", lambda x: torch.linalg.eigh(x + x.T), (3, 3))
    call("matrix_exp", torch.matrix_exp, (3, 3))
    call("cross", lambda x, y: torch.cross(x, y, dim=1), (4, 3), (4, 3))
    call("trace", torch.trace, (3, 4))
    call("trace.integers", torch.trace, integers(4, 3))
    call("cdist", torch.cdist, (3, 4), (5, 4))
    call("cdist.batch", torch.cdist, (2, 3, 4), (2, 5, 4))
    call("cdist.1", lambda x, y: torch.cdist(x, y, p=1.0), (3, 4), (5, 4))
    call("cdist.inf", lambda x, y: torch.cdist(x, y, p=float("inf")), (3, 4), (5, 4))
    call("cdist.0", lambda x, y: torch.cdist(x, y, p=0.0), (3, 4), (5, 4))
    call("cdist.3", lambda x, y: torch.cdist(x, y, p=3.0), (3, 4), (5, 4))
    call("cdist.broadcast", torch.cdist, (2, 1, 3, 4), (3, 5, 4))
    call("cdist.large", torch.cdist, (30, 4), (30, 4))
    call("cdist.mode", lambda x, y: torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"), (30, 4), (5, 4))
    call("pdist", F.pdist, (4, 3))
    call("cosine_similarity", F.cosine_similarity, (3, 4), (3, 4))
    call("pairwise_distance", F.pairwise_distance, (3, 4), (3, 4))
    call("pairwise_distance.1", lambda x, y: F.pairwise_distance(x, y, 1.0, 1e-3, True), (3, 4), (4,))

    # Shapes and selections.
    call("diag", torch.diag, (3, 4))
    call("diag.vector", torch.diag, (3,))
    call("diag.offset", lambda x: torch.diag(x, 1), (3, 4))
    call("diag.vector.offset", lambda x: torch.diag(x, -2), (3,))
    call("diag_embed", torch.diag_embed, (2, 3))
    call("diag_embed.dims", lambda x: torch.diag_embed(x, 1, 0, 2), (2, 3))
    call("diag_embed.negative", lambda x: torch.diag_embed(x, -1, -1, 0), integers(2, 3))
    call("diagflat", torch.diagflat, (2, 3))
    call("diagonal", lambda x: torch.diagonal(x, 1), (3, 4))
    call("diagonal_scatter", torch.diagonal_scatter, (3, 3), (3,))
    call("block_diag", torch.block_diag, (2, 3), (1, 2), (3, 1))
    call("block_diag.vector", torch.block_diag, (2, 3), (2,), ())
    call("cartesian_prod", torch.cartesian_prod, (2,), (3,))
    call("combinations", torch.combinations, (4,))
    call("atleast_1d", torch.atleast_1d, ())
    call("atleast_2d", torch.atleast_2d, (3,))
    call("atleast_3d", torch.atleast_3d, (3, 4))
    call("atleast_3d.vector", torch.atleast_3d, (3,))
    for name in "hstack vstack dstack column_stack stack cat concat row_stack".split():
        call(name, lambda x, y, f=getattr(torch, name): f((x, y)), (3, 4), (3, 4))
    for name in "hsplit vsplit dsplit".split():
        call(name, lambda x, f=getattr(torch, name): f(x, 2), (2, 4, 6))
    call("split", lambda x: torch.split(x, 2, 1), (3, 5))
    call("chunk", lambda x: torch.chunk(x, 2, 1), (3, 5))
    call("tensor_split", lambda x: torch.tensor_split(x, 2, 1), (3, 5))
    call("unbind", torch.unbind, (3, 5))
    call("flip", lambda x: torch.flip(x, (0,)), (3, 4))
    call("fliplr", torch.fliplr, (3, 4))
    call("flipud", torch.flipud, (3, 4))
    call("roll", lambda x: torch.roll(x, 1, 0), (3, 4))
    call("rot90", torch.rot90, (3, 4))
    call("tile", lambda x: torch.tile(x, (2, 2)), (3, 4))
    call("repeat_interleave", lambda x: torch.repeat_interleave(x, 2, 1), (3, 4))
    call("repeat_interleave.tensor", lambda x: torch.repeat_interleave(x, torch.tensor([1, 2, 1]), 0, output_size=4), (3, 4))
    call("expand", lambda x: x.expand(2, 3, 4), (3, 4))
    call("expand_as", lambda x, y: x.expand_as(y), (4,), (3, 4))
    call("broadcast_to", lambda x: torch.broadcast_to(x, (2, 3, 4)), (3, 4))
    call("broadcast_tensors", torch.broadcast_tensors, (3, 1), (1, 4))
    call("movedim", lambda x: torch.movedim(x, 0, 1), (3, 4, 5))
    call("moveaxis", lambda x: torch.moveaxis(x, 0, 1), (3, 4, 5))
    call("swapaxes", lambda x: torch.swapaxes(x, 0, 1), (3, 4, 5))
    call("swapdims", lambda x: torch.swapdims(x, 0, 1), (3, 4, 5))
    call("adjoint", torch.adjoint, (3, 4))
    call("mH", lambda x: x.mH, (3, 4))
    call("H", lambda x: x.H, (3, 4))
    call("permute", lambda x: torch.permute(x, (1, 0)), (3, 4))
    call("t", torch.t, (3, 4))
    call("squeeze", torch.squeeze, (3, 1, 4))
    call("unsqueeze", lambda x: torch.unsqueeze(x, 1), (3, 4))
    call("flatten", torch.flatten, (3, 4))
    call("unflatten", lambda x: torch.unflatten(x, 1, (2, 2)), (3, 4))
    call("view_as", lambda x, y: x.view_as(y), (3, 4), (4, 3))
    call("narrow", lambda x: torch.narrow(x, 1, 1, 2), (3, 4))
    call("select", lambda x: torch.select(x, 1, 1), (3, 4))
    call("select_scatter", lambda x, y: torch.select_scatter(x, y, 0, 1), (3, 4), (4,))
    call("slice_scatter", lambda x, y: torch.slice_scatter(x, y, 0, 1, 3), (3, 4), (2, 4))
    call("as_strided", lambda x: torch.as_strided(x, (2, 2), (1, 2)), (3, 4))
    call("unfold", lambda x: x.unfold(1, 2, 1), (3, 4))
    call("tril", torch.tril, (3, 4))
    call("triu", torch.triu, (3, 4))
    call("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), (3,), (4,))
    call("meshgrid.xy", lambda x, y: torch.meshgrid(x, y, indexing="xy"), (3,), (4,))
    call("vander", torch.vander, (4,))
    call("vander.increasing", lambda x: torch.vander(x, 3, increasing=True), integers(4))
    call("gather", lambda x, i: torch.gather(x, 1, i), (3, 5), integers(3, 4, high=5))
    call("take", torch.take, (3, 4), integers(2, 3, high=12))
    call("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), (3, 5), integers(3, 4))
    call("take_along_dim.broadcast", lambda x, i: torch.take_along_dim(x, i, 1), (3, 5), integers(1, 4))
    call("take_along_dim.flat", torch.take_along_dim, (3, 5), integers(4, high=15))
    call("index_select", lambda x, i: torch.index_select(x, 1, i), (3, 5), integers(4, high=5))
    call("index_add", lambda x, i, y: torch.index_add(x, 0, i, y), (5, 3), integers(2), (2, 3))
    call("index_copy", lambda x, y: torch.index_copy(x, 0, torch.tensor([2, 0]), y), (5, 3), (2, 3))
    call("index_fill", lambda x: torch.index_fill(x, 0, torch.tensor([2, 0]), 1.5), (5, 3))
    call("index_put", lambda x, y: torch.index_put(x, (torch.tensor([2, 0]),), y), (5, 3), (2, 3))
    call("index_reduce", lambda x, y: torch.index_reduce(x, 0, torch.tensor([2, 0]), y, "amax"), (5, 3), (2, 3))
    for reduce in "sum prod mean amax amin".split():
        call("scatter_reduce." + reduce, lambda x, i, y, r=reduce: torch.scatter_reduce(x, 0, i, y, r),
             (4,), integers(6, high=4), (6,))
        call("scatter_reduce.exclusive." + reduce,
             lambda x, i, y, r=reduce: torch.scatter_reduce(x, 1, i, y, r, include_self=False),
             (3, 4), integers(3, 5, high=4), (3, 5))
    call("scatter_reduce.integers", lambda x, i, y: torch.scatter_reduce(x, 0, i, y, "amax"),
         integers(4), integers(6, high=4), integers(6, high=9))
    call("scatter_reduce.narrow", lambda x, i, y: torch.scatter_reduce(x, 0, i, y, "amin"),
         (4, 5), integers(2, 3, high=4), (3, 3))
    call("scatter", lambda x, y: torch.scatter(x, 1, torch.tensor([[1], [0], [2]]), y), (3, 4), (3, 1))
    call("scatter.add", lambda x, i, y: torch.scatter(x, 1, i, y, reduce="add"), (3, 4), integers(3, 2, high=4), (3, 2))
    call("scatter_add", lambda x, i, y: torch.scatter_add(x, 1, i, y), (3, 4), integers(3, 2, high=4), (3, 2))
    call("masked_fill", lambda x, m: torch.masked_fill(x, m, 1.0), (3, 4), flags(3, 4))
    call("masked_scatter", torch.masked_scatter, (3, 4), flags(3, 4), (3, 4))
    call("masked_scatter.broadcast", torch.masked_scatter, (3, 4), flags(4), (12,))
    call("masked_select", torch.masked_select, (3, 4), flags(3, 4))
    call("nonzero", torch.nonzero, (3, 4))
    call("argwhere", torch.argwhere, (3, 4))
    call("unique", torch.unique, integers(6))
    call("isin", torch.isin, integers(3, 4), integers(3))
    call("isin.invert", lambda x, y: torch.isin(x, y, invert=True), integers(3, 4), integers(2, 2))
    call("isin.scalar", lambda x: torch.isin(x, 2), integers(3, 4))
    call("isin.element", lambda x: torch.isin(2, x), integers(3, 4))
    call("isin.floats", torch.isin, lambda t: t.tensor([1.0, 2.5, 3.0]), lambda t: t.tensor([2.5, 1.0]))
    call("bucketize", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), (3, 4))
    call("bucketize.right", lambda x, b: torch.bucketize(x, b, right=True), integers(3, 4),
         lambda t: t.tensor([1, 2, 4]))
    call("bucketize.int32", lambda x, b: torch.bucketize(x, b, out_int32=True), (3, 4), sorted_numbers(5))
    call("searchsorted", lambda x, v: torch.searchsorted(x, v), sorted_numbers(5), (3, 4))
    call("searchsorted.batch", lambda x, v: torch.searchsorted(x, v, right=True), sorted_numbers(3, 5), (3, 2))
    call("searchsorted.side", lambda x, v: torch.searchsorted(x, v, side="right"), sorted_numbers(5), (3,))
    call("searchsorted.scalar", lambda x: torch.searchsorted(x, 0.3), sorted_numbers(5))
    call("one_hot", lambda x: F.one_hot(x, 5), integers(3))

    # Creation.
    call("arange", lambda x: x + torch.arange(4), (3, 4))
    call("eye", lambda x: x + torch.eye(4), (4, 4))
    call("eye.large", lambda x: x @ torch.eye(256), (1, 256))
    call("eye.larger", lambda x: x @ torch.eye(300, 257), (1, 300))
    call("linspace", lambda x: x + torch.linspace(0, 1, 4), (3, 4))
    call("logspace", lambda x: x + torch.logspace(0, 1, 4), (3, 4))
    call("tril_indices", lambda x: x + torch.tril_indices(3, 3)[0].sum(), (3, 4))
    for name in "hann hamming blackman bartlett kaiser".split():
        function = getattr(torch, name + "_window")
        call(name + "_window", lambda x, f=function: x * f(8), (3, 8))
        call(name + "_window.symmetric", lambda x, f=function: x * f(7, False), (3, 7))
    call("hamming_window.alpha", lambda x: x * torch.hamming_window(8, True, 0.5, 0.4), (3, 8))
    call("kaiser_window.beta", lambda x: x * torch.kaiser_window(8, True, 5.0), (3, 8))
    call("full", lambda x: x + torch.full((4,), 2.0), (3, 4))
    call("full_like", lambda x: x + torch.full_like(x, 2.0), (3, 4))
    call("ones_like", lambda x: x + torch.ones_like(x), (3, 4))
    call("empty_like", lambda x: x + torch.empty_like(x).fill_(1), (3, 4))
    call("randn", lambda x: x + torch.randn(3, 4), (3, 4), random=True)
    call("randn_like", lambda x: x + torch.randn_like(x), (3, 4), random=True)
    call("rand", lambda x: x + torch.rand(3, 4), (3, 4), random=True)
    call("rand_like", lambda x: x + torch.rand_like(x), (3, 4), random=True)
    call("randint", lambda x: x + torch.randint(0, 5, (3, 4)), (3, 4), random=True)
    call("bernoulli", torch.bernoulli, fractions(3, 4), random=True)
    call("bernoulli.p", lambda x: x + torch.bernoulli(x, 0.3), (3, 4), random=True)
    call("multinomial", lambda x: torch.multinomial(x, 2), positive(3, 4), random=True)
    call("normal", lambda x: torch.normal(x, 1.0), (3, 4), random=True)

    # torch.nn.functional.
    for name in ("celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 "
                 "rrelu selu sigmoid silu softplus softshrink softsign tanh tanhshrink").split():
        call("F." + name, getattr(F, name), (3, 4))
    call("F.gelu.tanh", lambda x: F.gelu(x, approximate="tanh"), (3, 4))
    call("F.glu", F.glu, (3, 4))
    call("F.threshold", lambda x: F.threshold(x, 0.1, 2.0), (3, 4))
    call("F.prelu", F.prelu, (3, 4), (1,))
    for name in "softmax log_softmax softmin".split():
        call("F." + name, lambda x, f=getattr(F, name): f(x, dim=1), (3, 4))
    call("F.gumbel_softmax", F.gumbel_softmax, (3, 4), random=True)
    call("F.normalize", F.normalize, (3, 4))
    call("F.linear", F.linear, (3, 4), (5, 4))
    call("F.bilinear", F.bilinear, (3, 4), (3, 5), (2, 4, 5))
    call("F.bilinear.bias", F.bilinear, (2, 3, 4), (2, 3, 5), (2, 4, 5), (2,))
    call("F.embedding", lambda i, w: F.embedding(i, w), integers(3, 2), (5, 4))
    for mode in "mean sum max".split():
        call("F.embedding_bag." + mode, lambda i, w, m=mode: F.embedding_bag(i, w, mode=m), integers(2, 3), (5, 4))
    call("F.embedding_bag.offsets", lambda i, w: F.embedding_bag(i, w, torch.tensor([0, 2])), integers(5), (5, 4))
    call("F.embedding_bag.empty", lambda i, w: F.embedding_bag(i, w, torch.tensor([0, 2, 2])), integers(5), (5, 4))
    call("F.embedding_bag.weights", lambda i, w, p: F.embedding_bag(i, w, per_sample_weights=p, mode="sum"),
         integers(2, 3), (5, 4), (2, 3))
    for n, image in ((1, (2, 4, 9)), (2, (2, 4, 9, 9)), (3, (1, 4, 5, 5, 5))):
        call(f"F.conv{n}d", getattr(F, f"conv{n}d"), image, (3, 4) + (3,) * n)
        call(f"F.conv_transpose{n}d", getattr(F, f"conv_transpose{n}d"), image, (4, 3) + (3,) * n)
        call(f"F.max_pool{n}d", lambda x, f=getattr(F, f"max_pool{n}d"): f(x, 2), image)
        call(f"F.avg_pool{n}d", lambda x, f=getattr(F, f"avg_pool{n}d"): f(x, 2), image)
        call(f"F.adaptive_avg_pool{n}d", lambda x, f=getattr(F, f"adaptive_avg_pool{n}d"): f(x, 3), image)
        call(f"F.adaptive_max_pool{n}d", lambda x, f=getattr(F, f"adaptive_max_pool{n}d"): f(x, 3), image)
        if n < 3:
            call(f"F.lp_pool{n}d", lambda x, f=getattr(F, f"lp_pool{n}d"): f(x, 2.0, 2), image)
        call(f"Dropout{n}d", getattr(nn, f"Dropout{n}d")(), image)
        call(f"ZeroPad{n}d", getattr(nn, f"ZeroPad{n}d")(1), image)
        call(f"CircularPad{n}d", getattr(nn, f"CircularPad{n}d")(1), image)
        call(f"ReflectionPad{n}d", getattr(nn, f"ReflectionPad{n}d")(1), image)
        call(f"ReplicationPad{n}d", getattr(nn, f"ReplicationPad{n}d")(1), image)
        call(f"BatchNorm{n}d", getattr(nn, f"BatchNorm{n}d")(4), image)
        call(f"InstanceNorm{n}d", getattr(nn, f"InstanceNorm{n}d")(4), image)
        call(f"MaxUnpool{n}d", lambda x, n=n: getattr(F, f"max_unpool{n}d")(
            *getattr(F, f"max_pool{n}d")(x, 2, return_indices=True), 2), image)
        call(f"interpolate.nearest.{n}", lambda x: F.interpolate(x, scale_factor=2), image)
        call(f"interpolate.exact.{n}", lambda x: F.interpolate(x, scale_factor=2, mode="nearest-exact"), image)
        call(f"interpolate.exact.{n}.size", lambda x, n=n: F.interpolate(x, (3, 5, 7)[:n], mode="nearest-exact"),
             image)
    call("Dropout", nn.Dropout(), (3, 4))
    call("AlphaDropout", nn.AlphaDropout(), (3, 4))
    call("FeatureAlphaDropout", nn.FeatureAlphaDropout(), (2, 3, 4))
    call("F.dropout", lambda x: F.dropout(x, training=False), (3, 4))
    call("F.alpha_dropout", lambda x: F.alpha_dropout(x, training=False), (3, 4))
    call("F.feature_alpha_dropout", lambda x: F.feature_alpha_dropout(x, training=False), (3, 4))
    call("F.dropout.inplace", nn.Dropout2d(inplace=True), (2, 3, 4, 4))
    call("F.layer_norm", lambda x: F.layer_norm(x, (4,)), (3, 4))
    call("F.group_norm", lambda x: F.group_norm(x, 2), (2, 4, 5))
    call("F.rms_norm", lambda x: F.rms_norm(x, (4,)), (3, 4))
    call("F.local_response_norm", lambda x: F.local_response_norm(x, 2), (2, 4, 5, 5))
    call("F.pad", lambda x: F.pad(x, (1, 2)), (3, 4))
    call("F.unfold", lambda x: F.unfold(x, 2), (1, 3, 4, 4))
    call("F.fold", lambda x: F.fold(x, (4, 4), 2), (1, 12, 9))
    call("F.pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (1, 4, 3, 3))
    call("F.pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), (1, 1, 4, 4))
    call("F.channel_shuffle", lambda x: F.channel_shuffle(x, 2), (1, 4, 3, 3))
    call("F.scaled_dot_product_attention", F.scaled_dot_product_attention, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))
    image = (1, 2, 8, 9)
    for mode in "bilinear bicubic".split():
        call(f"interpolate.{mode}", lambda x, m=mode: F.interpolate(x, (5, 12), mode=m), image)
        call(f"interpolate.{mode}.corners", lambda x, m=mode: F.interpolate(x, (5, 12), mode=m, align_corners=True), image)
        call(f"interpolate.{mode}.antialias", lambda x, m=mode: F.interpolate(x, (3, 4), mode=m, antialias=True), image)
        call(f"interpolate.{mode}.antialias.up", lambda x, m=mode: F.interpolate(x, (13, 4), mode=m, antialias=True), image)
        call(f"interpolate.{mode}.antialias.scale",
             lambda x, m=mode: F.interpolate(x, scale_factor=(0.4, 0.6), mode=m, antialias=True), image)
        call(f"interpolate.{mode}.antialias.corners",
             lambda x, m=mode: F.interpolate(x, (3, 4), mode=m, antialias=True, align_corners=True), image)
    call("interpolate.nearest.40", lambda x: F.interpolate(x, (1, 1)), (1, 2, 40, 40))
    call("interpolate.nearest.40.3", lambda x: F.interpolate(x, (1, 3)), (1, 2, 40, 40))
    call("interpolate.exact.7", lambda x: F.interpolate(x, (3, 5), mode="nearest-exact"), (1, 2, 7, 40))
    call("interpolate.bilinear.40", lambda x: F.interpolate(x, (2, 1), mode="bilinear"), (1, 2, 40, 40))
    call("interpolate.linear", lambda x: F.interpolate(x, 5, mode="linear"), (1, 2, 8))
    call("interpolate.trilinear", lambda x: F.interpolate(x, (3, 4, 5), mode="trilinear"), (1, 2, 4, 4, 4))
    call("interpolate.area", lambda x: F.interpolate(x, (3, 4), mode="area"), image)
    call("affine_grid", lambda t: F.affine_grid(t, (2, 3, 4, 5), False), (2, 2, 3))
    call("affine_grid.corners", lambda t: F.affine_grid(t, (2, 3, 4, 5), True), (2, 2, 3))
    call("affine_grid.volume", lambda t: F.affine_grid(t, (2, 3, 2, 4, 5), False), (2, 3, 4))
    call("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), (1, 2, 4, 4), lambda t: t.rand(1, 3, 3, 2) * 2 - 1)
    call("spatial_transformer", lambda x, t: F.grid_sample(x, F.affine_grid(t, x.shape, False), align_corners=False),
         (1, 2, 4, 4), lambda t: t.tensor([[[0.8, 0.1, 0.0], [-0.1, 0.9, 0.05]]]))

    # Losses.
    for reduction in "none mean sum".split():
        for name in "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss".split():
            target = signs(3, 4) if name == "soft_margin_loss" else (3, 4)
            call(f"F.{name}.{reduction}", lambda x, y, f=getattr(F, name), r=reduction: f(x, y, reduction=r), (3, 4), target)
        r = reduction
        call(f"F.binary_cross_entropy.{r}", lambda x, y, r=r: F.binary_cross_entropy(x, y, reduction=r), fractions(3, 4), fractions(3, 4))
        call(f"F.binary_cross_entropy_with_logits.{r}",
             lambda x, y, r=r: F.binary_cross_entropy_with_logits(x, y, reduction=r), (3, 4), fractions(3, 4))
        call(f"F.kl_div.{r}", lambda x, y, r=r: F.kl_div(x, y, reduction=r), (3, 4), fractions(3, 4))
        call(f"F.nll_loss.{r}", lambda x, y, r=r: F.nll_loss(x, y, reduction=r), (3, 5), integers(3))
        call(f"F.cross_entropy.{r}", lambda x, y, r=r: F.cross_entropy(x, y, reduction=r), (3, 5), integers(3))
        call(f"F.poisson_nll_loss.{r}", lambda x, y, r=r: F.poisson_nll_loss(x, y, reduction=r), (3, 4), positive(3, 4))
        call(f"F.gaussian_nll_loss.{r}", lambda x, y, v, r=r: F.gaussian_nll_loss(x, y, v, reduction=r), (3, 4), (3, 4), positive(3, 4))
        call(f"F.cosine_embedding_loss.{r}", lambda x, y, t, r=r: F.cosine_embedding_loss(x, y, t, 0.2, reduction=r), (3, 4), (3, 4), signs(3))
        call(f"F.margin_ranking_loss.{r}", lambda x, y, t, r=r: F.margin_ranking_loss(x, y, t, 0.2, reduction=r), (3, 4), (3, 4), signs(3, 4))
        call(f"F.hinge_embedding_loss.{r}", lambda x, t, r=r: F.hinge_embedding_loss(x, t, 0.7, reduction=r), (3, 4), signs(3, 4))
        call(f"F.triplet_margin_loss.{r}", lambda x, y, z, r=r: F.triplet_margin_loss(x, y, z, reduction=r), (3, 4), (3, 4), (3, 4))
        call(f"F.multi_margin_loss.{r}", lambda x, y, r=r: F.multi_margin_loss(x, y, reduction=r), (3, 5), integers(3))
        call(f"F.multilabel_margin_loss.{r}", lambda x, r=r: F.multilabel_margin_loss(
            x, torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0], [0, 1, 2, 3]]), reduction=r), (3, 4))
        call(f"F.multilabel_soft_margin_loss.{r}",
             lambda x, y, r=r: F.multilabel_soft_margin_loss(x, y, reduction=r), (3, 4), flags(3, 4))
    call("F.smooth_l1_loss.beta", lambda x, y: F.smooth_l1_loss(x, y, beta=0.3), (3, 4), (3, 4))
    call("F.smooth_l1_loss.0", lambda x, y: F.smooth_l1_loss(x, y, beta=0.0), (3, 4), (3, 4))
    call("F.huber_loss.delta", lambda x, y: F.huber_loss(x, y, delta=0.3), (3, 4), (3, 4))
    call("F.huber_loss.weight", lambda x, y: F.huber_loss(x, y, weight=y * y), (3, 4), (3, 4))
    call("F.mse_loss.broadcast", lambda x, y: F.mse_loss(x, y), (3, 4), (4,))
    call("F.mse_loss.weight", lambda x, y: F.mse_loss(x, y, weight=y * y), (3, 4), (3, 4))
    call("F.binary_cross_entropy.weight", lambda x, y, w: F.binary_cross_entropy(x, y, w), fractions(3, 4), fractions(3, 4), positive(3, 4))
    call("F.binary_cross_entropy.edge", lambda y: F.binary_cross_entropy(torch.tensor([0.0, 1.0, 0.0, 1.0]), y), lambda t: t.tensor([0.0, 1.0, 1.0, 0.0]))
    call("F.binary_cross_entropy_with_logits.weights",
         lambda x, y, w, p: F.binary_cross_entropy_with_logits(x, y, w, pos_weight=p), (3, 4), fractions(3, 4), positive(3, 4), positive(4))
    call("F.binary_cross_entropy_with_logits.large",
         lambda x, y: F.binary_cross_entropy_with_logits(x * 100, y), (3, 4), fractions(3, 4))
    call("F.kl_div.log", lambda x, y: F.kl_div(x, y, reduction="batchmean", log_target=True), (3, 4), (3, 4))
    call("F.kl_div.zero", lambda x, y: F.kl_div(x, F.relu(y), reduction="sum"), (3, 4), (3, 4))
    call("F.nll_loss.weight", lambda x, y, w: F.nll_loss(x, y, w), (3, 5), integers(3), positive(5))
    call("F.nll_loss.ignore", lambda x: F.nll_loss(x, torch.tensor([1, -100, 2])), (3, 5))
    call("F.nll_loss.ignore_index", lambda x, y: F.nll_loss(x, y, ignore_index=2, reduction="none"), (6, 5), integers(6))
    call("F.nll_loss.vector", lambda x: F.nll_loss(x, torch.tensor(2)), (5,))
    call("F.nll_loss.images", lambda x, y: F.nll_loss(x, y), (2, 5, 3, 4), integers(2, 3, 4))
    call("F.nll_loss.volumes", lambda x, y: F.nll_loss(x, y, reduction="none"), (2, 5, 3, 2, 2), integers(2, 3, 2, 2))
    call("F.cross_entropy.smoothing", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), (3, 5), integers(3))
    call("F.cross_entropy.smoothing.weight",
         lambda x, y, w: F.cross_entropy(x, y, w, label_smoothing=0.1, ignore_index=1), (4, 5), integers(4), positive(5))
    call("F.cross_entropy.probabilities", lambda x, y: F.cross_entropy(x, y), (3, 5), fractions(3, 5))
    call("F.cross_entropy.probabilities.weight",
         lambda x, y, w: F.cross_entropy(x, y, w, reduction="sum", label_smoothing=0.2), (3, 5), fractions(3, 5), positive(5))
    call("F.cross_entropy.sequence", lambda x, y: F.cross_entropy(x, y), (2, 5, 3), integers(2, 3))
    call("F.cross_entropy.ignore", lambda x: F.cross_entropy(x, torch.tensor([1, -100, 2])), (3, 5))
    call("F.poisson_nll_loss.full", lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True), positive(3, 4), lambda t: t.rand(3, 4) * 4)
    call("F.triplet_margin_loss.swap", lambda x, y, z: F.triplet_margin_loss(x, y, z, 0.5, 1, swap=True), (3, 4), (3, 4), (3, 4))
    call("F.multi_margin_loss.2", lambda x, y, w: F.multi_margin_loss(x, y, 2, 0.5, w), (3, 5), integers(3), positive(5))
    call("F.ctc_loss", lambda x: F.ctc_loss(F.log_softmax(x, 2), torch.tensor([[1, 2], [2, 1]]), (5, 5), (2, 2)), (5, 2, 4))

    # Layers.
    call("LSTM", nn.LSTM(4, 3), (5, 2, 4))
    call("GRU", nn.GRU(4, 3), (5, 2, 4))
    call("RNN", nn.RNN(4, 3), (5, 2, 4))
    call("MultiheadAttention", lambda x, m=nn.MultiheadAttention(4, 2).eval(): m(x, x, x)[0], (5, 2, 4))
    call("TransformerEncoderLayer", nn.TransformerEncoderLayer(4, 2, 8), (5, 2, 4))
    call("Bilinear", nn.Bilinear(4, 5, 2), (3, 4), (3, 5))
    call("Identity", nn.Identity(), (3, 4))
    call("Softmax2d", nn.Softmax2d(), (1, 3, 4, 4))
    call("Fold", nn.Fold((4, 4), 2), (1, 12, 9))
    call("CosineSimilarity", nn.CosineSimilarity(), (3, 4), (3, 4))
    call("UpsamplingBilinear2d", nn.UpsamplingBilinear2d(scale_factor=2), (1, 2, 4, 4))
    call("EmbeddingBag", nn.EmbeddingBag(5, 4), integers(2, 3))
    call("EmbeddingBag.padding", nn.EmbeddingBag(5, 4, padding_idx=1), integers(2, 3))
    call("GLU", nn.GLU(), (3, 4))
    call("LPPool2d", nn.LPPool2d(3, 2), lambda t: t.rand(1, 2, 6, 6))
    call("FractionalMaxPool2d", nn.FractionalMaxPool2d(2, output_size=3), (1, 2, 7, 7), random=True)

    # Spectra.
    call("fft.rfft", lambda x: torch.fft.rfft(x).abs(), (2, 16))
    call("fft.rfft.real", lambda x: torch.fft.rfft(x).real, (2, 16))
    call("fft.rfft.pair", lambda x: torch.view_as_real(torch.fft.rfft(x)), (2, 16))
    call("fft.fft", lambda x: torch.fft.fft(x).abs(), (2, 16))
    call("fft.irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), (2, 16))
    call("fft.rfft2", lambda x: torch.fft.rfft2(x).abs(), (2, 8, 8))
    call("fft.fftshift", torch.fft.fftshift, (2, 8))
    call("fft.fftshift.dim", lambda x: torch.fft.fftshift(x, dim=-1), (2, 5))
    call("fft.ifftshift", torch.fft.ifftshift, (3, 5))
    call("fft.fftfreq", lambda x: x + torch.fft.fftfreq(8), (2, 8))
    call("stft", lambda x: torch.stft(x, 8, 4, window=torch.ones(8), return_complex=True).abs(), (1, 32))
    call("complex", lambda x, y: torch.complex(x, y).abs(), (3, 4), (3, 4))
    call("polar", lambda x, y: torch.polar(x, y).real, positive(3, 4), (3, 4))
    call("view_as_complex", lambda x: (torch.view_as_complex(x) * 2).imag, (3, 4, 2))
    call("angle.complex", lambda x: torch.fft.rfft(x).angle(), (2, 16))


def file_name(name):
    return name.replace("/", "_")


def make(name, function, inputs, directory):
    """Writes both exports, inputs and outputs; returns a text if that is impossible."""
    import numpy
    import torch

    torch.manual_seed(0)
    where = directory / file_name(name)
    done = where / "done"
    if done.exists():
        return
    where.mkdir(parents=True, exist_ok=True)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            if isinstance(function, torch.nn.Module):
                self.inner = function

        def forward(self, *x):
            return self.inner(*x) if hasattr(self, "inner") else function(*x)

    tensors = [torch.randn(i) if isinstance(i, tuple) else i(torch) for i in inputs]
    model = Model().eval()
    try:
        with torch.no_grad():
            wanted = model(*[t.clone() for t in tensors])
            exported = torch.export.export(model, tuple(tensors))
            torch.export.save(exported, where / "exported.pt2")
            torch.export.save(exported.run_decompositions(), where / "decomposed.pt2")
    except Exception as error:  # a call that torch cannot export is not a case
        (where / "error").write_text(str(error)[:500])
    else:
        flat = [t for t in torch.utils._pytree.tree_flatten(wanted)[0] if isinstance(t, torch.Tensor)]
        for i, t in enumerate(tensors):
            numpy.save(where / f"in{i}.npy", t.numpy())
        for i, t in enumerate(flat):
            numpy.save(where / f"out{i}.npy", t.numpy())
    done.write_text("")


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", timeout=120)


def reason(process):
    lines = [line for line in process.stderr.splitlines() if line.strip()]
    text = next((line for line in lines if "error" in line or "cannot" in line), lines[0] if lines else "")
    detail = next((line.strip() for line in lines if ": aten" in line or "aten." in line or "unsupported" in line), "")
    return f"status {process.returncode}: {text} {detail if detail not in text else ''}"[:300]


def judge(program, where, kind, suffix, random):
    """Returns None if it can be lowered and its results are right; else the reason."""
    import numpy

    model, lowered = where / f"{kind}.pt2", where / f"{kind}{suffix}"
    io = where / f"{kind}.json"
    arguments = [program, "lower", "-q", model, "-o", lowered]
    process = run(*arguments, *(["--io", io] if suffix == ".tosa" else []))
    if process.returncode:
        return ("crash" if process.returncode not in (1, 2) else "refused"), reason(process)
    count = len(list(where.glob("out*.npy")))
    inputs = [where / f"in{i}.npy" for i in range(len(list(where.glob("in*.npy"))))]
    outputs = [where / f"{kind}{suffix}{i}.npy" for i in range(count)]
    process = run(program, "run", lowered, *(["--io", io] if suffix == ".tosa" else []),
                  *(["--in", *inputs] if inputs else []), "--out", *outputs)
    if process.returncode:
        return "not run", reason(process)
    if random:
        return None, ""
    for i, path in enumerate(outputs):
        is_, wanted = numpy.load(path), numpy.load(where / f"out{i}.npy")
        if is_.shape != wanted.shape:
            return "wrong", f"output {i} is {is_.shape}, not {wanted.shape}"
        # A lowered integer may be narrower.
        if not numpy.allclose(is_.astype(complex), wanted.astype(complex), 1e-4, 1e-4, equal_nan=True):
            return "wrong", f"output {i} is {is_.ravel()[:4]}, not {wanted.ravel()[:4]}"
    return None, ""


def judge_all(program, directory, name, random):
    where = directory / file_name(name)
    if not (where / "exported.pt2").exists() or (where / "error").exists():
        return name, None
    verdicts = {}
    for suffix in (".tosa", ".pte"):
        for kind in ("exported", "decomposed"):
            verdicts[kind + suffix] = judge(program, where, kind, suffix, random)
    process = run(program, "run", where / "exported.pt2", "--in", *sorted(where.glob("in?.npy")), "--out",
                  *[where / f"self{i}.npy" for i in range(len(list(where.glob("out*.npy"))))])
    verdicts["run"] = (None, "") if process.returncode == 0 else ("not run", reason(process))
    if process.returncode == 0 and not random:
        import numpy
        for i in range(len(list(where.glob("out*.npy")))):
            a, b = numpy.load(where / f"self{i}.npy"), numpy.load(where / f"out{i}.npy")
            if a.shape != b.shape or not numpy.allclose(a.astype(complex), b.astype(complex), 1e-4, 1e-4, equal_nan=True):
                verdicts["run"] = ("wrong", f"output {i} is {a.ravel()[:4]}, not {b.ravel()[:4]}")
    return name, verdicts


def make_part(part, parts, only, directory):
    warnings.filterwarnings("ignore")
    list_calls()
    for i, (name, function, inputs, _) in enumerate(CALLS):
        if i % parts == part and (not only or only in name):
            make(name, function, inputs, directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--only", default="", help="calls whose names have this part")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print what is right, too")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    list_calls()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part in [pool.submit(make_part, p, options.jobs, options.only, options.directory) for p in range(options.jobs)]:
            part.result()
    names = [(name, random) for name, _, _, random in CALLS if options.only in name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda n: judge_all(options.program, options.directory, *n), names))
    lost, wrong, refused, right, unexported = [], [], [], 0, []
    for name, verdict in verdicts:
        if verdict is None:
            unexported.append(name)
            continue
        for suffix in (".tosa", ".pte"):
            (as_is, why), (after, _) = verdict["exported" + suffix], verdict["decomposed" + suffix]
            if after is None and as_is is not None:
                lost.append(f"{name} {suffix}: {as_is}: {why}")
            elif as_is == "refused":
                refused.append(f"{name} {suffix}: {why}")
            for kind in ("exported", "decomposed"):
                if verdict[kind + suffix][0] in ("wrong", "crash", "not run"):
                    wrong.append(f"{name} {kind}{suffix}: {': '.join(verdict[kind + suffix])}")
            right += as_is is None
        if verdict["run"][0] is not None:
            (wrong if verdict["run"][0] == "wrong" else refused).append(f"{name} run: {': '.join(verdict['run'])}")
    for title, lines in (("refused", refused), ("lower after decompositions, not as exported", lost), ("wrong", wrong)):
        print(f"\n{title}: {len(lines)}")
        for line in lines:
            print("  " + line)
    print(f"\nnot exported by torch: {len(unexported)}: {' '.join(unexported)}")
    print(f"{len(names)} calls; {right} of {2 * (len(names) - len(unexported))} lowerings are right as exported; "
          f"{len(lost)} lower only after decompositions; {len(wrong)} are wrong")
    return 1 if lost or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
