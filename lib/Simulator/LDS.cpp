//===- LDS.cpp - Local data share ---------------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicOperation.h"
#include "LaneAccess.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

// Operands: src[0] address, src[1] and src[2] data, imm and imm2 offsets.

/// Addresses wrap at 32 bits: LLVM folds offsets into negative bases.
ALWAYS_INLINE uint64_t ldsAddress(uint32_t base, int64_t offset) {
  return static_cast<uint32_t>(base + static_cast<uint32_t>(offset));
}

uint8_t *ldsPlace(Wave &w, unsigned lane, uint64_t offset, unsigned bytes,
                  bool write) {
  std::vector<uint8_t> &lds = w.group->lds;
  if (offset + bytes > lds.size()) {
    failLane(w, static_cast<int>(lane),
             llvm::Twine("out-of-bounds LDS ") + (write ? "write" : "read") +
                 " of " + llvm::Twine(bytes) + " bytes at offset " +
                 llvm::Twine(offset) + "; the workgroup has " +
                 llvm::Twine(lds.size()) + " bytes");
    return nullptr;
  }
  return lds.data() + offset;
}

/// Visits the active lanes, those after a bad access as well: either the
/// wavefront has failed and all is dropped, or the run tolerates it.
template <typename Function>
ALWAYS_INLINE void forActive(Wave &w, Function function) {
  for (uint64_t rest = w.exec; rest; rest &= rest - 1)
    function(static_cast<unsigned>(__builtin_ctzll(rest)));
}

enum class Use { Read, Write, Atomic };

/// Notes an access of all active lanes at M0 + offset + 4 lane.
void noteByLane(Wave &w, uint64_t base, Use use) {
  MemoryAccess &access = w.access->add(AccessSpace::LDS, use != Use::Read,
                                       false, use == Use::Read, 4);
  access.lanes = w.exec;
  for (unsigned l = 0; l < L; ++l)
    access.address[l] = base + 4 * l;
}

/// Notes an access of all active lanes, before it is done.
void note(Wave &w, const Instruction &I, int64_t offset, unsigned bytes,
          Use use) {
  const uint32_t *address = w.vgpr[I.src[0].index];
  MemoryAccess &access = w.access->add(
      AccessSpace::LDS, use != Use::Read, use == Use::Atomic,
      use == Use::Read || (use == Use::Atomic && I.returnsOld), bytes);
  access.lanes = w.exec;
  for (unsigned l = 0; l < L; ++l)
    access.address[l] = ldsAddress(address[l], offset);
}

/// The offsets of all lanes for an access of so many bytes; false where an
/// active lane's is out of bounds.
ALWAYS_INLINE bool offsetsWithin(Wave &w, const uint32_t *address,
                                 int64_t offset, unsigned bytes,
                                 uint32_t *offsets) {
  size_t size = w.group->lds.size();
  if (size < bytes)
    return false;
  VECTORIZE
  for (unsigned l = 0; l < L; ++l)
    offsets[l] = address[l] + static_cast<uint32_t>(offset);
  return allWithin(w, offsets, static_cast<uint32_t>(size - bytes));
}

template <unsigned Dwords> void readDwords(Wave &w, const Instruction &I) {
  if (w.access)
    note(w, I, I.imm, 4 * Dwords, Use::Read);
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  alignas(64) uint32_t offsets[L];
  if (offsetsWithin(w, address, I.imm, 4 * Dwords, offsets)) {
    loadLanes<Dwords>(w, d, w.group->lds.data(), offsets);
    return;
  }
  forActive(w, [&](unsigned l) {
    const uint8_t *p =
        ldsPlace(w, l, ldsAddress(address[l], I.imm), 4 * Dwords, false);
    if (!p)
      return;
    uint32_t values[Dwords];
    std::memcpy(values, p, sizeof(values));
    for (unsigned i = 0; i < Dwords; ++i)
      d[i][l] = values[i];
  });
}

enum class Part { Whole, Low16, High16 };

template <typename T, Part Where>
void readSmall(Wave &w, const Instruction &I) {
  if (w.access)
    note(w, I, I.imm, sizeof(T), Use::Read);
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t *d = w.vgpr[I.dst.index];
  forActive(w, [&](unsigned l) {
    const uint8_t *p =
        ldsPlace(w, l, ldsAddress(address[l], I.imm), sizeof(T), false);
    if (!p)
      return;
    T value;
    std::memcpy(&value, p, sizeof(T));
    uint32_t extended = static_cast<uint32_t>(static_cast<int32_t>(value));
    if (Where == Part::Whole)
      d[l] = extended;
    else if (Where == Part::Low16)
      d[l] = (d[l] & 0xffff0000u) | (extended & 0xffffu);
    else
      d[l] = (d[l] & 0xffffu) | (extended << 16);
  });
}

