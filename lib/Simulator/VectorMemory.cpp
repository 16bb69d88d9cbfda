//===- VectorMemory.cpp - Global, flat, scratch and buffer access -------===//
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

// Operands: src[0] address VGPRs, src[1] data VGPRs, src[2] the scalar base or
// the buffer descriptor, src[3] the scalar offset of a buffer.

/// The addresses of all lanes, and how to reach the bytes behind them.
struct Addresses {
  uint64_t address[L];
  /// Scratch, where addresses are offsets in a lane's private memory.
  bool scratch = false;
  /// Flat: the aperture decides lane by lane.
  bool flat = false;
  /// Buffers: the first offset out of range for each lane.
  bool checked = false;
  uint64_t offset[L];
  uint64_t limit = 0;
  uint64_t laneInRange = ~uint64_t(0);
};

bool bufferAddresses(Wave &w, const Instruction &I, Addresses &out) {
  const uint32_t *d = &w.sgpr[I.src[2].index];
  uint64_t base = d[0] | (uint64_t(d[1] & 0xffffu) << 32);
  uint32_t stride = (d[1] >> 16) & 0x3fffu;
  bool swizzle = d[1] >> 31;
  bool addThread = (d[3] >> 23) & 1;
  uint32_t records = d[2];
  uint32_t scalarOffset = s32(w, I.src[3]);
  bool hasOffset = I.addressing == Addressing::BufferOffen ||
                   I.addressing == Addressing::BufferBothen;
  bool hasIndex = I.addressing == Addressing::BufferIdxen ||
                  I.addressing == Addressing::BufferBothen;
  const uint32_t *index = hasIndex ? w.vgpr[I.src[0].index] : nullptr;
  const uint32_t *offset =
      hasOffset ? w.vgpr[I.src[0].index + (hasIndex ? 1 : 0)] : nullptr;
  if (swizzle && addThread && base == scratchBase + w.scratchOffset) {
    if (scalarOffset % (4 * L) || hasIndex) {
      fail(w, "scratch is addressed with an index or with a scalar offset that "
              "is no multiple of 256");
      return false;
    }
    out.scratch = true;
    for (unsigned l = 0; l < L; ++l)
      out.address[l] = uint32_t((offset ? offset[l] : 0) + uint32_t(I.imm) +
                                scalarOffset / L);
    return true;
  }
  if (swizzle && addThread &&
      base - scratchBase < uint64_t(w.scratchPerLane) * L * 64) {
    fail(w, "the swizzled buffer descriptor does not point to the "
            "wavefront's scratch: its base is 0x" +
                llvm::Twine::utohexstr(base) + ", scratch is at 0x" +
                llvm::Twine::utohexstr(scratchBase + w.scratchOffset));
    return false;
  }
  // With ADD_TID the field of the data format extends the stride.
  if (addThread)
    stride |= ((d[3] >> 15) & 15) << 14;
  uint32_t elementBytes = 2u << ((d[3] >> 19) & 3);
  uint32_t indexStride = 8u << ((d[3] >> 21) & 3);
  out.checked = true;
  // Structured buffers count rows, others bytes.
  bool structured = stride && (hasIndex || addThread);
  out.limit = structured ? ~uint64_t(0) : records;
  for (unsigned l = 0; l < L; ++l) {
    uint64_t at = (offset ? offset[l] : 0u) + uint64_t(I.imm);
    uint64_t row = (index ? index[l] : 0) + uint64_t(addThread ? l : 0);
    if (structured && row >= records)
      out.laneInRange &= ~(uint64_t(1) << l);
    uint64_t linear = at + row * stride;
    if (swizzle)
      linear = (row / indexStride * stride + at / elementBytes * elementBytes) *
                   indexStride +
               row % indexStride * elementBytes + at % elementBytes;
    out.offset[l] = (structured ? at : linear) + scalarOffset;
    out.address[l] = base + scalarOffset + linear;
  }
  return true;
}

enum class Use { Read, Write, Atomic };

