# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Score and mask functions in FlexAttention's signatures: the well-known ones.

    python examples/attention_masks.py            # runs each, on the simulator

Those that need data (lengths, documents, slopes, a table) are made by a function that
takes it; the arrays are operands of the kernel.
"""

from __future__ import annotations

import numpy as np

import wavesmith as ws


def causal(b, h, q_idx, kv_idx):
    """A query sees the keys up to its own place."""
    return q_idx >= kv_idx


def make_sliding_window(size):
    """And of those the last `size` only, before its own."""

    def sliding_window(b, h, q_idx, kv_idx):
        return (q_idx >= kv_idx) & (q_idx - kv_idx <= size)

    return sliding_window


def make_prefix_lm(prefix_lengths):
    """All see the prefix of their sequence, the rest is causal."""

    def prefix_lm(b, h, q_idx, kv_idx):
        return (kv_idx < prefix_lengths[b]) | (q_idx >= kv_idx)

    return prefix_lm


def make_document_mask(documents):
    """Packed documents: attention stays inside of each, and is causal."""

    def same_document(b, h, q_idx, kv_idx):
        return documents[b, q_idx] == documents[b, kv_idx]

    return ws.and_masks(same_document, causal)


def make_alibi(slopes):
    """Scores fall with the distance, by a slope for each head."""

    def alibi(score, b, h, q_idx, kv_idx):
        return score - slopes[h] * abs(q_idx - kv_idx)

    return alibi


def make_softcap(cap):
    """Scores stay between -cap and cap."""

    def softcap(score, b, h, q_idx, kv_idx):
        return cap * ws.math.tanh(score / cap)

    return softcap


def make_relative_bias(table, reach):
    """A learned bias by the distance, from -reach to reach, which ends there."""

    def relative_bias(score, b, h, q_idx, kv_idx):
        distance = min(max(q_idx - kv_idx, -reach), reach)
        return score + table[h, distance + reach]

    return relative_bias


def main() -> None:
    rng = np.random.default_rng(0)
    B, H, L, D = 2, 2, 96, 64
    q, k, v = (rng.standard_normal((B, H, L, D)).astype(np.float16) for _ in range(3))
    masks = {
        "causal": causal,
        "sliding window": make_sliding_window(16),
        "prefix-LM": make_prefix_lm(np.array([10, 40], np.int32)),
        "documents": make_document_mask(np.sort(rng.integers(0, 3, (B, L))).astype(np.int32)),
    }
    scores = {
        "ALiBi": make_alibi(np.array([0.5, 0.25], np.float32)),
        "softcap": make_softcap(20.0),
        "relative bias": make_relative_bias(rng.standard_normal((H, 17)).astype(np.float32), 8),
    }
    runs = [(n, None, ws.create_block_mask(m, B, H, L, L)) for n, m in masks.items()]
    runs += [(n, s, None) for n, s in scores.items()]
    for name, score_mod, block_mask in runs:
        for target in ("gfx90a", "gfx942"):
            o = ws.flex_attention(
                q, k, v, score_mod, block_mask, target=target, device="sim", threads=2
            )
            print(f"{name:16} {target}  {float(np.abs(o.astype(np.float32)).mean()):.4f}")


if __name__ == "__main__":
    main()
