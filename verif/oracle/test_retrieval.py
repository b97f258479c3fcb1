# SPDX-License-Identifier: Apache-2.0
"""Scores of chunks and the best of them against a transcription of INTRA in float64 (vectors/README.md)."""

from __future__ import annotations

import numpy as np
from originals import vectors

from narrowgauge import retrieval

MADE = {key.removeprefix("intra/"): value for key, value in vectors("intra").items()}


def f64(key: str) -> np.ndarray:
    return MADE[key].view(np.float64)


def test_chunks_are_theirs() -> None:
    chunks, tokens, width = f64("K").shape
    keys = retrieval.rms_normalize(f64("K").reshape(-1, width))
    queries = retrieval.fold_query(f64("q"), f64("Wk"), f64("gamma"))
    scores = retrieval.max_sim(queries.astype(np.float64) @ keys.T.astype(np.float64), np.full(chunks, tokens))
    np.testing.assert_allclose(scores, f64("score"), rtol=1e-5)
    np.testing.assert_array_equal(retrieval.top_k(scores, len(MADE["top"])), MADE["top"])
    np.testing.assert_array_equal(retrieval.top_k(retrieval.order_keys(scores), len(MADE["top"])), MADE["top"])