/// Notes the access of all active lanes, before it is done.
void note(Wave &w, const Instruction &I, const Addresses &a, unsigned bytes,
          Use use) {
  auto add = [&](AccessSpace space, uint64_t selected) {
    if (!selected)
      return;
    MemoryAccess &access = w.access->add(
        space, use != Use::Read, use == Use::Atomic,
        use == Use::Read || (use == Use::Atomic && I.returnsOld), bytes);
    access.lanes = selected;
    uint64_t offsetMask = a.flat && space != AccessSpace::Global
                              ? uint64_t(0xffffffffu)
                              : ~uint64_t(0);
    for (unsigned l = 0; l < L; ++l)
      access.address[l] = a.address[l] & offsetMask;
  };
  uint64_t global = w.exec, lds = 0, scratch = 0;
  if (a.scratch) {
    scratch = w.exec;
    global = 0;
  } else if (a.checked) {
    global &= a.laneInRange;
    for (unsigned l = 0; l < L; ++l)
      if (a.offset[l] >= a.limit)
        global &= ~(uint64_t(1) << l);
  } else if (a.flat) {
    for (unsigned l = 0; l < L; ++l) {
      uint32_t high = static_cast<uint32_t>(a.address[l] >> 32);
      lds |= uint64_t(high == sharedApertureHigh) << l;
      scratch |= uint64_t(high == privateApertureHigh) << l;
    }
    lds &= w.exec;
    scratch &= w.exec;
    global &= ~(lds | scratch);
  }
  add(AccessSpace::Global, global);
  add(AccessSpace::LDS, lds);
  add(AccessSpace::Scratch, scratch);
}

bool locate(Wave &w, const Instruction &I, Addresses &out) {
  if (I.space == Space::Buffer)
    return bufferAddresses(w, I, out);
  if (I.space == Space::Scratch) {
    out.scratch = true;
    uint32_t scalar = I.src[2].kind != OperandKind::None ? s32(w, I.src[2]) : 0;
    const uint32_t *v =
        I.src[0].kind != OperandKind::None ? w.vgpr[I.src[0].index] : nullptr;
    for (unsigned l = 0; l < L; ++l)
      out.address[l] = uint32_t((v ? v[l] : 0u) + scalar + uint32_t(I.imm));
    return true;
  }
  out.flat = I.space == Space::Flat;
  if (I.addressing == Addressing::SGPR) {
    uint64_t base = s64(w, I.src[2]) + uint64_t(I.imm);
    const uint32_t *v = w.vgpr[I.src[0].index];
    for (unsigned l = 0; l < L; ++l)
      out.address[l] = base + v[l];
    return true;
  }
  const uint32_t *low = w.vgpr[I.src[0].index];
  const uint32_t *high = w.vgpr[I.src[0].index + 1];
  for (unsigned l = 0; l < L; ++l)
    out.address[l] = (low[l] | (uint64_t(high[l]) << 32)) + uint64_t(I.imm);
  return true;
}

/// Fills in the addresses and, in an observed run, notes the access.
bool computeAddresses(Wave &w, const Instruction &I, Addresses &out,
                      unsigned bytes, Use use) {
  if (!locate(w, I, out))
    return false;
  if (w.access)
    note(w, I, out, bytes, use);
  return true;
}

/// Scratch is kept as the chips keep it: dword d of lane l at 256 d + 4 l.
uint8_t *scratchByte(Wave &w, unsigned lane, uint64_t offset) {
  return w.scratch + (offset / 4) * (4 * L) + 4 * lane + offset % 4;
}

/// Values of 1 to 4 bytes there, which need not be aligned: compilers merge
/// neighbouring accesses (LLVM's feature unaligned-scratch-access).
uint32_t readScratch(Wave &w, unsigned lane, uint64_t offset, unsigned bytes) {
  uint32_t value = 0;
  if (offset % 4 + bytes <= 4) {
    std::memcpy(&value, scratchByte(w, lane, offset), bytes);
    return value;
  }
  for (unsigned i = 0; i < bytes; ++i)
    value |= uint32_t(*scratchByte(w, lane, offset + i)) << (8 * i);
  return value;
}
void writeScratch(Wave &w, unsigned lane, uint64_t offset, unsigned bytes,
                  uint32_t value) {
  if (offset % 4 + bytes <= 4) {
    std::memcpy(scratchByte(w, lane, offset), &value, bytes);
    return;
  }
  for (unsigned i = 0; i < bytes; ++i)
    *scratchByte(w, lane, offset + i) = static_cast<uint8_t>(value >> (8 * i));
}

