//===- ScalarMemory.cpp - Scalar loads ----------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicOperation.h"
#include <algorithm>

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

void note(Wave &w, uint64_t address, unsigned bytes, bool write = false,
          bool atomic = false, bool returns = true) {
  MemoryAccess &access =
      w.access->add(AccessSpace::Scalar, write, atomic, returns, bytes);
  access.lanes = 1;
  access.address[0] = address;
}

/// src[0] is the base, src[1] the SGPR offset, imm the immediate one.
template <unsigned Dwords> void load(Wave &w, const Instruction &I) {
  uint64_t address = s64(w, I.src[0]) + static_cast<uint64_t>(I.imm);
  if (I.src[1].kind != OperandKind::None)
    address += s32(w, I.src[1]);
  if (address & 3) {
    failLane(
        w, -1,
        "scalar load from address 0x" + llvm::Twine::utohexstr(address) +
            ", which is no multiple of 4 (the hardware drops the low bits)",
        FaultKind::Misaligned);
    return;
  }
  if (w.access)
    note(w, address, 4 * Dwords);
  const uint8_t *host = resolve(w, -1, address, 4 * Dwords, false);
  if (!host)
    return;
  std::memcpy(&w.sgpr[I.dst.index], host, 4 * Dwords);
}

/// A load through a buffer descriptor: out of range reads give 0.
template <unsigned Dwords> void bufferLoad(Wave &w, const Instruction &I) {
  const uint32_t *descriptor = &w.sgpr[I.src[0].index];
  uint64_t base = descriptor[0] | (uint64_t(descriptor[1] & 0xffffu) << 32);
  uint32_t stride = (descriptor[1] >> 16) & 0x3fffu;
  uint64_t limit = uint64_t(descriptor[2]) * (stride ? stride : 1);
  uint64_t offset = static_cast<uint64_t>(I.imm);
  if (I.src[1].kind != OperandKind::None)
    offset += s32(w, I.src[1]);
  offset &= 0xffffffffu;
  if ((base + offset) & 3) {
    failLane(w, -1,
             "scalar buffer load from address 0x" +
                 llvm::Twine::utohexstr(base + offset) +
                 ", which is no multiple of 4",
             FaultKind::Misaligned);
    return;
  }
  if (w.access && offset < limit)
    note(w, base + offset,
         static_cast<unsigned>(
             std::min<uint64_t>(4 * Dwords, (limit - offset) & ~uint64_t(3))));
  for (unsigned i = 0; i < Dwords; ++i) {
    uint32_t value = 0;
    if (offset + 4 * i + 4 <= limit) {
      const uint8_t *host = resolve(w, -1, base + offset + 4 * i, 4, false);
      if (!host)
        return;
      std::memcpy(&value, host, 4);
    }
    w.sgpr[I.dst.index + i] = value;
  }
}

//===----------------------------------------------------------------------===//
// Stores and atomics
//===----------------------------------------------------------------------===//

/// The address of a scalar store or atomic; false, with the wavefront stopped,
/// where it is bad. Out of a buffer's range nothing happens: inRange is false.
bool scalarAddress(Wave &w, const Instruction &I, bool buffer, unsigned bytes,
                   uint64_t &address, bool &inRange) {
  uint64_t offset = static_cast<uint64_t>(I.imm);
  if (I.src[1].kind != OperandKind::None)
    offset += s32(w, I.src[1]);
  inRange = true;
  if (buffer) {
    const uint32_t *d = &w.sgpr[I.src[0].index];
    uint64_t base = d[0] | (uint64_t(d[1] & 0xffffu) << 32);
    uint32_t stride = (d[1] >> 16) & 0x3fffu;
    uint64_t limit = uint64_t(d[2]) * (stride ? stride : 1);
    offset &= 0xffffffffu;
    inRange = offset + bytes <= limit;
    address = base + offset;
  } else {
    address = s64(w, I.src[0]) + offset;
  }
  unsigned alignment = bytes < 8 || !I.isAtomic ? 4 : 8;
  if (address % alignment) {
    failLane(w, -1,
             llvm::Twine(I.isAtomic ? "scalar atomic" : "scalar store") +
                 " to address 0x" + llvm::Twine::utohexstr(address) +
                 ", which is no multiple of " + llvm::Twine(alignment),
             FaultKind::Misaligned);
    return false;
  }
  if (w.access && inRange)
    note(w, address, bytes, true, I.isAtomic, I.isAtomic && I.returnsOld);
  return true;
}

