"""Plans as an ONNX graph: one column of numbers a node."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from choquet._version import __version__
from choquet.errors import MissingDependencyError
from choquet.exports.code import head
from choquet.exports.plan import Form, Node, Plan, Table, reachable

DTYPES = ("float64", "float32")
"""Numbers of the inputs and outputs."""

_OPSET = 15
_IR_VERSION = 8
_SIMPLE = {"sub": "Sub", "mul": "Mul", "div": "Div", "exp": "Exp", "sqrt": "Sqrt", "less": "Less"}
_CHAINED = {"add": "Add", "or": "Or", "min": "Min", "max": "Max"}


def onnx_bytes(plan: Plan, dtype: Literal["float64", "float32"] = "float64") -> bytes:
    """An ONNX model of a plan: it takes `X` (n × N) and gives `output` and the others, n each."""
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError("ONNX needs onnx: pip install 'choquet[export]'") from None
    graph = _Graph(plan, dtype, onnx)
    names = [column.name for column in plan.columns]
    levels = {column.name: [str(one) for one in column.levels] for column in plan.columns}
    model = onnx.helper.make_model(
        graph.made(),
        producer_name="choquet",
        producer_version=__version__,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        doc_string="\n".join(head(plan, "ONNX", "X holds the columns in the order of `sources`.")),
    )
    about = {"sources": names, "classes": list(plan.classes), "levels": levels}
    onnx.helper.set_model_props(model, {key: json.dumps(value) for key, value in about.items()})
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


class _Graph:
    """Nodes and constants as they are made; each formula is a vector of n numbers, or a scalar."""

    def __init__(self, plan: Plan, dtype: str, onnx: Any) -> None:
        self.plan, self.onnx, self.helper = plan, onnx, onnx.helper
        self.real = np.dtype(dtype)
        self.kind = self.helper.np_dtype_to_tensor_dtype(self.real)
        self.nodes: list[Any] = []
        self.constants: dict[Any, str] = {}
        self.tensors: list[Any] = []
        self.name: dict[int, str] = {}
        self.orders: dict[int, tuple[str, str]] = {}
        self.ranks: dict[int, str] = {}
        self.places: dict[Any, str] = {}

    def op(self, kind: str, *inputs: str, n_outputs: int = 1, **attributes: Any) -> Any:
        """One operation; the names of its outputs."""
        outputs = [f"n{len(self.nodes)}_{k}" for k in range(n_outputs)]
        self.nodes.append(self.helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs[0] if n_outputs == 1 else outputs

    def constant(self, values: Any, dtype: Any = None) -> str:
        """An array that is written once."""
        array = np.array(values, dtype=dtype or self.real, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            name = f"c{len(self.constants)}"
            self.constants[key] = name
            self.tensors.append(self.onnx.numpy_helper.from_array(array, name))
        return self.constants[key]

    def whole(self, name: str) -> str:
        """A number as an index."""
        return str(
            self.op("Cast", name, to=self.helper.np_dtype_to_tensor_dtype(np.dtype("int64")))
        )

    def real_of(self, name: str) -> str:
        """An index or a flag as a number."""
        return str(self.op("Cast", name, to=self.kind))

    def made(self) -> Any:
        """The graph."""
        for node in reachable(self.plan.outputs.values()):
            if node.op == "order":
                self._order(node)
            else:
                self.name[node.number] = self._one(node)
        # A constant output is one number, not n: adding zeros makes it as long as the others.
        length = self.op(
            "Slice", self.op("Shape", "X"), *(self.constant([k], "int64") for k in (0, 1))
        )
        zero = self.onnx.numpy_helper.from_array(np.zeros(1, dtype=self.real))
        zeros = self.op("ConstantOfShape", length, value=zero)
        outputs = []
        for name, node in self.plan.outputs.items():
            long = self.op("Add", self.name[node.number], zeros)
            outputs.append(self._output(name, long))
        inputs = [self.helper.make_tensor_value_info("X", self.kind, ["n", self.plan.n_inputs])]
        return self.helper.make_graph(self.nodes, "choquet", inputs, outputs, self.tensors)

    def _output(self, name: str, long: str) -> Any:
        kinds = {"operator": np.dtype("int64"), "supported": np.dtype("bool")}
        kind = self.helper.np_dtype_to_tensor_dtype(kinds.get(name, self.real))
        self.nodes.append(self.helper.make_node("Cast", [long], [name], to=kind))
        return self.helper.make_tensor_value_info(name, kind, ["n"])

    def _order(self, node: Node) -> None:
        axis = self.constant([1], "int64")
        columns = [self.op("Unsqueeze", self._long(arg), axis) for arg in node.args]
        rows = self.op("Concat", *columns, axis=1)
        size = self.constant([len(columns)], "int64")
        falling, places = self.op("TopK", rows, size, n_outputs=2, axis=1, largest=1)
        self.orders[node.number] = falling, places

    def _long(self, node: Node) -> str:
        """A formula as n numbers."""
        name = self.name[node.number]
        if node.op != "const":
            return name
        first = self.op("Gather", "X", self.constant(0, "int64"), axis=1)
        shape = self.op("Shape", first)
        return str(self.op("Expand", name, shape))

    def _column(self, rows: str, k: int) -> str:
        return str(self.op("Gather", rows, self.constant(k, "int64"), axis=1))

    def _one(self, node: Node) -> str:
        args = [self.name[arg.number] for arg in node.args if arg.op != "order"]
        if node.op in _SIMPLE:
            return str(self.op(_SIMPLE[node.op], *args))
        if node.op in _CHAINED:
            total = args[0]
            for arg in args[1:]:
                total = self.op(_CHAINED[node.op], total, arg)
            return total
        match node.op:
            case "const":
                return self.constant(node.data)
            case "input":
                return self._column("X", node.data)
            case "missing":
                # Infinity less infinity is no number either.
                return str(self.op("IsNaN", self.op("Sub", args[0], args[0])))
            case "if":
                return str(self.op("Where", *args))
            case "step":
                return self._step(args[0], node.data)
            case "lookup":
                table: Table = node.data
                return str(self.op("Gather", self.constant(table.values), self.whole(args[0])))
            case "sorted":
                return self._column(self.orders[node.args[0].number][0], node.data)
            case "rank":
                return self.real_of(self._column(self._ranks(node.args[0]), node.data))
            case "prefix":
                rank, weights = node.data
                return self.real_of(self._column(self._prefixes(node.args[0], weights), rank))
            case "form":
                return self._form(node)
        raise AssertionError(node.op)

    def _form(self, node: Node) -> str:
        """Rows of tables by their shares, joined, times the matrix, times themselves."""
        form: Form = node.data
        half, axis = len(node.args) // 2, self.constant([1], "int64")
        indices, shares = (
            [self._long(arg) for arg in part] for part in (node.args[:half], node.args[half:])
        )
        length = self.op("Shape", self.op("Unsqueeze", self._column("X", 0), axis))
        parts, at = [self.op("Expand", self.constant([form.start]), length)], 0
        for base, count in zip(form.bases, form.counts, strict=True):
            table, total = self.constant(base), None
            for k in range(at, at + count):
                row = self.op("Gather", table, self.whole(indices[k]))
                row = self.op("Mul", row, self.op("Unsqueeze", shares[k], axis))
                total = row if total is None else self.op("Add", total, row)
            parts.append(str(total))
            at += count
        vector = self.op("Concat", *parts, axis=1)
        product = self.op("Mul", self.op("MatMul", vector, self.constant(form.matrix)), vector)
        return str(self.op("ReduceSum", product, axis, keepdims=0))

    def _step(self, number: str, points: tuple[float, ...]) -> str:
        column = self.op("Unsqueeze", number, self.constant([1], "int64"))
        above = self.op("Less", column, self.constant([points]))
        passed = self.real_of(self.op("Not", above))
        return str(self.op("ReduceSum", passed, self.constant([1], "int64"), keepdims=0))

    def _ranks(self, order: Node) -> str:
        """Rank of each argument: where it stands among the places."""
        if order.number not in self.ranks:
            places = self.orders[order.number][1]
            size = self.constant([len(order.args)], "int64")
            self.ranks[order.number] = self.op(
                "TopK", places, size, n_outputs=2, axis=1, largest=0
            )[1]
        return self.ranks[order.number]

    def _prefixes(self, order: Node, weights: tuple[int, ...]) -> str:
        key = (order.number, weights)
        if key not in self.places:
            table = self.constant(weights, "int64")
            found = self.op("Gather", table, self.orders[order.number][1])
            self.places[key] = self.op("CumSum", found, self.constant(1, "int64"))
        return self.places[key]