bool checkScratch(Wave &w, unsigned lane, uint64_t offset, unsigned bytes,
                  bool write) {
  if (offset + bytes > w.scratchPerLane) {
    uint64_t stack =
        w.scratchPerLane -
        std::min(w.scratchPerLane, w.group->code->privateSegmentSize);
    std::string ofThem;
    if (stack >= 4)
      ofThem = ", " + std::to_string(stack) +
               " of them for a stack that the compiler sets no bound to";
    failLane(w, static_cast<int>(lane),
             llvm::Twine(write ? "write" : "read") + " of " +
                 llvm::Twine(bytes) + " bytes at offset " +
                 llvm::Twine(offset) + " of private memory, which has " +
                 llvm::Twine(w.scratchPerLane) + " bytes" + ofThem);
    return false;
  }
  (write ? w.scratchBytesWritten : w.scratchBytesRead) += bytes;
  return true;
}

/// Where the bytes of one lane are.
struct Place {
  /// Null in private memory, and where a buffer ends before the first byte.
  uint8_t *host = nullptr;
  bool isPrivate = false;
  uint64_t privateOffset = 0;
  /// Dropped (store) or zero (load) because a buffer ends before.
  unsigned bytesInRange = ~0u;
};

/// Up to 4 bytes behind so many others; zero where a buffer has ended.
uint32_t readPlace(Wave &w, const Place &place, unsigned lane, unsigned at,
                   unsigned bytes) {
  if (place.isPrivate)
    return readScratch(w, lane, place.privateOffset + at, bytes);
  uint32_t value = 0;
  if (at + bytes <= place.bytesInRange)
    std::memcpy(&value, place.host + at, bytes);
  return value;
}
void writePlace(Wave &w, const Place &place, unsigned lane, unsigned at,
                unsigned bytes, uint32_t value) {
  if (place.isPrivate)
    writeScratch(w, lane, place.privateOffset + at, bytes, value);
  else if (at + bytes <= place.bytesInRange)
    std::memcpy(place.host + at, &value, bytes);
}

bool placeOf(Wave &w, const Addresses &a, unsigned lane, unsigned bytes,
             bool write, Place &place) {
  uint64_t address = a.address[lane];
  if (a.scratch) {
    if (!checkScratch(w, lane, address, bytes, write))
      return false;
    place.isPrivate = true;
    place.privateOffset = address;
    return true;
  }
  if (a.checked) {
    if (!((a.laneInRange >> lane) & 1) || a.offset[lane] >= a.limit) {
      place.bytesInRange = 0;
      return true;
    }
    uint64_t rest = a.limit - a.offset[lane];
    if (rest < bytes) {
      place.bytesInRange = static_cast<unsigned>(rest) & ~3u;
      if (!place.bytesInRange)
        return true;
      bytes = place.bytesInRange;
    }
  }
  if (a.flat) {
    uint32_t high = static_cast<uint32_t>(address >> 32);
    uint64_t offset = address & 0xffffffffu;
    if (high == sharedApertureHigh) {
      std::vector<uint8_t> &lds = w.group->lds;
      if (offset + bytes > lds.size()) {
        failLane(w, static_cast<int>(lane),
                 llvm::Twine("flat ") + (write ? "write" : "read") + " of " +
                     llvm::Twine(bytes) + " bytes at LDS offset " +
                     llvm::Twine(offset) + "; the workgroup has " +
                     llvm::Twine(lds.size()) + " bytes");
        return false;
      }
      place.host = lds.data() + offset;
      return true;
    }
    if (high == privateApertureHigh) {
      if (!checkScratch(w, lane, offset, bytes, write))
        return false;
      place.isPrivate = true;
      place.privateOffset = offset;
      return true;
    }
  }
  place.host = resolve(w, static_cast<int>(lane), address, bytes, write);
  if (!place.host)
    return false;
  (write ? w.globalBytesWritten : w.globalBytesRead) += bytes;
  return true;
}

