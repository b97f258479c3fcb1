# SPDX-License-Identifier: Apache-2.0
"""Programs of torch.export as workloads: against the same modules through ONNX, and against products counted by hand."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from narrowgauge import workload

HERE = importlib.util.find_spec("torch") is not None
torch: Any = importlib.import_module("torch") if HERE else None
nn: Any = torch.nn if HERE else None
pytestmark = pytest.mark.skipif(not HERE, reason="torch is not installed")


def export(module: Any, *inputs: Any, **given: Any) -> Any:
    return torch.export.export(module.eval(), inputs, **given)


def sizes(layers: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (each["m"], each["n"], each["k"], each.get("count", 1) * each.get("batch", 1), each.get("weights", True))
        for each in layers
    ]


def net() -> Any:
    """A convolution, attention and linear layers."""

    class Net(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2)
            self.first, self.second = nn.Linear(16, 24), nn.Linear(24, 5, bias=False)
            self.norm = nn.LayerNorm(24)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.conv(x)).flatten(2)
            y = self.norm(self.first(y))
            heads = y.unflatten(2, (3, 8)).transpose(1, 2)
            y = nn.functional.scaled_dot_product_attention(heads, heads, heads)
            return self.second(y.transpose(1, 2).flatten(2)).softmax(-1)

    return Net()


def test_layers() -> None:
    program = export(net(), torch.zeros(2, 4, 8, 8))
    found = workload.from_torch(program)
    assert [each["name"] for each in found["layers"]] == [
        "conv/conv2d",
        "first/linear",
        "scaled_dot_product_attention/scores",
        "scaled_dot_product_attention/values",
        "second/linear_1",
    ]
    assert sizes(found["layers"]) == [
        (2 * 16, 4, 2 * 9, 2, True),
        (2 * 8, 24, 16, 1, True),
        (8, 8, 8, 2 * 3, False),
        (8, 8, 8, 2 * 3, False),
        (2 * 8, 5, 24, 1, True),
    ]
    assert found["what"].startswith("from torch.export, ")
    # Decomposed, a linear layer of what is not contiguous has a product an image.
    decomposed = workload.from_torch(program.run_decompositions())
    assert sizes(decomposed["layers"])[:4] == sizes(found["layers"])[:4]
    assert sizes(decomposed["layers"])[4:] == [(8, 5, 24, 2, True)]


def test_files(tmp_path: Path) -> None:
    torch.export.save(export(net(), torch.zeros(2, 4, 8, 8)), tmp_path / "net.pt2")
    read = workload.from_file(tmp_path / "net.pt2")
    assert read["name"] == "net"
    assert workload.from_torch(tmp_path / "net.pt2") == read
    assert len(read["layers"]) == 5
    assert workload.main([str(tmp_path / "net.pt2"), "-o", str(tmp_path / "net.json")]) == 0
    for name, content, what in (
        ("no.pt2", None, "no such file"),
        ("text.pt2", b"PK", "it is no archive"),
        ("cut.pt2", (tmp_path / "net.pt2").read_bytes()[:-40], "expected"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(workload.WorkloadError, match=what) as raised:
            workload.from_file(tmp_path / name)
        assert "\n" not in str(raised.value)


def test_against_onnx(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="the package onnx is not installed")
    pytest.importorskip("onnxscript", reason="the package onnxscript is not installed")
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    for module, given in (
        (net(), torch.zeros(2, 4, 8, 8)),
        (nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.zeros(3, 7, 16)),
        (nn.Sequential(nn.Conv1d(4, 6, 5), nn.GELU(), nn.Conv1d(6, 6, 3, groups=6)), torch.zeros(1, 4, 20)),
        (nn.Conv3d(2, 4, (1, 3, 3), dilation=(1, 2, 2)), torch.zeros(1, 2, 4, 9, 9)),
    ):
        program = export(module, given)
        torch.onnx.export(program, f=str(tmp_path / "net.onnx"), verbose=False)
        of_onnx = workload.from_onnx(tmp_path / "net.onnx")["layers"]
        assert sorted(sizes(workload.from_torch(program)["layers"])) == sorted(sizes(of_onnx))


def multiplied(layers: list[dict[str, Any]]) -> int:
    return sum(m * n * k * count for m, n, k, count, _ in sizes(layers))


def counted(module: Any, *inputs: Any) -> int:
    """Multiply-accumulates by torch's own counter, which runs the module."""
    counter = torch.utils.flop_counter.FlopCounterMode(display=False)
    with counter:  # without gradients, torch takes kernels of attention that it does not count
        module(*inputs)
    total: int = counter.get_total_flops()
    return total // 2


