# SPDX-License-Identifier: MIT
"""Compares the buffers of kernels for Cortex-M, in graphs as text, with the sizes that CMSIS-NN's own functions
give. ExecuTorch's wheel has these in a library for its Python."""
import importlib.util
import pathlib
import re
import sysconfig

DEFINITION = re.compile(r"(%.+?) = ([^\s(]+)(?:\((.*)\))?$")
RESULT = re.compile(r"(%[\w.]+): (\w+)\[([\d, ]*)\]")
KERNEL = re.compile(r"cortex_m\.quantized_(conv2d|depthwise_conv2d|transpose_conv2d|avg_pool2d|batch_matmul)"
                    r"(_nhwc)?\.default")
UNUSED = {"input_offset": 0, "output_offset": 0, "activation_min": -128, "activation_max": 127}


def library():
    """Returns the wheel's library of CMSIS-NN's sizes; None without it."""
    folder = pathlib.Path(sysconfig.get_path("purelib")) / "executorch/backends/cortex_m/library/_cmsis_nn"
    for path in folder.glob("cmsis_nn*.so"):
        spec = importlib.util.spec_from_file_location("cmsis_nn", path)
        try:
            made = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(made)
            return made
        except ImportError:
            continue  # it is for another Python
    return None


def split(text):
    """Splits arguments at the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += {"[": 1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


def nodes_of(text):
    """Yields the nodes of a graph as text: results (name, type, shape), the op, and the text of its arguments."""
    for line in text.splitlines():
        match = DEFINITION.match(line.strip())
        if match:
            results = [(name, dtype, [int(n) for n in sizes.split(",") if n.strip()])
                       for name, dtype, sizes in RESULT.findall(match.group(1))]
            yield results, match.group(2), match.group(3) or ""


def wanted_bytes(cmsis, core, kind, nhwc, inputs, named, result):
    """Returns the sizes of a kernel's buffers, by the names of the arguments."""
    backend, kwargs = getattr(cmsis.Backend, core.upper()), dict(UNUSED)
    pair = {k: [int(n) for n in v.strip("[]").split(",")] for k, v in named.items() if v.startswith("[")}
    images = [s if nhwc else [s[0], s[2], s[3], s[1]] for s in (inputs[0], result) if len(s) == 4]
    if kind == "avg_pool2d":
        return {"scratch": cmsis.avgpool_buffer_size(backend, cmsis.DataType.A8W8, dim_dst_width=images[1][2],
                                                     ch_src=images[0][3])}
    if kind == "batch_matmul":
        filters = [inputs[1][2], -1, -1, inputs[1][1]]
        return {"scratch": cmsis.fully_connected_buffer_size(backend, cmsis.DataType.A8W8, filter_nhwc=filters)}
    kwargs.update(input_nhwc=images[0], filter_nhwc=inputs[1], padding_hw=pair["padding"],
                  stride_hw=pair["stride"], dilation_hw=pair["dilation"])
    if kind == "transpose_conv2d":
        kwargs["padding_offsets_hw"] = pair["output_padding"]
        reverse = cmsis.transpose_conv_reverse_conv_buffer_size(backend, cmsis.DataType.A8W8, **kwargs)
        size = cmsis.transpose_conv_buffer_size(backend, cmsis.DataType.A8W8, output_nhwc=images[1], **kwargs)
        return {"scratch": size, "output_scratch": reverse}
    kwargs["output_nhwc"] = images[1]
    if kind == "conv2d":
        return {"scratch": cmsis.convolve_wrapper_buffer_size(backend, cmsis.DataType.A8W8, **kwargs)}
    _, height, width, out = inputs[1]
    kwargs["filter_nhwc"] = [out, height, width, 1]
    kwargs["ch_mult"] = int(named.get("depth_multiplier", 1))
    size = cmsis.depthwise_conv_wrapper_buffer_size(backend, cmsis.DataType.A8W8, **kwargs)
    # The library counts 64 bytes that the kernel for one input channel does not use with a window of one tap.
    is_point = height == width == 1 and pair["padding"] == [0, 0] and pair["dilation"] == [1, 1]
    return {"scratch": size - 64 if core == "mve" and is_point and images[0][3] == 1 < out else size}


def differing_buffers(text, core):
    """Returns how many buffers the kernels in a graph have, and what differs from CMSIS-NN's sizes for a kind of
    core: scalar, dsp or mve."""
    cmsis = library()
    if cmsis is None:
        return 0, []
    shapes, count, differing = {}, 0, []
    for results, op, arguments in nodes_of(text):
        shapes.update((name, shape) for name, _, shape in results)
        kernel = KERNEL.fullmatch(op)
        if not kernel:
            continue
        parts = split(arguments)
        named = dict(p.split("=", 1) for p in parts if re.match(r"\w+=", p))
        tensors = [p.split("=")[-1] for p in parts if p.split("=")[-1] in shapes][:2]
        if kernel.group(1) != "avg_pool2d" and (len(tensors) < 2 or parts[1].startswith("[")):
            continue  # a small weight is among the text
        wanted = wanted_bytes(cmsis, core, kernel.group(1), kernel.group(2) is not None,
                              [shapes[t] for t in tensors], named, results[0][2])
        for argument, size in wanted.items():
            count += 1
            if shapes[named[argument]] != [size]:
                differing.append(f"{results[0][0]}: {argument} has {shapes[named[argument]]} bytes, not {size}: "
                                 f"{op}({arguments[:300]})")
    return count, differing