//===----------------------------------------------------------------------===//
// All lanes at once
//===----------------------------------------------------------------------===//

/// The row of scratch that all active lanes access at the same offset of their
/// private memory, which is what compilers make of spills and arrays; null for
/// all else, errors included.
uint32_t *scratchRow(Wave &w, const Instruction &I, unsigned bytes,
                     bool write) {
  uint32_t scalar = static_cast<uint32_t>(I.imm);
  const uint32_t *vector = nullptr;
  if (I.space == Space::Scratch) {
    if (I.src[2].kind != OperandKind::None)
      scalar += s32(w, I.src[2]);
    if (I.src[0].kind != OperandKind::None)
      vector = w.vgpr[I.src[0].index];
  } else if (I.space == Space::Buffer &&
             (I.addressing == Addressing::BufferOffset ||
              I.addressing == Addressing::BufferOffen)) {
    const uint32_t *d = &w.sgpr[I.src[2].index];
    uint64_t base = d[0] | (uint64_t(d[1] & 0xffffu) << 32);
    bool swizzle = d[1] >> 31, addThread = (d[3] >> 23) & 1;
    uint32_t offset = s32(w, I.src[3]);
    if (!swizzle || !addThread || base != scratchBase + w.scratchOffset ||
        offset % (4 * L))
      return nullptr;
    scalar += offset / L;
    if (I.addressing == Addressing::BufferOffen)
      vector = w.vgpr[I.src[0].index];
  } else {
    return nullptr;
  }
  if (!w.exec)
    return nullptr;
  if (vector) {
    uint32_t first = vector[__builtin_ctzll(w.exec)], different = 0;
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      different |= (vector[l] ^ first) & w.execMask[l];
    if (different)
      return nullptr;
    scalar += first;
  }
  if (scalar % 4 || uint64_t(scalar) + bytes > w.scratchPerLane)
    return nullptr;
  (write ? w.scratchBytesWritten : w.scratchBytesRead) +=
      uint64_t(w.activeLanes) * bytes;
  return reinterpret_cast<uint32_t *>(w.scratch) + scalar / 4 * L;
}