@pytest.mark.parametrize(
    "name", ["resnet18", "mobilenet_v3_small", "vit_b_16", "swin_t", "efficientnet_b0", "convnext_tiny"]
)
def test_torchvision(name: str) -> None:
    models = pytest.importorskip("torchvision.models", reason="the package torchvision is not installed")
    model, image = getattr(models, name)().eval(), torch.zeros(1, 3, 224, 224)
    assert multiplied(workload.from_torch(export(model, image))["layers"]) == counted(model, image)


@pytest.mark.parametrize("name", ["Llama", "Bert", "GPT2"])
def test_transformers(name: str) -> None:
    library = pytest.importorskip("transformers", reason="the package transformers is not installed")
    small = {"vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "use_cache": False}
    if name == "Llama":
        small |= {"num_key_value_heads": 2, "intermediate_size": 128}
    model = getattr(library, f"{name}Model")(getattr(library, f"{name}Config")(**small)).eval()
    ids = torch.zeros(2, 9, dtype=torch.long)
    assert multiplied(workload.from_torch(export(model, ids, strict=False))["layers"]) == counted(model, ids)


def test_recurrent_networks_are_decomposed() -> None:
    """Three steps of a GRU: weights times the input, and times the state, which is constant in the first."""
    found = workload.from_torch(export(nn.GRU(6, 5, batch_first=True), torch.zeros(2, 3, 6)))
    counted: dict[tuple[Any, ...], int] = {}
    for m, n, k, count, weights in sizes(found["layers"]):
        assert weights
        counted[n, k] = counted.get((n, k), 0) + m * count
    assert counted == {(15, 6): 2 * 3, (15, 5): 2 * 2}
    assert found["what"].endswith("; 1 products of constants alone are left out")


def test_sizes_that_are_not_given() -> None:
    batch, length = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("length", min=2, max=64)
    shapes = {"x": {0: batch, 1: length}}

    class Scores(nn.Module):
        def forward(self, x: Any) -> Any:
            return x @ x.transpose(1, 2)

    program = export(Scores(), torch.zeros(3, 5, 4), dynamic_shapes=shapes)
    with pytest.raises(workload.WorkloadError, match=r"a dimension s\d+; give the size of s\d+: --dim x.0=1"):
        workload.from_torch(program)
    assert sizes(workload.from_torch(program, {"x.0": 8, "x.1": 32})["layers"]) == [(32, 32, 4, 8, False)]


def test_products_of_constants() -> None:
    class Folded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(torch.ones(3, 4)), nn.Parameter(torch.ones(4, 5))
            self.register_buffer("c", torch.ones(5, 5))

        def forward(self, x: Any) -> Any:
            self.c.add_(1)  # a buffer that changes is no constant
            return x @ (self.a @ self.b), self.a @ self.b @ self.c

    found = workload.from_torch(export(Folded(), torch.zeros(2, 3)))
    assert sizes(found["layers"]) == [(2, 5, 3, 1, True), (5, 3, 5, 1, True)]
    assert found["what"].endswith("; 2 products of constants alone are left out")


def test_what_is_refused() -> None:
    def of(function: Any, *inputs: Any) -> Any:
        class Module(nn.Module):
            def forward(self, *given: Any) -> Any:
                return function(*given)

        return export(Module(), *inputs)

    with pytest.raises(workload.WorkloadError, match="transposed, and is not lowered; expected a convolution"):
        workload.from_torch(export(nn.ConvTranspose2d(2, 3, 3), torch.zeros(1, 2, 5, 5)))
    with pytest.raises(workload.WorkloadError, match=r"may multiply, and is not lowered .*; expected an operator"):
        workload.from_torch(of(lambda x: torch.fft.rfft(x).real, torch.zeros(4, 8)))
    with pytest.raises(workload.WorkloadError, match="neither a convolution nor a matrix product"):
        workload.from_torch(of(torch.relu, torch.zeros(4)))
    for wrong in (5, None, nn.Linear(2, 2)):
        with pytest.raises(workload.WorkloadError, match=r"program is .*; expected the path of a [.]pt2 file"):
            workload.from_torch(wrong)
    with pytest.raises(workload.WorkloadError, match="expected a name and a size of 1 or more"):
        workload.from_torch(of(torch.relu, torch.zeros(4)), {"x": 0})
    # einsum is decomposed by torch.
    product = of(lambda a, b: torch.einsum("bij,bjk->bik", a, b), torch.zeros(3, 4, 5), torch.zeros(3, 5, 6))
    assert sizes(workload.from_torch(product)["layers"]) == [(4, 6, 5, 3, False)]
