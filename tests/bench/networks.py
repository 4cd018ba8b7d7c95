#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes exported programs of any size, without PyTorch, for measurements.

    networks.py KIND NODES OUT.pt2              `chain`, `residual`, `attention` or `concat` with about NODES ops
    networks.py weights MEGABYTES OUT.pt2       linear layers and convolutions with as many bytes of float weights

`--unsupported` replaces every third op of a chain by one that no pass lowers.
"""
import argparse
import json
import pathlib
import zipfile

import numpy

FLOAT32 = 7  # in torch.export's schema
WIDTH = 8  # channels, and features of a token
TOKENS = 4
IMAGE = 4  # rows and columns
ALIGNMENT = 64  # of weights in an archive, as in PyTorch's


def tensor_meta(shape):
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return {"dtype": FLOAT32, "sizes": [{"as_int": size} for size in shape], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": stride} for stride in strides],
            "storage_offset": {"as_int": 0}, "layout": 7}


def argument(value):
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int):
        return {"as_int": value}
    if isinstance(value, float):
        return {"as_float": value}
    if isinstance(value, str):
        return {"as_tensor": {"name": value}}
    if all(isinstance(item, str) for item in value):
        return {"as_tensors": [{"name": item} for item in value]}
    return {"as_ints": list(value)}


class Network:
    """A program under construction. Values are names; `shapes` maps them to their shapes."""

    def __init__(self, input_shape):
        self.shapes = {"x": input_shape}
        self.parameters = {}
        self.nodes = []
        self.random = numpy.random.default_rng(1)

    def parameter(self, *shape):
        name = f"p_{len(self.parameters)}"
        self.shapes[name] = shape
        self.parameters[name] = f"weight_{len(self.parameters)}"
        return name

    def op(net, target, shape, **inputs):  # `self` is an input of many ops
        name = f"v{len(net.nodes)}"
        net.shapes[name] = shape
        net.nodes.append({"target": f"torch.ops.{target}",
                           "inputs": [{"name": k, "arg": argument(v), "kind": 1} for k, v in inputs.items()],
                           "outputs": [{"as_tensor": {"name": name}}], "metadata": {},
                           "is_hop_single_tensor_return": None, "name": name})
        return name

    def unary(self, target, x):
        return self.op(target, self.shapes[x], self=x)

    def binary(self, target, x, y):
        return self.op(target, self.shapes[x], self=x, other=y)

    def linear(self, x, features):
        shape = self.shapes[x]
        return self.op("aten.linear.default", (*shape[:-1], features), input=x,
                       weight=self.parameter(features, shape[-1]), bias=self.parameter(features))

    def convolution(self, x, channels, size):
        batch, before, rows, columns = self.shapes[x]
        return self.op("aten.conv2d.default", (batch, channels, rows, columns), input=x,
                       weight=self.parameter(channels, before, size, size), bias=self.parameter(channels),
                       stride=[1, 1], padding=[size // 2, size // 2])

    def view(self, x, *shape):
        return self.op("aten.view.default", shape, self=x, size=shape)

    def transpose(self, x, a, b):
        shape = list(self.shapes[x])
        shape[a], shape[b] = shape[b], shape[a]
        return self.op("aten.transpose.int", tuple(shape), self=x, dim0=a, dim1=b)

    def program(self, result):
        specs = [{"parameter": {"arg": {"name": name}, "parameter_name": stored}}
                 for name, stored in self.parameters.items()]
        specs.append({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})
        outputs = [{"as_tensor": {"name": result}}]
        module = {
            "graph": {"inputs": [{"as_tensor": {"name": name}} for name in (*self.parameters, "x")],
                      "outputs": outputs, "nodes": self.nodes,
                      "tensor_values": {name: tensor_meta(shape) for name, shape in self.shapes.items()},
                      "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False,
                      "custom_obj_values": {}, "sym_float_values": {}},
            "signature": {"input_specs": specs, "output_specs": [{"user_output": {"arg": outputs[0]}}]},
            "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}}
        return {"graph_module": module, "opset_version": {"aten": 10}, "range_constraints": {},
                "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
                "torch_version": "2.15.0", "guards_code": []}

    def weight_bytes(self, name):
        count = int(numpy.prod(self.shapes[name]))
        return (self.random.random(count, dtype=numpy.float32) - numpy.float32(0.5)).tobytes()

    def save(self, result, path):
        config = {stored: {"path_name": stored, "is_param": True, "use_pickle": False,
                           "tensor_meta": tensor_meta(self.shapes[name])}
                  for name, stored in self.parameters.items()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, stored in self.parameters.items():
                write_aligned(archive, f"model/data/weights/{stored}", self.weight_bytes(name))
            write_aligned(archive, "model/data/weights/model_weights_config.json",
                          json.dumps({"config": config}).encode())
            write_aligned(archive, "model/data/constants/model_constants_config.json", b'{"config": {}}')
            write_aligned(archive, "model/models/model.json", json.dumps(self.program(result)).encode())
            for name, text in (("archive_format", b"pt2"), ("archive_version", b"0"), ("byteorder", b"little")):
                write_aligned(archive, f"model/{name}", text)


def write_aligned(archive, name, data):
    """Appends an entry. The padding goes into its extra field, as PyTorch's writer does."""
    entry = zipfile.ZipInfo(name)
    begin = archive.fp.tell() + 30 + len(name) + 4
    padding = -begin % ALIGNMENT
    entry.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    archive.writestr(entry, data)


