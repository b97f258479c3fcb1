# SPDX-License-Identifier: Apache-2.0
"""Chunks that queries attend to most: `narrowgauge retrieval`, or `python -m narrowgauge.retrieval` (docs/retrieval.md)."""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Error
from .._engine import Engine
from .._files import UnreadableError, read_arrays
from .._program import exit_code
from .._quantized import gemm_formats, quantize
from . import max_sim, order_keys, rms_normalize, top_k


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge retrieval",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Scores chunks of a memory by MaxSim and prints the best: for each query token the largest product\n"
        "with a token of the chunk, summed over the query, exact and rounded once to FP32.",
        epilog="Examples:\n"
        "  narrowgauge retrieval KEYS.npy QUERY.npy --chunk 16 --best 8          products in NVFP4, best chunks first\n"
        "  narrowgauge retrieval STATES.npy QUERY.npy --lengths LENGTHS.npy --normalize\n"
        "  narrowgauge retrieval KEYS.npy QUERY.npy --chunk 16 --format fp8_e4m3 --engine rtl --json\n"
        "docs/retrieval.md says what is computed.",
    )
    parser.add_argument("keys", metavar="KEYS.npy", help="tokens x width, of all chunks one after another")
    parser.add_argument("queries", metavar="QUERY.npy", help="query tokens x width; or queries x query tokens x width")
    parser.add_argument("--chunk", type=int, metavar="TOKENS", help="tokens of every chunk")
    parser.add_argument("--lengths", metavar="LENGTHS.npy", help="tokens of each chunk, integers; instead of --chunk")
    parser.add_argument("--best", type=int, default=8, metavar="K", help="how many chunks (default 8)")
    parser.add_argument(
        "--format", default="nvfp4", help="of keys and queries (default nvfp4; narrowgauge formats lists them)"
    )
    parser.add_argument("--engine", default="model", help="of the products: model, systemc or rtl (default model)")
    parser.add_argument("--normalize", action="store_true", help="keys over their root mean square first")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _array(path: str, what: str) -> NDArray[np.generic]:
    try:
        array = read_arrays(path)
    except (UnreadableError, ValueError) as error:
        raise Error(f"{what} {path} cannot be read ({error}); expected a .npy file") from error
    if not isinstance(array, np.ndarray):
        raise Error(f"{what} {path} is an archive; expected a .npy file of one array")
    return array


def _lengths(arguments: argparse.Namespace, tokens: int) -> NDArray[np.generic]:
    if (arguments.chunk is None) == (arguments.lengths is None):
        raise Error("chunks have no length, or two; expected --chunk or --lengths")
    if arguments.lengths is not None:
        return _array(arguments.lengths, "lengths")
    if arguments.chunk < 1 or tokens % arguments.chunk:
        raise Error(
            f"--chunk is {arguments.chunk}; expected 1 or more, and a divisor of the {tokens} tokens of the keys"
        )
    return np.full(tokens // arguments.chunk, arguments.chunk)


def _run(arguments: argparse.Namespace) -> None:
    keys, queries = _array(arguments.keys, "keys"), _array(arguments.queries, "queries")
    if keys.ndim != 2 or queries.ndim not in (2, 3) or keys.shape[1] != queries.shape[-1]:
        raise Error(
            f"keys have shape {keys.shape} and queries {queries.shape}; expected tokens x width and query tokens x width, or "
            "queries x query tokens x width, of one width"
        )
    if arguments.format not in gemm_formats():
        raise Error(f"--format is {arguments.format}; expected one of {', '.join(gemm_formats())}")
    if arguments.engine not in _core.engines():
        raise Error(f"--engine is {arguments.engine}; expected one of {', '.join(_core.engines())}")
    lengths = _lengths(arguments, len(keys))
    if not 1 <= arguments.best <= len(lengths):
        raise Error(f"--best is {arguments.best}; expected 1 to the number of chunks, {len(lengths)}")
    given = rms_normalize(keys) if arguments.normalize else keys
    asked = queries.reshape(-1, queries.shape[-2], queries.shape[-1])
    right = quantize(given.T, arguments.format, axis=-2)
    rows = quantize(asked.reshape(-1, asked.shape[-1]), arguments.format)
    done = Engine(arguments.engine).gemm(rows, right)
    found = []
    for number, dots in enumerate(np.split(done.c, len(asked))):
        scores = max_sim(dots, lengths)
        best = top_k(order_keys(scores), arguments.best)
        found.append({"query": number, "chunks": best.tolist(), "scores": scores[best].tolist()})
    if arguments.json:
        about = {"format": arguments.format, "engine": arguments.engine, "chunks": len(lengths), "tokens": len(keys)}
        print(json.dumps({**about, "cycles": done.cycles, "queries": found}))
        return
    print(
        f"{len(lengths)} chunks, {len(keys)} tokens of width {keys.shape[1]}, {arguments.format}, engine {arguments.engine}"
    )
    for one in found:
        print(f"\nquery {one['query']}\n{'chunk':>8}{'score':>16}")
        for chunk, score in zip(one["chunks"], one["scores"], strict=True):
            print(f"{chunk:>8}{score:>16.6g}")


def main() -> int:
    """Exit code."""
    return exit_code(lambda: _run(_parser().parse_args()))


if __name__ == "__main__":
    sys.exit(main())
