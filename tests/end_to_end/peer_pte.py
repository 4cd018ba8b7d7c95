# SPDX-License-Identifier: MIT
"""Programs as ExecuTorch's exporter writes them, in constructs that Headrace does not write: made by
flatc."""
import json
import pathlib
import shutil
import subprocess
import tempfile

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "include/headrace/io/pte"
TYPES = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float32": 6, "float64": 7, "bool": 11}
FLOAT = 4  # bytes


def flatbuffer(content, schema):
    """Returns the bytes that flatc makes from JSON."""
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "made.json"
        text.write_text(json.dumps(content))
        done = subprocess.run(["flatc", "--binary", "--force-defaults", "-o", folder, str(schema), str(text)],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return text.with_suffix(".bin").read_bytes()


def write_data(path, tensors):
    """Returns a .ptd file of arrays by name, as ExecuTorch writes it."""
    base_of, data, segments, named = 128, b"", [], []
    for name, array in tensors.items():
        data += bytes(-len(data) % base_of)
        segments.append({"offset": len(data), "size": array.nbytes})
        layout = {"scalar_type": TYPES[str(array.dtype)], "sizes": list(array.shape),
                  "dim_order": list(range(array.ndim))}
        named.append({"key": name, "segment": len(segments) - 1, "layout": layout})
        data += array.tobytes()
    made = flatbuffer({"version": 0, "segments": segments, "named_data": named}, SCHEMAS / "ptd.fbs")
    header, number = 48, lambda n, size: n.to_bytes(size, "little")
    base = -(-(len(made) + header) // base_of) * base_of
    head = b"FH01" + number(40, 4) + b"".join(number(n, 8) for n in (header, len(made), base, len(data)))
    whole = number(int.from_bytes(made[:4], "little") + header, 4) + made[4:8] + head + bytes(header - len(head)) + made[8:]
    pathlib.Path(path).write_bytes(whole + bytes(base - len(whole)) + data)


class Method:
    """Values and instructions, in the terms of the schema."""

    def __init__(self):
        self.values, self.instructions, self.operators, self.planned = [], [], [], 0
        self.inputs, self.outputs = [], []

    def value(self, kind, **fields):
        self.values.append({"kind_type": kind, "kind": fields})
        return len(self.values) - 1

    def integer(self, number):
        return self.value("Int", value=number)

    def boolean(self, truth):
        return self.value("Bool", value=truth)

    def tensor(self, *shape, dtype="float32", at=None, planned=True, dynamism="STATIC"):
        """Adds a tensor in planned memory, at an offset of its own or at the given one."""
        fields = {"scalar_type": TYPES[dtype], "sizes": list(shape), "dim_order": list(range(len(shape))),
                  "dynamism": dynamism}
        if planned:
            size = 8
            for n in shape:
                size *= n
            fields["allocation"] = {"memory": 1, "offset_low": self.planned if at is None else at}
            self.planned += 0 if at is not None else -(-size // 16) * 16
        return self.value("Tensor", **fields)

    def external(self, name, *shape, dtype="float32"):
        return self.value("Tensor", scalar_type=TYPES[dtype], sizes=list(shape), dim_order=list(range(len(shape))),
                          extra={"name": name, "location": "EXTERNAL"})

    def place(self, tensor):
        return self.values[tensor]["kind"]["allocation"]["offset_low"]

    def call(self, name, *arguments):
        """Returns the index of the instruction."""
        base, _, overload = name.partition(".")
        operator = {"name": base, "overload": overload}
        if operator not in self.operators:
            self.operators.append(operator)
        return self.add("KernelCall", op=self.operators.index(operator), args=list(arguments))

    def move(self, source, target):
        return self.add("MoveCall", **{"from": source, "to": target})

    def jump(self, condition, destination=0):
        return self.add("JumpFalseCall", condition=condition, destination=destination)

    def land(self, jump):
        self.instructions[jump]["call"]["destination"] = len(self.instructions)

    def add(self, kind, **fields):
        self.instructions.append({"call_type": kind, "call": fields})
        return len(self.instructions) - 1

    def write(self, path):
        """Returns False without flatc."""
        if shutil.which("flatc") is None:
            return False
        method = {"name": "forward", "values": self.values, "inputs": self.inputs, "outputs": self.outputs,
                  "chains": [{"inputs": [], "outputs": [], "instructions": self.instructions}],
                  "operators": self.operators, "delegates": [], "memory_bytes": [0, self.planned]}
        program = {"version": 0, "methods": [method], "segments": [], "constants": {"segment": 0, "offsets": [0]}}
        pathlib.Path(path).write_bytes(flatbuffer(program, SCHEMAS / "pte.fbs"))
        return True


def cond():
    """torch.cond: the result is moved from the result of the executed branch."""
    m = Method()
    x, flag = m.tensor(4), m.tensor(dtype="bool")
    zero, null = m.integer(0), m.value("Null")
    m.inputs = [x]
    total, yes, no = m.tensor(), m.tensor(4), m.tensor(4)
    chosen = m.tensor(4, planned=False)
    last = m.tensor(4)
    axes = m.value("IntList", items=[])
    false = m.boolean(False)
    m.call("aten::sum.IntList_out", x, axes, false, null, total, total)
    m.call("aten::gt.Scalar_out", total, zero, flag, flag)
    to_no = m.jump(flag)
    m.call("aten::exp.out", x, yes, yes)
    m.move(yes, chosen)
    to_end = m.jump(false)
    m.land(to_no)
    m.call("aten::neg.out", x, no, no)
    m.move(no, chosen)
    m.land(to_end)
    m.call("aten::abs.out", chosen, last, last)
    m.outputs = [last]
    return m


def map_rows():
    """torch.map: rows are selected by a counter, and put into the result one by one."""
    m = Method()
    x, row, made = m.tensor(3, 4), m.tensor(4), m.tensor(4)
    stacked = m.tensor(3, 4, dynamism="BOUNDED")
    m.inputs, m.outputs = [x], [stacked]
    i, one, count, zero = m.integer(0), m.integer(1), m.integer(0), m.integer(0)
    done = m.boolean(False)
    m.call("aten::sym_size.int", x, zero, count)
    begin = m.call("aten::select_copy.int_out", x, zero, i, row, row)
    m.call("aten::exp.out", row, made, made)
    m.call("executorch_prim::et_copy_index.tensor", stacked, made, i)
    m.call("executorch_prim::add.Scalar", i, one, i)
    m.call("executorch_prim::eq.Scalar", i, count, done)
    m.jump(done, begin)
    m.call("executorch_prim::sub.Scalar", i, count, i)
    return m


def while_loop(times=5):
    """A counter that is reset, tested before each iteration, and incremented."""
    m = Method()
    x = m.tensor(4)
    held = m.tensor(4)
    m.inputs, m.outputs = [x], [held]
    zero, one, limit, i = m.integer(0), m.integer(1), m.integer(times), m.integer(7)
    goes_on, false, null = m.boolean(False), m.boolean(False), m.value("Null")
    m.call("aten::_to_copy.out", x, false, null, held, held)
    m.move(zero, i)
    test = m.call("executorch_prim::lt.Scalar", i, limit, goes_on)
    to_end = m.jump(goes_on)
    m.call("aten::add.out", held, x, one, held, held)
    m.call("executorch_prim::add.Scalar", i, one, i)
    m.jump(false, test)
    m.land(to_end)
    return m


def views():
    """Views are aliases of their operands."""
    m = Method()
    x, y = m.tensor(2, 6), m.tensor(12)
    seen = m.tensor(3, 4, planned=False)
    m.inputs, m.outputs = [x], [y]
    three, four, twelve = m.integer(3), m.integer(4), m.integer(12)
    shape = m.value("IntList", items=[three, four])
    flat = m.value("IntList", items=[twelve])
    other = m.tensor(3, 4)
    m.call("executorch_prim::et_view.default", x, shape, seen)
    m.call("aten::exp.out", seen, other, other)
    m.call("aten::view_copy.out", other, flat, y, y)
    return m


def endless():
    """A loop whose condition never changes."""
    m = while_loop()
    counted = [i for i in m.instructions if i["call_type"] == "KernelCall"][-1]
    m.instructions.remove(counted)  # nothing increments the counter any more
    m.instructions[3]["call"]["destination"] -= 1
    return m


def into_a_loop():
    """A jump into the middle of a loop."""
    m = while_loop()
    flag = m.boolean(False)
    m.instructions.insert(0, {"call_type": "JumpFalseCall", "call": {"condition": flag, "destination": 5}})
    for i in m.instructions[1:]:
        if i["call_type"] == "JumpFalseCall":
            i["call"]["destination"] += 1
    m.call("executorch_prim::eq.Scalar", 2, 3, flag)
    return m


def external():
    """A weight in another file."""
    m = Method()
    x, y = m.tensor(4), m.tensor(4)
    w = m.external("layer.weight", 4)
    one = m.integer(1)
    m.inputs, m.outputs = [x], [y]
    m.call("aten::add.out", x, w, one, y, y)
    return m