/// Host memory to which the addresses are made relative, where all active lanes
/// access one region of global memory that was in use before; null for all
/// else.
uint8_t *commonRegion(Wave &w, Addresses &a, unsigned bytes, bool write) {
  if (a.scratch || !w.exec)
    return nullptr;
  if (a.checked && ((a.laneInRange & w.exec) != w.exec || a.limit < bytes ||
                    !allWithin<uint64_t>(w, a.offset, a.limit - bytes)))
    return nullptr;
  uint64_t first = a.address[__builtin_ctzll(w.exec)];
  for (const Region *region : w.recent) {
    if (!region || first - region->base >= region->size)
      continue;
    if ((write && !region->writable) || region->size < bytes)
      return nullptr;
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      a.address[l] -= region->base;
    if (allWithin<uint64_t>(w, a.address, region->size - bytes)) {
      (write ? w.globalBytesWritten : w.globalBytesRead) +=
          uint64_t(w.activeLanes) * bytes;
      return region->host;
    }
    for (unsigned l = 0; l < L; ++l)
      a.address[l] += region->base;
    return nullptr;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

// A lane whose access is bad is left out and the others go on: either the
// wavefront has failed and all is dropped, or the run tolerates it.

/// Loads so many dwords.
template <unsigned Dwords> void loadDwords(Wave &w, const Instruction &I) {
  Addresses a;
  if (w.access && !computeAddresses(w, I, a, 4 * Dwords, Use::Read))
    return;
  if (const uint32_t *row = scratchRow(w, I, 4 * Dwords, false)) {
    for (unsigned i = 0; i < Dwords; ++i)
      copyRow(w, w.vgpr[I.dst.index + i], row + i * L);
    return;
  }
  // An observed run has noted the access before.
  if (!w.access && !computeAddresses(w, I, a, 4 * Dwords, Use::Read))
    return;
  if (const uint8_t *host = commonRegion(w, a, 4 * Dwords, false)) {
    loadLanes<Dwords>(w, w.vgpr + I.dst.index, host, a.address);
    return;
  }
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Place place;
    if (!placeOf(w, a, l, 4 * Dwords, false, place))
      continue;
    for (unsigned i = 0; i < Dwords; ++i)
      d[i][l] = readPlace(w, place, l, 4 * i, 4);
  }
}

enum class Part { Whole, Low16, High16 };

/// Loads a byte or a short, extended, or into half of a register.
template <typename T, Part Where>
void loadSmall(Wave &w, const Instruction &I) {
  Addresses a;
  if (!computeAddresses(w, I, a, sizeof(T), Use::Read))
    return;
  uint32_t *d = w.vgpr[I.dst.index];
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Place place;
    if (!placeOf(w, a, l, sizeof(T), false, place))
      continue;
    T value = static_cast<T>(readPlace(w, place, l, 0, sizeof(T)));
    uint32_t extended = static_cast<uint32_t>(static_cast<int32_t>(value));
    if (Where == Part::Whole)
      d[l] = extended;
    else if (Where == Part::Low16)
      d[l] = (d[l] & 0xffff0000u) | (extended & 0xffffu);
    else
      d[l] = (d[l] & 0xffffu) | (extended << 16);
  }
}

template <unsigned Dwords> void storeDwords(Wave &w, const Instruction &I) {
  Addresses a;
  if (w.access && !computeAddresses(w, I, a, 4 * Dwords, Use::Write))
    return;
  if (uint32_t *row = scratchRow(w, I, 4 * Dwords, true)) {
    for (unsigned i = 0; i < Dwords; ++i)
      copyRow(w, row + i * L, w.vgpr[I.src[1].index + i]);
    return;
  }
  // An observed run has noted the access before.
  if (!w.access && !computeAddresses(w, I, a, 4 * Dwords, Use::Write))
    return;
  if (uint8_t *host = commonRegion(w, a, 4 * Dwords, true)) {
    storeLanes<Dwords>(w, w.vgpr + I.src[1].index, host, a.address);
    return;
  }
  uint32_t (*s)[L] = w.vgpr + I.src[1].index;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Place place;
    if (!placeOf(w, a, l, 4 * Dwords, true, place))
      continue;
    for (unsigned i = 0; i < Dwords; ++i)
      writePlace(w, place, l, 4 * i, 4, s[i][l]);
  }
}

template <typename T, unsigned Shift>
void storeSmall(Wave &w, const Instruction &I) {
  Addresses a;
  if (!computeAddresses(w, I, a, sizeof(T), Use::Write))
    return;
  const uint32_t *s = w.vgpr[I.src[1].index];
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Place place;
    if (!placeOf(w, a, l, sizeof(T), true, place))
      continue;
    writePlace(w, place, l, 0, sizeof(T), s[l] >> Shift);
  }
}

/// Loads a value a lane, extended to a dword, straight into LDS, at M0 + offset
/// + 4 lane.
template <typename T> void loadToLDS(Wave &w, const Instruction &I) {
  Addresses a;
  if (!computeAddresses(w, I, a, sizeof(T), Use::Read))
    return;
  uint64_t base = (w.sgpr[sgprM0] & 0xffffu) + uint64_t(I.imm);
  std::vector<uint8_t> &lds = w.group->lds;
  if (w.access) {
    MemoryAccess &access =
        w.access->add(AccessSpace::LDS, true, false, false, 4);
    access.lanes = w.exec;
    for (unsigned l = 0; l < L; ++l)
      access.address[l] = base + 4 * l;
  }
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Place place;
    if (!placeOf(w, a, l, sizeof(T), false, place))
      continue;
    T loaded = static_cast<T>(readPlace(w, place, l, 0, sizeof(T)));
    uint32_t value = static_cast<uint32_t>(loaded);
    uint64_t offset = base + 4 * l;
    if (offset + 4 > lds.size()) {
      failLane(w, static_cast<int>(l),
               "load to LDS offset " + llvm::Twine(offset) +
                   "; the workgroup has " + llvm::Twine(lds.size()) + " bytes");
      return;
    }
    std::memcpy(lds.data() + offset, &value, 4);
  }
}

