//===- MFMA.cpp - Matrix instructions -------------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f64 and f32 products, which accumulate with one fused multiply-add for each k
// in rising order. EXEC is ignored. The narrow types round in ways of their own
// on each chip and are not here yet.
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

ALWAYS_INLINE double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
ALWAYS_INLINE float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// Where D[i][j] lives: an element (of sizeof(T)) of the lane's registers.
struct PlaceOfResult {
  unsigned element, lane;
};

template <typename T, unsigned N> PlaceOfResult placeOf(unsigned i, unsigned j);
template <> PlaceOfResult placeOf<double, 16>(unsigned i, unsigned j) {
  return {i / 4, 16 * (i % 4) + j};
}
template <> PlaceOfResult placeOf<float, 16>(unsigned i, unsigned j) {
  return {i % 4, 16 * (i / 4) + j};
}
template <> PlaceOfResult placeOf<float, 32>(unsigned i, unsigned j) {
  return {4 * (i / 8) + i % 4, 32 * ((i / 4) % 2) + j};
}

template <typename T>
ALWAYS_INLINE T elementOf(Wave &w, const Operand &o, unsigned element,
                          unsigned lane) {
  constexpr unsigned words = sizeof(T) / 4;
  T value;
  if (o.kind == OperandKind::VGPR) {
    uint32_t bits[words];
    for (unsigned i = 0; i < words; ++i)
      bits[i] = w.vgpr[o.index + words * element + i][lane];
    std::memcpy(&value, bits, sizeof(T));
  } else {
    uint64_t bits = s64(w, o);
    std::memcpy(&value, &bits, sizeof(T));
  }
  return value;
}

/// D = A B + C for N x N results and K products: A[i][k] in lane N k + i,
/// B[k][j] in lane N k + j.
template <typename T, unsigned N, unsigned K>
void multiply(Wave &w, const Instruction &I) {
  unsigned cbsz = static_cast<unsigned>(I.imm2);
  unsigned abid = static_cast<unsigned>(I.imm3);
  unsigned blgp = static_cast<unsigned>(I.target);
  bool isDouble = sizeof(T) == 8;
  if (cbsz || abid || (blgp && !isDouble)) {
    fail(w, "cbsz, abid and blgp of this matrix instruction are not modelled");
    return;
  }
  // For f64 blgp negates A, B and C.
  T signA = blgp & 1 ? -1 : 1, signB = blgp & 2 ? -1 : 1;
  T signC = blgp & 4 ? -1 : 1;
  T a[N][K], b[K][N], d[N][N];
  for (unsigned i = 0; i < N; ++i)
    for (unsigned k = 0; k < K; ++k) {
      a[i][k] = signA * elementOf<T>(w, I.src[0], 0, N * k + i);
      b[k][i] = signB * elementOf<T>(w, I.src[1], 0, N * k + i);
    }
  for (unsigned i = 0; i < N; ++i)
    for (unsigned j = 0; j < N; ++j) {
      PlaceOfResult place = placeOf<T, N>(i, j);
      d[i][j] = signC * elementOf<T>(w, I.src[2], place.element, place.lane);
    }
  for (unsigned i = 0; i < N; ++i)
    for (unsigned k = 0; k < K; ++k)
      for (unsigned j = 0; j < N; ++j)
        d[i][j] = fused(a[i][k], b[k][j], d[i][j]);
  constexpr unsigned words = sizeof(T) / 4;
  for (unsigned i = 0; i < N; ++i)
    for (unsigned j = 0; j < N; ++j) {
      PlaceOfResult place = placeOf<T, N>(i, j);
      uint32_t bits[words];
      std::memcpy(bits, &d[i][j], sizeof(T));
      for (unsigned s = 0; s < words; ++s)
        w.vgpr[I.dst.index + words * place.element + s][place.lane] = bits[s];
    }
}

} // namespace

void registerMFMA(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler) {
    table.entries[name] = plainEntry(handler, Category::MFMA);
  };
  add("V_MFMA_F64_16X16X4F64", &multiply<double, 16, 4>);
  add("V_MFMA_F32_16X16X4F32", &multiply<float, 16, 4>);
  add("V_MFMA_F32_32X32X2F32", &multiply<float, 32, 2>);
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