template <unsigned Dwords, bool Buffer>
void store(Wave &w, const Instruction &I) {
  uint64_t address;
  bool inRange;
  if (!scalarAddress(w, I, Buffer, 4 * Dwords, address, inRange) || !inRange)
    return;
  uint8_t *host = resolve(w, -1, address, 4 * Dwords, true);
  if (!host)
    return;
  std::memcpy(host, &w.sgpr[I.dst.index], 4 * Dwords);
}

template <AtomicKind Kind, typename T, bool Buffer>
void scalarAtomic(Wave &w, const Instruction &I) {
  uint64_t address;
  bool inRange;
  if (!scalarAddress(w, I, Buffer, sizeof(T), address, inRange))
    return;
  T data, compare = 0, old = 0;
  std::memcpy(&data, &w.sgpr[I.dst.index], sizeof(T));
  // A compare-and-swap carries the new value first.
  if (Kind == AtomicKind::CompareSwap)
    std::memcpy(&compare, &w.sgpr[I.dst.index + sizeof(T) / 4], sizeof(T));
  if (inRange) {
    uint8_t *host = resolve(w, -1, address, sizeof(T), true);
    if (!host)
      return;
    std::memcpy(&old, host, sizeof(T));
    T result = applyAtomic<Kind, T>(old, data, compare);
    std::memcpy(host, &result, sizeof(T));
  }
  if (I.returnsOld)
    std::memcpy(&w.sgpr[I.dst.index], &old, sizeof(T));
}

} // namespace

void registerScalarMemory(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler) {
    table.entries[name] = plainEntry(handler, Category::SMEM);
  };
  add("S_LOAD_DWORD", &load<1>);
  add("S_LOAD_DWORDX2", &load<2>);
  add("S_LOAD_DWORDX4", &load<4>);
  add("S_LOAD_DWORDX8", &load<8>);
  add("S_LOAD_DWORDX16", &load<16>);
  add("S_BUFFER_LOAD_DWORD", &bufferLoad<1>);
  add("S_BUFFER_LOAD_DWORDX2", &bufferLoad<2>);
  add("S_BUFFER_LOAD_DWORDX4", &bufferLoad<4>);
  add("S_BUFFER_LOAD_DWORDX8", &bufferLoad<8>);
  add("S_BUFFER_LOAD_DWORDX16", &bufferLoad<16>);
  add("S_STORE_DWORD", &store<1, false>);
  add("S_STORE_DWORDX2", &store<2, false>);
  add("S_STORE_DWORDX4", &store<4, false>);
  add("S_BUFFER_STORE_DWORD", &store<1, true>);
  add("S_BUFFER_STORE_DWORDX2", &store<2, true>);
  add("S_BUFFER_STORE_DWORDX4", &store<4, true>);
#define ATOMIC(NAME, KIND)                                                     \
  add("S_ATOMIC_" NAME, &scalarAtomic<AtomicKind::KIND, uint32_t, false>);     \
  add("S_ATOMIC_" NAME "_X2",                                                  \
      &scalarAtomic<AtomicKind::KIND, uint64_t, false>);                       \
  add("S_BUFFER_ATOMIC_" NAME,                                                 \
      &scalarAtomic<AtomicKind::KIND, uint32_t, true>);                        \
  add("S_BUFFER_ATOMIC_" NAME "_X2",                                           \
      &scalarAtomic<AtomicKind::KIND, uint64_t, true>);
  FOR_INTEGER_ATOMICS(ATOMIC)
#undef ATOMIC
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