/// The other way round.
void storeFromLDS(Wave &w, const Instruction &I) {
  Addresses a;
  if (!computeAddresses(w, I, a, 4, Use::Write))
    return;
  uint64_t base = (w.sgpr[sgprM0] & 0xffffu) + uint64_t(I.imm);
  std::vector<uint8_t> &lds = w.group->lds;
  if (w.access) {
    MemoryAccess &access =
        w.access->add(AccessSpace::LDS, false, false, false, 4);
    access.lanes = w.exec;
    for (unsigned l = 0; l < L; ++l)
      access.address[l] = base + 4 * l;
  }
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    uint64_t offset = base + 4 * l;
    if (offset + 4 > lds.size()) {
      failLane(w, static_cast<int>(l),
               "store from LDS offset " + llvm::Twine(offset) +
                   "; the workgroup has " + llvm::Twine(lds.size()) + " bytes");
      continue;
    }
    Place place;
    if (!placeOf(w, a, l, 4, true, place))
      continue;
    uint32_t value;
    std::memcpy(&value, lds.data() + offset, 4);
    writePlace(w, place, l, 0, 4, value);
  }
}

template <AtomicKind Kind, typename T>
void atomic(Wave &w, const Instruction &I) {
  Addresses a;
  if (!computeAddresses(w, I, a, sizeof(T), Use::Atomic))
    return;
  constexpr unsigned words = sizeof(T) / 4;
  uint32_t (*s)[L] = w.vgpr + I.src[1].index;
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    if (!a.scratch && a.address[l] % sizeof(T)) {
      failLane(w, static_cast<int>(l),
               "atomic access to address 0x" +
                   llvm::Twine::utohexstr(a.address[l]) +
                   ", which is no multiple of " + llvm::Twine(sizeof(T)),
               FaultKind::Misaligned);
      continue;
    }
    Place place;
    if (!placeOf(w, a, l, sizeof(T), true, place))
      continue;
    if (place.isPrivate) {
      failLane(w, static_cast<int>(l), "atomic access to private memory",
               FaultKind::Other);
      continue;
    }
    auto value = [&](unsigned first) {
      uint64_t bits = s[first][l];
      if (words == 2)
        bits |= uint64_t(s[first + 1][l]) << 32;
      return static_cast<T>(bits);
    };
    T data = value(0);
    // A compare-and-swap carries the new value first.
    T compare = Kind == AtomicKind::CompareSwap ? value(words) : T(0);
    T old = 0;
    if (place.host) {
      std::memcpy(&old, place.host, sizeof(T));
      T result = applyAtomic<Kind, T>(old, data, compare);
      std::memcpy(place.host, &result, sizeof(T));
    }
    if (I.returnsOld) {
      d[0][l] = static_cast<uint32_t>(old);
      if (words == 2)
        d[1][l] = static_cast<uint32_t>(uint64_t(old) >> 32);
    }
  }
}

} // namespace