template <unsigned Dwords> void writeDwords(Wave &w, const Instruction &I) {
  if (w.access)
    note(w, I, I.imm, 4 * Dwords, Use::Write);
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*s)[L] = w.vgpr + I.src[1].index;
  alignas(64) uint32_t offsets[L];
  if (offsetsWithin(w, address, I.imm, 4 * Dwords, offsets)) {
    storeLanes<Dwords>(w, s, w.group->lds.data(), offsets);
    return;
  }
  forActive(w, [&](unsigned l) {
    uint8_t *p =
        ldsPlace(w, l, ldsAddress(address[l], I.imm), 4 * Dwords, true);
    if (!p)
      return;
    for (unsigned i = 0; i < Dwords; ++i)
      std::memcpy(p + 4 * i, &s[i][l], 4);
  });
}

template <typename T, unsigned Shift>
void writeSmall(Wave &w, const Instruction &I) {
  if (w.access)
    note(w, I, I.imm, sizeof(T), Use::Write);
  const uint32_t *address = w.vgpr[I.src[0].index];
  const uint32_t *s = w.vgpr[I.src[1].index];
  forActive(w, [&](unsigned l) {
    uint8_t *p = ldsPlace(w, l, ldsAddress(address[l], I.imm), sizeof(T), true);
    if (!p)
      return;
    T value = static_cast<T>(s[l] >> Shift);
    std::memcpy(p, &value, sizeof(T));
  });
}

/// Two elements; offsets count elements, or 64 of them.
template <unsigned Dwords, unsigned Scale>
void readTwo(Wave &w, const Instruction &I) {
  if (w.access) {
    note(w, I, I.imm * 4 * Dwords * Scale, 4 * Dwords, Use::Read);
    note(w, I, I.imm2 * 4 * Dwords * Scale, 4 * Dwords, Use::Read);
  }
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  alignas(64) uint32_t offsets[2][L];
  if (offsetsWithin(w, address, I.imm * 4 * Dwords * Scale, 4 * Dwords,
                    offsets[0]) &&
      offsetsWithin(w, address, I.imm2 * 4 * Dwords * Scale, 4 * Dwords,
                    offsets[1])) {
    for (unsigned e = 0; e < 2; ++e)
      loadLanes<Dwords>(w, d + e * Dwords, w.group->lds.data(), offsets[e]);
    return;
  }
  forActive(w, [&](unsigned l) {
    // The address may be one of the destinations.
    uint32_t base = address[l];
    uint64_t offsets[2] = {ldsAddress(base, I.imm * 4 * Dwords * Scale),
                           ldsAddress(base, I.imm2 * 4 * Dwords * Scale)};
    uint32_t values[2 * Dwords];
    for (unsigned e = 0; e < 2; ++e) {
      const uint8_t *p = ldsPlace(w, l, offsets[e], 4 * Dwords, false);
      if (!p)
        return;
      std::memcpy(values + e * Dwords, p, 4 * Dwords);
    }
    for (unsigned i = 0; i < 2 * Dwords; ++i)
      d[i][l] = values[i];
  });
}

template <unsigned Dwords, unsigned Scale>
void writeTwo(Wave &w, const Instruction &I) {
  if (w.access) {
    note(w, I, I.imm * 4 * Dwords * Scale, 4 * Dwords, Use::Write);
    note(w, I, I.imm2 * 4 * Dwords * Scale, 4 * Dwords, Use::Write);
  }
  const uint32_t *address = w.vgpr[I.src[0].index];
  alignas(64) uint32_t offsets[2][L];
  if (offsetsWithin(w, address, I.imm * 4 * Dwords * Scale, 4 * Dwords,
                    offsets[0]) &&
      offsetsWithin(w, address, I.imm2 * 4 * Dwords * Scale, 4 * Dwords,
                    offsets[1])) {
    uint8_t *lds = w.group->lds.data();
    const uint32_t (*s[2])[L] = {w.vgpr + I.src[1].index,
                                 w.vgpr + I.src[2].index};
    for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
      unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
      for (unsigned e = 0; e < 2; ++e)
        for (unsigned i = 0; i < Dwords; ++i)
          std::memcpy(lds + offsets[e][l] + 4 * i, &s[e][i][l], 4);
    }
    return;
  }
  forActive(w, [&](unsigned l) {
    uint64_t offsets[2] = {ldsAddress(address[l], I.imm * 4 * Dwords * Scale),
                           ldsAddress(address[l], I.imm2 * 4 * Dwords * Scale)};
    for (unsigned e = 0; e < 2; ++e) {
      uint8_t *p = ldsPlace(w, l, offsets[e], 4 * Dwords, true);
      if (!p)
        return;
      for (unsigned i = 0; i < Dwords; ++i)
        std::memcpy(p + 4 * i, &w.vgpr[I.src[1 + e].index + i][l], 4);
    }
  });
}

