//===- LaneAccess.h - Accesses of all lanes at once -------------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Fast ways for vector memory and LDS: the bounds of all active lanes are
/// checked together, then the lanes are copied without a check. Whoever calls
/// them has a way that goes lane by lane for all other cases, and for errors.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_LANEACCESS_H
#define WAVESMITH_LIB_SIMULATOR_LANEACCESS_H

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {

/// Whether all 64 lanes lie behind each other in memory, each of so many bytes.
template <unsigned Bytes, typename Offset>
ALWAYS_INLINE bool isContiguous(Wave &w, const Offset *offset) {
  if (w.exec != ~uint64_t(0))
    return false;
  Offset different = 0;
  VECTORIZE
  for (unsigned l = 0; l < L; ++l)
    different |= offset[l] - offset[0] - Offset(Bytes * l);
  return different == 0;
}

/// Whether no active lane's offset is larger than most.
template <typename Offset>
ALWAYS_INLINE bool allWithin(Wave &w, const Offset *offset, Offset most) {
  Offset outside = 0;
  VECTORIZE
  for (unsigned l = 0; l < L; ++l) {
    // Sign-extended: all ones where the lane is active.
    Offset active = static_cast<Offset>(
        static_cast<int64_t>(static_cast<int32_t>(w.execMask[l])));
    outside |= offset[l] > most ? active : Offset(0);
  }
  return outside == 0;
}

/// Loads so many dwords for each active lane from host memory, whose bounds
/// have been checked.
template <unsigned Dwords, typename Offset>
ALWAYS_INLINE void loadLanes(Wave &w, uint32_t (*d)[L], const uint8_t *host,
                             const Offset *offset) {
  if (isContiguous<4 * Dwords>(w, offset)) {
    const uint8_t *from = host + offset[0];
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      for (unsigned i = 0; i < Dwords; ++i)
        __builtin_memcpy(&d[i][l], from + 4 * (Dwords * l + i), 4);
    return;
  }
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    for (unsigned i = 0; i < Dwords; ++i)
      __builtin_memcpy(&d[i][l], host + offset[l] + 4 * i, 4);
  }
}

/// Stores so many dwords; of lanes that write the same place the last one
/// stays, as in the loop lane by lane.
template <unsigned Dwords, typename Offset>
ALWAYS_INLINE void storeLanes(Wave &w, const uint32_t (*s)[L], uint8_t *host,
                              const Offset *offset) {
  if (isContiguous<4 * Dwords>(w, offset)) {
    uint8_t *to = host + offset[0];
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      for (unsigned i = 0; i < Dwords; ++i)
        __builtin_memcpy(to + 4 * (Dwords * l + i), &s[i][l], 4);
    return;
  }
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    for (unsigned i = 0; i < Dwords; ++i)
      __builtin_memcpy(host + offset[l] + 4 * i, &s[i][l], 4);
  }
}

/// Copies a dword of each active lane between rows of 64.
ALWAYS_INLINE void copyRow(Wave &w, uint32_t *to, const uint32_t *from) {
  if (w.exec == ~uint64_t(0)) {
    std::memmove(to, from, L * sizeof(uint32_t));
    return;
  }
  for (unsigned l = 0; l < L; l += 8)
    storeWords(to + l, blendWords(loadWords(from + l), loadWords(to + l),
                                  loadWords(w.execMask + l)));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT

#endif // WAVESMITH_LIB_SIMULATOR_LANEACCESS_H