void registerVectorMemory(OpcodeTable &table) {
  auto add = [&](const std::string &name, Handler handler, Category category) {
    // The decoder has split the addressing from the name.
    for (const char *space : {"GLOBAL_", "FLAT_", "SCRATCH_", "BUFFER_"})
      table.entries[space + name] = plainEntry(handler, category);
  };
  constexpr Category read = Category::VMEMRead, write = Category::VMEMWrite;
  add("LOAD_DWORD", &loadDwords<1>, read);
  add("LOAD_DWORDX2", &loadDwords<2>, read);
  add("LOAD_DWORDX3", &loadDwords<3>, read);
  add("LOAD_DWORDX4", &loadDwords<4>, read);
  add("LOAD_UBYTE", &loadSmall<uint8_t, Part::Whole>, read);
  add("LOAD_SBYTE", &loadSmall<int8_t, Part::Whole>, read);
  add("LOAD_USHORT", &loadSmall<uint16_t, Part::Whole>, read);
  add("LOAD_SSHORT", &loadSmall<int16_t, Part::Whole>, read);
  add("LOAD_UBYTE_D16", &loadSmall<uint8_t, Part::Low16>, read);
  add("LOAD_UBYTE_D16_HI", &loadSmall<uint8_t, Part::High16>, read);
  add("LOAD_SBYTE_D16", &loadSmall<int8_t, Part::Low16>, read);
  add("LOAD_SBYTE_D16_HI", &loadSmall<int8_t, Part::High16>, read);
  add("LOAD_SHORT_D16", &loadSmall<uint16_t, Part::Low16>, read);
  add("LOAD_SHORT_D16_HI", &loadSmall<uint16_t, Part::High16>, read);
  // LLVM puts LDS before the type for global and behind it for buffers.
#define LDS(NAME, TYPE)                                                        \
  add("LOAD_LDS_" NAME, &loadToLDS<TYPE>, read);                               \
  add("LOAD_" NAME "_LDS", &loadToLDS<TYPE>, read);
  LDS("DWORD", uint32_t)
  LDS("UBYTE", uint8_t)
  LDS("SBYTE", int8_t)
  LDS("USHORT", uint16_t)
  LDS("SSHORT", int16_t)
#undef LDS
  add("STORE_LDS_DWORD", &storeFromLDS, write);
  add("STORE_DWORD", &storeDwords<1>, write);
  add("STORE_DWORDX2", &storeDwords<2>, write);
  add("STORE_DWORDX3", &storeDwords<3>, write);
  add("STORE_DWORDX4", &storeDwords<4>, write);
  add("STORE_BYTE", &storeSmall<uint8_t, 0>, write);
  add("STORE_SHORT", &storeSmall<uint16_t, 0>, write);
  add("STORE_BYTE_D16_HI", &storeSmall<uint8_t, 16>, write);
  add("STORE_SHORT_D16_HI", &storeSmall<uint16_t, 16>, write);

#define ATOMIC(NAME, KIND)                                                     \
  add("ATOMIC_" NAME, &atomic<AtomicKind::KIND, uint32_t>,                     \
      Category::VMEMAtomic);                                                   \
  add("ATOMIC_" NAME "_X2", &atomic<AtomicKind::KIND, uint64_t>,               \
      Category::VMEMAtomic);
  FOR_INTEGER_ATOMICS(ATOMIC)
#undef ATOMIC
  add("ATOMIC_ADD_F32", &atomic<AtomicKind::FAdd, uint32_t>,
      Category::VMEMAtomic);
  add("ATOMIC_ADD_F64", &atomic<AtomicKind::FAdd, uint64_t>,
      Category::VMEMAtomic);
  add("ATOMIC_MIN_F64", &atomic<AtomicKind::FMin, uint64_t>,
      Category::VMEMAtomic);
  add("ATOMIC_MAX_F64", &atomic<AtomicKind::FMax, uint64_t>,
      Category::VMEMAtomic);
  add("ATOMIC_PK_ADD_F16", &atomic<AtomicKind::PackedAddF16, uint32_t>,
      Category::VMEMAtomic);
  add("ATOMIC_PK_ADD_BF16", &atomic<AtomicKind::PackedAddBF16, uint32_t>,
      Category::VMEMAtomic);
  for (const char *name : {"ADD_F32", "PK_ADD_F16", "PK_ADD_BF16"})
    for (const char *space : {"GLOBAL_", "FLAT_", "BUFFER_"})
      approximate(table, {(space + ("ATOMIC_" + std::string(name))).c_str()},
                  "denormals are kept; the adders of the caches may flush "
                  "them");
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
