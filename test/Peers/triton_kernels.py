# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in the Triton language, compiled ahead of time without a GPU.

    python triton_kernels.py JOBS.json

JOBS.json is a list of {"kernel", "target", "signature", "constants", "options",
"output"}; each kernel's code object goes to its output, and what the launch has to
know (threads, LDS) to the file of the same name with the ending .json. "divisible",
where there is one, names the arguments that are multiples of 16, which Triton finds
out by itself where it launches a kernel: loads are wide and pipelined only then.
"""

import json
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(
        out_ptr + row * stride + offsets, numerator / tl.sum(numerator, axis=0), mask=mask
    )


@triton.jit
def layer_norm(
    x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, columns, epsilon,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        centred = tl.where(at < columns, x - mean, 0.0)
        squares += centred * centred
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + at, mask=mask)
        bias = tl.load(bias_ptr + at, mask=mask)
        tl.store(out_ptr + row * columns + at, (x - mean) * rstd * weight + bias, mask=mask)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr, ACCUMULATOR: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """C = A B; blocks are taken in groups of GROUP rows."""
    program = tl.program_id(0)
    blocks_m = tl.cdiv(m, BLOCK_M)
    blocks_n = tl.cdiv(n, BLOCK_N)
    in_group = GROUP * blocks_n
    first = program // in_group * GROUP
    rows = tl.minimum(blocks_m - first, GROUP)
    block_m = first + program % in_group % rows
    block_n = program % in_group // rows
    row = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    column = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    sum = tl.zeros([BLOCK_M, BLOCK_N], ACCUMULATOR)
    for start in range(0, k, BLOCK_K):
        at = start + inner
        a = tl.load(
            a_ptr + row[:, None] * stride_a + at[None, :],
            mask=(row[:, None] < m) & (at[None, :] < k), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + at[:, None] * stride_b + column[None, :],
            mask=(at[:, None] < k) & (column[None, :] < n), other=0.0,
        )  # fmt: skip
        sum = tl.dot(a, b, acc=sum, input_precision=PRECISION, out_dtype=ACCUMULATOR)
    tl.store(
        c_ptr + row[:, None] * stride_c + column[None, :],
        sum.to(c_ptr.dtype.element_ty),
        mask=(row[:, None] < m) & (column[None, :] < n),
    )


@triton.jit
def attend(
    acc, total, largest, q, k_ptr, v_ptr, row, scale, begin, end,
    BLOCK_N: tl.constexpr, D: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """One pass over the keys from begin to end with a running maximum, in powers
    of two."""
    inner = tl.arange(0, D)
    for start in range(begin, end, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + inner[:, None] + key[None, :] * D)
        score = tl.dot(q, k) * scale
        if MASKED:
            score = tl.where(row[:, None] >= key[None, :], score, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp2(score - new_largest[:, None])
        shrink = tl.exp2(largest - new_largest)
        total = total * shrink + tl.sum(weight, axis=1)
        v = tl.load(v_ptr + key[:, None] * D + inner[None, :])
        acc = tl.dot(weight.to(v.dtype), v, acc=acc * shrink[:, None])
        largest = new_largest
    return acc, total, largest


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, queries, keys,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """out = softmax(scale q k^T) v for [heads, length, D]; program (block, head)."""
    block = tl.program_id(0)
    head = tl.program_id(1)
    row = block * BLOCK_M + tl.arange(0, BLOCK_M)
    inner = tl.arange(0, D)
    q = tl.load(q_ptr + head * queries * D + row[:, None] * D + inner[None, :])
    k_head = k_ptr + head * keys * D
    v_head = v_ptr + head * keys * D
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    scale2 = scale * 1.4426950408889634
    if CAUSAL:
        diagonal = block * BLOCK_M
        acc, total, largest = attend(
            acc, total, largest, q, k_head, v_head, row, scale2, 0, diagonal, BLOCK_N, D, False
        )
        acc, total, largest = attend(
            acc, total, largest, q, k_head, v_head, row, scale2, diagonal, diagonal + BLOCK_M,
            BLOCK_N, D, True,
        )  # fmt: skip
    else:
        acc, total, largest = attend(
            acc, total, largest, q, k_head, v_head, row, scale2, 0, keys, BLOCK_N, D, False
        )
    tl.store(lse_ptr + head * queries + row, largest + tl.log2(total))
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head * queries * D + row[:, None] * D + inner[None, :], out)


@triton.jit
def combine(a, b):
    return a + b


@triton.jit
def scan(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.associative_scan(tl.load(x_ptr + at), 0, combine))


@triton.jit
def sort(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def histogram(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=at < n)


@triton.jit
def random_bits(out_ptr, seed, BLOCK: tl.constexpr):
    """Philox, four words a counter."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out_ptr + 4 * at, a)
    tl.store(out_ptr + 4 * at + 1, b)
    tl.store(out_ptr + 4 * at + 2, c)
    tl.store(out_ptr + 4 * at + 3, d)


