//===- WavesmithAttentionOps.td - Attention ----------------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention as one operation, whose options all combine.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_ATTENTION_OPS_TD
#define WAVESMITH_ATTENTION_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"

def Wavesmith_AttentionLayout : I32EnumAttr<"AttentionLayout",
    "the order of the dimensions of q, k, v and o", [
      I32EnumAttrCase<"BSHD", 0, "bshd">,
      I32EnumAttrCase<"BHSD", 1, "bhsd">,
      I32EnumAttrCase<"THD", 2, "thd">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_AttentionLayoutAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_AttentionLayout,
               "attention_layout"> {
  let description = [{
    `bshd`: batch x sequence x heads x dim. `bhsd`: batch x heads x sequence x
    dim. `thd`: tokens x heads x dim, where the sequences of a batch are packed
    one behind the other and cumulative lengths tell them apart.
  }];
  let assemblyFormat = "$value";
}

def Wavesmith_DiagonalAlignment : I32EnumAttr<"DiagonalAlignment",
    "which corner of the scores the diagonal goes through", [
      I32EnumAttrCase<"TopLeft", 0, "top_left">,
      I32EnumAttrCase<"BottomRight", 1, "bottom_right">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_DiagonalAlignmentAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_DiagonalAlignment,
               "diagonal_alignment"> {
  let description = [{
    `top_left`: the first query is level with the first key. `bottom_right`:
    the last query is level with the last key. They differ where a sequence has
    not as many queries as keys.
  }];
  let assemblyFormat = "$value";
}

/// The element types of q, k and v.
def Wavesmith_AttentionInput : RankedTensorOf<[F32, F16, BF16, F8E4M3FNUZ]>;
/// What a region may read.
def Wavesmith_CapturedTensor : RankedTensorOf<[F32, F16, BF16, I32, I64]>;

def Wavesmith_AttentionGroup : OpDocGroup {
  let summary = "Attention";
  let description = "One operation, whose options all combine.";
}

def Wavesmith_AttentionOp : Wavesmith_Op<"attention",
    [Pure, IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "softmax(q k^T) v with masks, biases and regions";
  let description = [{
    Each query head h of each sequence b attends to key and value head
    g = h / (query heads / key heads) of the same sequence: multi-head, grouped
    and multi-query attention are one. With Lq queries i and Lk keys j in the
    sequence, counted from 0, and delta = Lk - Lq, the score of i and j is, in
    this order:

        s = scale * (descale_q * descale_k * sum_d q[i, d] * k[j, d])
        s = softcap * tanh(s / softcap)           with softcap
        s = s + bias[b, h, i, j]                  with bias
        s = s - slope[h] * |i + delta - j|        with alibi
        s = score(s, b, h, i, j)                  with a score region

    A pair takes part if all of these hold:

        causal top_left:        j <= i
        causal bottom_right:    j <= i + delta
        window [left, right]:   i + c - left <= j   unless left is -1
                                j <= i + c + right  unless right is -1
        mask(b, h, i, j) is true                  with a mask region

    where c is delta, or 0 where the window is aligned `top_left`. A window is
    aligned as `window_alignment` says, else as the causal mask is, else
    `bottom_right`. Its edges are inclusive, so `window [-1, 0]` is causal.

    Over the pairs of i that take part and whose s is not -inf:

        m = max_j s    l = sum_j exp(s - m)
        o[i, :] = descale_v * sum_j (exp(s - m) / l) * v[j, :]
        lse[i] = m + ln(l)

    A query without such a pair has o = 0 and lse = -inf; this is so as well
    where there is no key at all. A NaN or +inf among the scores that take part
    makes the row NaN. Keys and values of a pair that is masked, by whatever
    means, have no influence if they are finite; if they are not, the row is
    what the other pairs give, or NaN. Nothing past the end of a sequence has
    any influence, finite or not.

    Operands:

    - `q`, `k`, `v`: f32, f16, bf16 or f8E4M3FNUZ, all of one type, in the
      order that `layout` gives. Head dims are multiples of 8 from 16 to 256,
      that of v may differ from that of q and k. Numbers of heads and head dims
      are static; batch and lengths may be dynamic.
    - `bias`: f32, f16 or bf16, batch x query heads x Lq x Lk. Batch, heads and
      Lq may be a static 1, which stands for all. With `thd` the last two are
      at least the longest lengths and count from the start of each sequence.
    - `alibi`: f32, one slope a query head, `tensor<H x f32>`, or batch x
      heads. The distance counts from the bottom right corner.
    - `cumulative_lengths`: i32, for q and for k and v, with `thd` only: batch
      + 1 numbers that begin with 0 and ascend to at most the number of tokens.
      Sequence b has the tokens from number b to number b + 1, that one left
      out. Tokens past the last number belong to nobody: nothing reads them,
      their rows of o are 0 and of lse -inf.
    - `descale_q`, `descale_k`, `descale_v`: f32, for f8E4M3FNUZ; `tensor<1 x
      f32>` for all, or one a head of the tensor in question.
    - `captures`: what the regions read, f32, f16, bf16, i32 or i64.

    Regions: `score` takes the score (f32), batch, query head, i and j (index),
    then the captured tensors, and yields the new score (f32); `mask` the same
    without the score, and yields i1. They hold arith and math operations on
    scalars and `tensor.extract` of captured tensors. They may be evaluated
    for every pair, masked or not, and must be defined there: an index of
    tensor.extract must be clamped where it could leave the tensor. With `thd`
    i and j count from the start of the sequence.

    The attribute `schedule`, in the dictionary of attributes, says how it is
    mapped to the device; without it there is a default.

    The score and all that follows is computed in f32 at least; o is rounded to
    its type (f16, bf16 or f32) once. The order of the sums is free: results are
    held to an error bound against f64, not to bits. `o` has the shape of `q`
    with the head dim of `v`; `lse` is f32, batch x query heads x Lq, with `thd`
    query heads x tokens.

    Examples:

    ```mlir
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
        : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>

    // Packed documents: causal, no attention across a document's border.
    %o1, %lse = wavesmith.attention %q, %k, %v layout thd scale 0.125
        causal bottom_right window [1024, -1] softcap 30.0 alibi %slopes
        cumulative_lengths %of_q, %of_kv captures(%document)
        : (tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?x8x128xf16>, tensor<8xf32>,
           tensor<?xi32>, tensor<?xi32>, tensor<?x4096xi32>) -> (tensor<?x8x128xf32>, tensor<8x?xf32>)
        score {
        ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %ids: tensor<?x4096xi32>):
          %half = arith.constant 5.0e-01 : f32
          %next = arith.mulf %s, %half : f32
          wavesmith.yield %next : f32
        } mask {
        ^bb0(%b: index, %h: index, %i: index, %j: index, %ids: tensor<?x4096xi32>):
          %at_i = tensor.extract %ids[%b, %i] : tensor<?x4096xi32>
          %at_j = tensor.extract %ids[%b, %j] : tensor<?x4096xi32>
          %same = arith.cmpi eq, %at_i, %at_j : i32
          wavesmith.yield %same : i1
        }
    ```
  }];
  let arguments = (ins
    Wavesmith_AttentionInput:$q,
    Wavesmith_AttentionInput:$k,
    Wavesmith_AttentionInput:$v,
    Optional<4DTensorOf<[F32, F16, BF16]>>:$bias,
    Optional<RankedTensorOf<[F32]>>:$alibi,
    Optional<1DTensorOf<[I32]>>:$cumulative_q,
    Optional<1DTensorOf<[I32]>>:$cumulative_kv,
    Optional<1DTensorOf<[F32]>>:$descale_q,
    Optional<1DTensorOf<[F32]>>:$descale_k,
    Optional<1DTensorOf<[F32]>>:$descale_v,
    Variadic<Wavesmith_CapturedTensor>:$captures,
    Wavesmith_AttentionLayoutAttr:$layout,
    F64Attr:$scale,
    OptionalAttr<Wavesmith_DiagonalAlignmentAttr>:$causal,
    OptionalAttr<DenseI64ArrayAttr>:$window,
    OptionalAttr<Wavesmith_DiagonalAlignmentAttr>:$window_alignment,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Wavesmith_AttentionScheduleAttr>:$schedule);
  let results = (outs
    RankedTensorOf<[F32, F16, BF16]>:$o,
    Optional<RankedTensorOf<[F32]>>:$lse);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask);
  let assemblyFormat = [{
    $q `,` $k `,` $v `layout` `` $layout `scale` custom<PlainF64>($scale)
    (`causal` `` $causal^)? (`window` $window^)?
    (`window_alignment` `` $window_alignment^)?
    (`softcap` custom<PlainF64>($softcap)^)?
    (`bias` $bias^)? (`alibi` $alibi^)?
    (`cumulative_lengths` $cumulative_q^ `,` $cumulative_kv)?
    (`descale_q` $descale_q^)? (`descale_k` $descale_k^)?
    (`descale_v` $descale_v^)? (`captures` `(` $captures^ `)`)?
    attr-dict `:` functional-type(operands, results)
    (`score` $score^)? (`mask` $mask^)?
  }];
  let opDocGroup = Wavesmith_AttentionGroup;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether sequences are packed and told apart by cumulative lengths.
    bool isPacked() { return getLayout() == AttentionLayout::THD; }
    /// The dimension of q, k, v and o that holds heads, or positions; the batch
    /// is dimension 0 unless they are packed, the head dim is the last.
    unsigned getHeadsDimension() {
      return getLayout() == AttentionLayout::BSHD ? 2 : 1;
    }
    unsigned getSequenceDimension() {
      return getLayout() == AttentionLayout::BHSD ? 2
             : getLayout() == AttentionLayout::BSHD ? 1 : 0;
    }
    /// Queries' heads, and those of keys and values; the first is a multiple of
    /// the second.
    int64_t getNumQueryHeads();
    int64_t getNumKeyValueHeads();
    /// The head dim of q and k, and that of v and o.
    int64_t getHeadDim();
    int64_t getValueHeadDim();
    /// The type of the elements of q, k and v.
    ::mlir::Type getInputElementType();
    /// The edges of the window, -1 where there is none.
    int64_t getWindowLeft() { return getWindow() ? (*getWindow())[0] : -1; }
    int64_t getWindowRight() { return getWindow() ? (*getWindow())[1] : -1; }
    /// Where the window is aligned: as it says, as the causal mask is, or
    /// bottom right.
    DiagonalAlignment getEffectiveWindowAlignment() {
      return getWindowAlignment().value_or(
          getCausal().value_or(DiagonalAlignment::BottomRight));
    }
    bool hasScoreRegion() { return !getScore().empty(); }
    bool hasMaskRegion() { return !getMask().empty(); }

    /// The limits of head dims.
    static constexpr int64_t kMinHeadDim = 16;
    static constexpr int64_t kMaxHeadDim = 256;
    static constexpr int64_t kHeadDimMultiple = 8;
    /// Arguments of the regions before the captured tensors.
    static constexpr unsigned kNumScoreArguments = 5;
    static constexpr unsigned kNumMaskArguments = 4;
  }];
}

#endif // WAVESMITH_ATTENTION_OPS_TD