template <AtomicKind Kind, typename T>
void ldsAtomic(Wave &w, const Instruction &I) {
  if (w.access)
    note(w, I, I.imm, sizeof(T), Use::Atomic);
  constexpr unsigned words = sizeof(T) / 4;
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  auto value = [&](unsigned operand, unsigned l) {
    uint32_t (*s)[L] = w.vgpr + I.src[operand].index;
    uint64_t bits = s[0][l];
    if (words == 2)
      bits |= uint64_t(s[1][l]) << 32;
    return static_cast<T>(bits);
  };
  forActive(w, [&](unsigned l) {
    uint64_t offset = ldsAddress(address[l], I.imm);
    if (offset % sizeof(T)) {
      failLane(w, static_cast<int>(l),
               "atomic access to LDS offset " + llvm::Twine(offset) +
                   ", which is no multiple of " + llvm::Twine(sizeof(T)),
               FaultKind::Misaligned);
      return;
    }
    uint8_t *p = ldsPlace(w, l, offset, sizeof(T), true);
    if (!p)
      return;
    T old;
    std::memcpy(&old, p, sizeof(T));
    // DS compare-and-swap names the compared value first.
    constexpr bool compares =
        Kind == AtomicKind::CompareSwap || Kind == AtomicKind::FCompareSwap;
    constexpr bool two =
        compares || Kind == AtomicKind::MaskedOr || Kind == AtomicKind::Wrap;
    T data = value(compares ? 2 : 1, l);
    T compare = two ? value(compares ? 1 : 2, l) : T(0);
    T result = applyAtomic<Kind, T>(old, data, compare);
    std::memcpy(p, &result, sizeof(T));
    if (I.returnsOld) {
      d[0][l] = static_cast<uint32_t>(old);
      if (words == 2)
        d[1][l] = static_cast<uint32_t>(uint64_t(old) >> 32);
    }
  });
}

/// The address is M0 + offset + 4 lane.
void readByLane(Wave &w, const Instruction &I) {
  uint64_t base = (w.sgpr[sgprM0] & 0xffffu) + uint64_t(I.imm);
  uint32_t *d = w.vgpr[I.dst.index];
  if (w.access)
    noteByLane(w, base, Use::Read);
  forActive(w, [&](unsigned l) {
    const uint8_t *p = ldsPlace(w, l, base + 4 * l, 4, false);
    if (!p)
      return;
    std::memcpy(&d[l], p, 4);
  });
}
void writeByLane(Wave &w, const Instruction &I) {
  uint64_t base = (w.sgpr[sgprM0] & 0xffffu) + uint64_t(I.imm);
  const uint32_t *s = w.vgpr[I.src[0].index];
  if (w.access)
    noteByLane(w, base, Use::Write);
  forActive(w, [&](unsigned l) {
    uint8_t *p = ldsPlace(w, l, base + 4 * l, 4, true);
    if (!p)
      return;
    std::memcpy(p, &s[l], 4);
  });
}