@triton.jit
def functions(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """exp, log, sin, cos, sqrt, erf, rsqrt, sigmoid of each element, in rows."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.num_programs(0) * BLOCK
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + 0 * n + at, tl.exp(x))
    tl.store(out_ptr + 1 * n + at, tl.log(x))
    tl.store(out_ptr + 2 * n + at, tl.sin(x))
    tl.store(out_ptr + 3 * n + at, tl.cos(x))
    tl.store(out_ptr + 4 * n + at, tl.sqrt(x))
    tl.store(out_ptr + 5 * n + at, tl.erf(x))
    tl.store(out_ptr + 6 * n + at, tl.rsqrt(x))
    tl.store(out_ptr + 7 * n + at, tl.sigmoid(x))


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(
        out_ptr + column[:, None] * rows + row[None, :], tl.trans(x), mask=tl.trans(inside)
    )


@triton.jit
def quantize(x_ptr, out_ptr, BLOCK: tl.constexpr, TYPE: tl.constexpr):
    """To 8 bits and back; Triton sets FP16_OVFL where it does so."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, x.to(TYPE).to(tl.float32))


@triton.jit
def multiply_add(scale_a, offset_a, scale_b, offset_b):
    return scale_a * scale_b, offset_a * scale_b + offset_b


@triton.jit
def recurrence(scale_ptr, offset_ptr, out_ptr, BLOCK: tl.constexpr):
    """y[i] = scale[i] y[i - 1] + offset[i], as a scan of pairs."""
    at = tl.arange(0, BLOCK)
    _, y = tl.associative_scan(
        (tl.load(scale_ptr + at), tl.load(offset_ptr + at)), 0, multiply_add
    )
    tl.store(out_ptr + at, y)


@triton.jit
def rearranged(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Gathered along rows, interleaved with itself in reverse, and permuted."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), 1)
    both = tl.join(x, tl.flip(x, 1))
    flat = tl.reshape(tl.permute(both, (2, 1, 0)), (2 * ROWS * COLUMNS,))
    tl.store(out_ptr + tl.arange(0, 2 * ROWS * COLUMNS), flat)


@triton.jit
def exchanges(place_ptr, x_ptr, old_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.num_programs(0) * BLOCK
    x = tl.load(x_ptr + at)
    tl.store(old_ptr + at, tl.atomic_cas(place_ptr + at, tl.full([BLOCK], 7, tl.int32), x))
    tl.store(old_ptr + n + at, tl.atomic_xchg(place_ptr + at, x + 1))
    tl.atomic_max(place_ptr + n + (x & 15), x)


def compile_job(job: dict) -> None:
    function = globals()[job["kernel"]]
    constants = {
        name: getattr(tl, value) if name in ("ACCUMULATOR", "TYPE") else value
        for name, value in job["constants"].items()
    }
    signature = {
        name: "constexpr" if name in constants else job["signature"][name]
        for name in function.arg_names
    }
    attributes = {
        (function.arg_names.index(name),): [["tt.divisibility", 16]]
        for name in job.get("divisible", ())
    }
    source = ASTSource(
        fn=function, signature=signature, constexprs=constants, attrs=attributes
    )
    compiled = triton.compile(
        source, target=GPUTarget("hip", job["target"], 64), options=job["options"]
    )
    output = Path(job["output"])
    metadata = compiled.metadata
    output.with_suffix(".json").write_text(
        json.dumps(
            {
                "name": metadata.name,
                "block": metadata.num_warps * metadata.warp_size,
                "lds": metadata.shared,
                "version": triton.__version__,
            }
        )
    )
    # Renamed at the end: a file that is there is whole.
    temporary = output.with_suffix(".tmp")
    temporary.write_bytes(compiled.asm["hsaco"])
    temporary.rename(output)


if __name__ == "__main__":
    failures = 0
    for job in json.loads(Path(sys.argv[1]).read_text()):
        try:
            compile_job(job)
        except Exception as error:  # noqa: BLE001, each job by itself
            failures += 1
            Path(job["output"]).with_suffix(".err").write_text(f"{type(error).__name__}: {error}")
    sys.exit(1 if failures else 0)