def chain(nodes, unsupported=False):
    """A long chain of unary functions."""
    net = Network((1, TOKENS, WIDTH))
    x = "x"
    for i in range(nodes):
        if unsupported and i % 3 == 2:
            x = net.unary("aten.special_bessel_j0.default", x)
        elif i % 4 == 3:
            x = net.linear(x, WIDTH)
        elif i % 4 == 1:
            x = net.binary("aten.mul.Tensor", x, 0.5)
        else:
            x = net.unary("aten.sigmoid.default" if i % 8 == 0 else "aten.relu.default", x)
    return net, x


def residual(nodes):
    """Blocks of two convolutions with a skip connection around each block."""
    net = Network((1, WIDTH, IMAGE, IMAGE))
    x = "x"
    while len(net.nodes) < nodes:
        y = net.unary("aten.relu.default", net.convolution(x, WIDTH, 1))
        x = net.unary("aten.relu.default", net.binary("aten.add.Tensor", x, net.convolution(y, WIDTH, 1)))
    return net, x


def attention(nodes):
    """Blocks of a transformer: attention with two heads and a perceptron, each after a normalization."""
    net = Network((1, TOKENS, WIDTH))
    heads = 2

    def normalized(x):
        return net.op("aten.layer_norm.default", net.shapes[x], input=x, normalized_shape=[WIDTH],
                      weight=net.parameter(WIDTH), bias=net.parameter(WIDTH), eps=1e-5)

    def head(x):
        return net.transpose(net.view(net.linear(x, WIDTH), 1, TOKENS, heads, WIDTH // heads), 1, 2)

    x = "x"
    while len(net.nodes) < nodes:
        y = normalized(x)
        q, k, v = head(y), net.transpose(head(y), 2, 3), head(y)
        scores = net.op("aten.matmul.default", (1, heads, TOKENS, TOKENS), self=q, other=k)
        weights = net.op("aten.softmax.int", net.shapes[scores], self=net.binary("aten.mul.Tensor", scores, 0.5), dim=-1)
        mixed = net.op("aten.matmul.default", net.shapes[v], self=weights, other=v)
        y = net.linear(net.view(net.transpose(mixed, 1, 2), 1, TOKENS, WIDTH), WIDTH)
        x = net.binary("aten.add.Tensor", x, y)
        y = net.linear(net.unary("aten.gelu.default", net.linear(normalized(x), 2 * WIDTH)), WIDTH)
        x = net.binary("aten.add.Tensor", x, y)
    return net, x


def concat(nodes):
    """One value, branches of three functions each, and one concatenation of all of them."""
    net = Network((1, 2, 2, 2))
    ends = []
    while len(net.nodes) + 1 < nodes:
        factor = 0.5 + len(ends) / nodes  # distinct factors keep branches from being merged
        y = net.unary("aten.relu.default", net.binary("aten.mul.Tensor", "x", factor))
        ends.append(net.unary("aten.sigmoid.default", y))
    return net, net.op("aten.cat.default", (1, 2 * len(ends), 2, 2), tensors=ends, dim=1)


KINDS = {"chain": chain, "residual": residual, "attention": attention, "concat": concat}


def weights(megabytes):
    """Layers of up to 64 MB: linear ones, whose weights are used unchanged, and convolutions, whose weights
    are transposed."""
    side = 4096
    while side * side * 4 * 4 > megabytes * 1_000_000 and side > 64:
        side //= 2
    net = Network((1, side, 2, 2))
    x, written, turns = "x", 0, 0
    while written < megabytes * 1_000_000:
        if turns % 4 == 3:  # 3x3, so that the layout of its weights changes
            x = net.convolution(net.convolution(x, side // 4, 1), side, 3)
            written += 4 * (side * side // 4 + 9 * side * side // 4)
        else:
            y = net.linear(net.view(x, 4, side), side)
            x = net.view(net.unary("aten.relu.default", y), 1, side, 2, 2)
            written += 4 * side * side
        turns += 1
    return net, x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*KINDS, "weights"])
    parser.add_argument("size", type=int)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--unsupported", action="store_true")
    given = parser.parse_args()
    if given.unsupported and given.kind != "chain":
        parser.error("--unsupported is for a chain")
    if given.kind == "weights":
        net, result = weights(given.size)
    elif given.unsupported:
        net, result = chain(given.size, unsupported=True)
    else:
        net, result = KINDS[given.kind](given.size)
    net.save(result, given.output)


if __name__ == "__main__":
    main()