/// Adds or subtracts the number of active lanes at M0 + offset, once for the
/// wavefront; all active lanes get the old value.
template <bool Append> void countActive(Wave &w, const Instruction &I) {
  uint64_t offset = ldsAddress(w.sgpr[sgprM0], I.imm);
  uint32_t *d = w.vgpr[I.dst.index];
  if (!w.exec)
    return;
  unsigned first = static_cast<unsigned>(__builtin_ctzll(w.exec));
  if (w.access) {
    MemoryAccess &access = w.access->add(AccessSpace::LDS, true, true, true, 4);
    access.lanes = uint64_t(1) << first;
    access.address[first] = offset;
  }
  if (offset % 4) {
    failLane(w, static_cast<int>(first),
             "atomic access to LDS offset " + llvm::Twine(offset) +
                 ", which is no multiple of 4",
             FaultKind::Misaligned);
    return;
  }
  uint8_t *p = ldsPlace(w, first, offset, 4, true);
  if (!p)
    return;
  uint32_t old;
  std::memcpy(&old, p, 4);
  uint32_t result = Append ? old + w.activeLanes : old - w.activeLanes;
  std::memcpy(p, &result, 4);
  forActive(w, [&](unsigned l) { d[l] = old; });
}

/// Two exchanges; offsets count elements, or 64 of them.
template <unsigned Dwords, unsigned Scale>
void exchangeTwo(Wave &w, const Instruction &I) {
  if (w.access) {
    note(w, I, I.imm * 4 * Dwords * Scale, 4 * Dwords, Use::Atomic);
    note(w, I, I.imm2 * 4 * Dwords * Scale, 4 * Dwords, Use::Atomic);
  }
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  forActive(w, [&](unsigned l) {
    uint32_t base = address[l];
    uint64_t offsets[2] = {ldsAddress(base, I.imm * 4 * Dwords * Scale),
                           ldsAddress(base, I.imm2 * 4 * Dwords * Scale)};
    uint8_t *p[2];
    uint32_t old[2][Dwords], data[2][Dwords];
    for (unsigned e = 0; e < 2; ++e) {
      p[e] = ldsPlace(w, l, offsets[e], 4 * Dwords, true);
      if (!p[e])
        return;
      std::memcpy(old[e], p[e], 4 * Dwords);
      for (unsigned i = 0; i < Dwords; ++i)
        data[e][i] = w.vgpr[I.src[1 + e].index + i][l];
    }
    for (unsigned e = 0; e < 2; ++e) {
      std::memcpy(p[e], data[e], 4 * Dwords);
      for (unsigned i = 0; i < Dwords; ++i)
        d[e * Dwords + i][l] = old[e][i];
    }
  });
}

/// Writes each dword of the data whose top bit is set, without that bit.
void conditionalExchange(Wave &w, const Instruction &I) {
  if (w.access) {
    note(w, I, I.imm, 8, Use::Atomic);
    for (uint64_t &address : w.access->access[w.access->count - 1].address)
      address &= 0xfff8u;
  }
  const uint32_t *address = w.vgpr[I.src[0].index];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  forActive(w, [&](unsigned l) {
    uint64_t offset = ldsAddress(address[l], I.imm) & 0xfff8u;
    uint8_t *p = ldsPlace(w, l, offset, 8, true);
    if (!p)
      return;
    for (unsigned i = 0; i < 2; ++i) {
      uint32_t data = w.vgpr[I.src[1].index + i][l], old;
      std::memcpy(&old, p + 4 * i, 4);
      if (data >> 31) {
        data &= 0x7fffffffu;
        std::memcpy(p + 4 * i, &data, 4);
      }
      d[i][l] = old;
    }
  });
}

void noOperation(Wave &, const Instruction &) {}

} // namespace

void registerLDS(OpcodeTable &table) {
  auto add = [&](const std::string &name, Handler handler) {
    table.entries[name] = plainEntry(handler, Category::LDS);
  };
  add("DS_READ_B32", &readDwords<1>);
  add("DS_READ_B64", &readDwords<2>);
  add("DS_READ_B96", &readDwords<3>);
  add("DS_READ_B128", &readDwords<4>);
  add("DS_READ_U8", &readSmall<uint8_t, Part::Whole>);
  add("DS_READ_I8", &readSmall<int8_t, Part::Whole>);
  add("DS_READ_U16", &readSmall<uint16_t, Part::Whole>);
  add("DS_READ_I16", &readSmall<int16_t, Part::Whole>);
  add("DS_READ_U8_D16", &readSmall<uint8_t, Part::Low16>);
  add("DS_READ_U8_D16_HI", &readSmall<uint8_t, Part::High16>);
  add("DS_READ_I8_D16", &readSmall<int8_t, Part::Low16>);
  add("DS_READ_I8_D16_HI", &readSmall<int8_t, Part::High16>);
  add("DS_READ_U16_D16", &readSmall<uint16_t, Part::Low16>);
  add("DS_READ_U16_D16_HI", &readSmall<uint16_t, Part::High16>);
  add("DS_WRITE_B32", &writeDwords<1>);
  add("DS_WRITE_B64", &writeDwords<2>);
  add("DS_WRITE_B96", &writeDwords<3>);
  add("DS_WRITE_B128", &writeDwords<4>);
  add("DS_WRITE_B8", &writeSmall<uint8_t, 0>);
  add("DS_WRITE_B16", &writeSmall<uint16_t, 0>);
  add("DS_WRITE_B8_D16_HI", &writeSmall<uint8_t, 16>);
  add("DS_WRITE_B16_D16_HI", &writeSmall<uint16_t, 16>);
  add("DS_READ2_B32", &readTwo<1, 1>);
  add("DS_READ2_B64", &readTwo<2, 1>);
  add("DS_READ2ST64_B32", &readTwo<1, 64>);
  add("DS_READ2ST64_B64", &readTwo<2, 64>);
  add("DS_WRITE2_B32", &writeTwo<1, 1>);
  add("DS_WRITE2_B64", &writeTwo<2, 1>);
  add("DS_WRITE2ST64_B32", &writeTwo<1, 64>);
  add("DS_WRITE2ST64_B64", &writeTwo<2, 64>);

#define ATOMIC(NAME, TYPE32, TYPE64, KIND)                                     \
  add("DS_" NAME "_" TYPE32, &ldsAtomic<AtomicKind::KIND, uint32_t>);          \
  add("DS_" NAME "_RTN_" TYPE32, &ldsAtomic<AtomicKind::KIND, uint32_t>);      \
  add("DS_" NAME "_" TYPE64, &ldsAtomic<AtomicKind::KIND, uint64_t>);          \
  add("DS_" NAME "_RTN_" TYPE64, &ldsAtomic<AtomicKind::KIND, uint64_t>);
  ATOMIC("ADD", "U32", "U64", Add)
  ATOMIC("SUB", "U32", "U64", Sub)
  ATOMIC("RSUB", "U32", "U64", ReverseSub)
  ATOMIC("INC", "U32", "U64", Inc)
  ATOMIC("DEC", "U32", "U64", Dec)
  ATOMIC("MIN", "I32", "I64", SMin)
  ATOMIC("MAX", "I32", "I64", SMax)
  ATOMIC("MIN", "U32", "U64", UMin)
  ATOMIC("MAX", "U32", "U64", UMax)
  ATOMIC("AND", "B32", "B64", And)
  ATOMIC("OR", "B32", "B64", Or)
  ATOMIC("XOR", "B32", "B64", Xor)
  ATOMIC("CMPST", "B32", "B64", CompareSwap)
  ATOMIC("WRXCHG", "B32", "B64", Swap)
  ATOMIC("ADD", "F32", "F64", FAdd)
  ATOMIC("MIN", "F32", "F64", FMin)
  ATOMIC("MAX", "F32", "F64", FMax)
  ATOMIC("CMPST", "F32", "F64", FCompareSwap)
  ATOMIC("MSKOR", "B32", "B64", MaskedOr)
#undef ATOMIC
  add("DS_WRAP_RTN_B32", &ldsAtomic<AtomicKind::Wrap, uint32_t>);
  add("DS_PK_ADD_F16", &ldsAtomic<AtomicKind::PackedAddF16, uint32_t>);
  add("DS_PK_ADD_RTN_F16", &ldsAtomic<AtomicKind::PackedAddF16, uint32_t>);
  add("DS_PK_ADD_BF16", &ldsAtomic<AtomicKind::PackedAddBF16, uint32_t>);
  add("DS_PK_ADD_RTN_BF16", &ldsAtomic<AtomicKind::PackedAddBF16, uint32_t>);
  add("DS_WRXCHG2_RTN_B32", &exchangeTwo<1, 1>);
  add("DS_WRXCHG2_RTN_B64", &exchangeTwo<2, 1>);
  add("DS_WRXCHG2ST64_RTN_B32", &exchangeTwo<1, 64>);
  add("DS_WRXCHG2ST64_RTN_B64", &exchangeTwo<2, 64>);
  add("DS_CONDXCHG32_RTN_B64", &conditionalExchange);
  add("DS_READ_ADDTID_B32", &readByLane);
  add("DS_WRITE_ADDTID_B32", &writeByLane);
  add("DS_APPEND", &countActive<true>);
  add("DS_CONSUME", &countActive<false>);
  add("DS_NOP", &noOperation);
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
