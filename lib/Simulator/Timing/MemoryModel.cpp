//===- MemoryModel.cpp - Caches and bandwidth of a die -------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryModel.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

Cache::Cache(uint64_t bytes, uint64_t lineBytes, unsigned ways)
    : ways(ways),
      sets(bytes ? std::max<uint64_t>(1, bytes / lineBytes / ways) : 0),
      tags(sets * ways, 0) {}

/// Spreads lines over sets, as hardware does, so that strides of a power of
/// two do not fall on one set.
static uint64_t setOf(uint64_t line, uint64_t sets) {
  return (line ^ (line >> 7) ^ (line >> 15)) % sets;
}

bool Cache::access(uint64_t line, bool keep) {
  if (tags.empty())
    return false;
  uint64_t *set = &tags[setOf(line, sets) * ways];
  uint64_t tag = line + 1;
  unsigned i = 0;
  while (i < ways && set[i] != tag)
    ++i;
  bool hit = i < ways;
  if (!keep) {
    if (!hit)
      set[ways - 1] = tag;
    return hit;
  }
  for (unsigned k = hit ? i : ways - 1; k > 0; --k)
    set[k] = set[k - 1];
  set[0] = tag;
  return hit;
}

bool Cache::contains(uint64_t line) const {
  if (tags.empty())
    return false;
  const uint64_t *set = &tags[setOf(line, sets) * ways];
  return std::find(set, set + ways, line + 1) != set + ways;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

PrivateCaches::PrivateCaches(const TargetInfo &target)
    : vectorL1(target.vectorL1Bytes, target.vectorL1LineBytes, 16),
      scalarL1(target.scalarL1Bytes, 64, 4) {}

MemoryModel::MemoryModel(const TargetInfo &target,
                         const TimingParameters &parameters, unsigned busyCUs,
                         unsigned modelledCUs, uint32_t instructionCount)
    : target(target), p(parameters), own(target),
      // Of the die's L2 the modelled CUs have their part; so does the die of
      // the Infinity Cache.
      l2Cache(uint64_t(double(target.l2Bytes) / target.dies * modelledCUs /
                       (target.computeUnits / target.dies)),
              uint64_t(parameters.l2FetchBytes), 16),
      infinityCache(uint64_t(double(target.infinityCacheBytes) / target.dies *
                             modelledCUs / (target.computeUnits / target.dies)),
                    uint64_t(parameters.l2FetchBytes), 16),
      sharedLineBytes(uint64_t(parameters.l2FetchBytes)),
      l2Share(parameters.l2BytesPerCycle / busyCUs),
      infinityShare(parameters.infinityCacheBytesPerCycle / busyCUs),
      hbmShare(parameters.hbmBytesPerCycle / busyCUs), fates(instructionCount) {
}

void MemoryModel::linesOf(const MemoryAccess &access, uint64_t scratchAddress,
                          LineRequests &requests) const {
  bool scalar = access.space == AccessSpace::Scalar;
  uint64_t lineBytes = scalar ? 64 : target.vectorL1LineBytes;
  requests.write |= access.write;
  requests.atomic |= access.atomic;
  auto add = [&](uint64_t first, uint64_t bytes) {
    for (uint64_t line = first / lineBytes;
         line <= (first + bytes - 1) / lineBytes; ++line)
      // Neighbouring lanes mostly ask for the same line.
      if (requests.lines.empty() || requests.lines.back() != line)
        requests.lines.push_back(line);
  };
  if (!access.bytes)
    return;
  for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest);
    requests.bytes += access.bytes;
    uint64_t address = access.address[lane];
    if (access.space != AccessSpace::Scratch) {
      add(address, access.bytes);
      continue;
    }
    // Dword d of a lane lies at 256 d + 4 lane.
    for (unsigned byte = 0; byte < access.bytes; byte += 4)
      add(scratchAddress + (address + byte) / 4 * 256 + 4 * lane, 4);
  }
  llvm::sort(requests.lines);
  requests.lines.erase(llvm::unique(requests.lines), requests.lines.end());
}

MemoryModel::Level MemoryModel::lookUpShared(uint64_t line, Fate &fate,
                                             bool keep) {
  if (frozen && fate.requests) {
    auto owes = [](double &owed, uint64_t misses, uint64_t of) {
      owed += of ? double(misses) / double(of) : 0.0;
      if (owed < 1.0)
        return false;
      owed -= 1.0;
      return true;
    };
    if (!owes(fate.owedL2, fate.l2Misses, fate.requests))
      return Level::L2;
    if (infinityCache.isPresent() &&
        !owes(fate.owedInfinity, fate.infinityMisses, fate.l2Misses))
      return Level::InfinityCache;
    return Level::HBM;
  }
  ++fate.requests;
  ++stats.l2Accesses;
  // L2's policy STREAM for nontemporal accesses (LLVM, SIMemoryLegalizer).
  if (l2Cache.access(line, keep)) {
    ++stats.l2Hits;
    return Level::L2;
  }
  ++fate.l2Misses;
  if (infinityCache.isPresent()) {
    ++stats.infinityAccesses;
    if (infinityCache.access(line)) {
      ++stats.infinityHits;
      return Level::InfinityCache;
    }
  }
  ++fate.infinityMisses;
  return Level::HBM;
}

double MemoryModel::sharedAccess(double now, uint32_t instruction,
                                 uint64_t line, double bytes, bool write,
                                 bool keep) {
  Fate &fate = fates[instruction];
  Level level = lookUpShared(line, fate, keep);
  double begin = port.take(now, bytes / p.l2PortBytesPerCycle);
  begin = l2.take(begin, bytes / l2Share);
  stats.l2Requests += 1;
  // Of data that several CUs share, the one that asks first would pay for all:
  // each pays its part instead.
  double missShare =
      fate.requests ? double(fate.l2Misses) / double(fate.requests) : 0.0;
  double farShare =
      fate.requests ? double(fate.infinityMisses) / double(fate.requests) : 0.0;
  if (infinityCache.isPresent())
    begin = std::max(begin,
                     infinity.take(begin, bytes * missShare / infinityShare));
  begin = std::max(begin, hbm.take(begin, bytes * farShare / hbmShare));
  stats.l2Misses += missShare;
  (write ? stats.hbmBytesWritten : stats.hbmBytesRead) += bytes * farShare;
  switch (level) {
  case Level::L2:
    return begin + p.l2Latency;
  case Level::InfinityCache:
    return begin + p.infinityCacheLatency;
  case Level::HBM:
    return begin + p.hbmLatency;
  }
  return begin;
}

double MemoryModel::vectorAccess(double now, uint32_t instruction,
                                 const LineRequests &requests) {
  if (requests.lines.empty())
    return now + p.vectorL1Latency;
  double lineBytes = target.vectorL1LineBytes;
  double addressCycles =
      std::max(double(target.wavefrontSize) / p.addressesPerCycle,
               double(requests.lines.size()));
  double begin = addresses.take(now, addressCycles);
  double done = begin + p.vectorL1Latency;
  // Data goes back over one path, a line a request at most.
  double dataBytes =
      std::min(double(requests.bytes), lineBytes * requests.lines.size());
  double sent = data.take(begin, dataBytes / target.vectorL1BytesPerClock);
  done = std::max(done, sent + p.vectorL1Latency);
  bool through = requests.write || requests.atomic;
  uint64_t perLine = std::max<uint64_t>(1, uint64_t(target.vectorL1LineBytes) /
                                               sharedLineBytes);
  for (auto [i, line] : llvm::enumerate(requests.lines)) {
    if (!through) {
      ++stats.vectorAccesses;
      if (own.vectorL1.access(line)) {
        ++stats.vectorHits;
        continue;
      }
    }
    double asked = begin + double(i);
    // A place among the lines on order.
    if (ordered.size() >= std::max(1.0, p.outstandingLines)) {
      asked = std::max(asked, ordered.front());
      std::pop_heap(ordered.begin(), ordered.end(), std::greater<>());
      ordered.pop_back();
    }
    double back = asked;
    double bytes = through ? std::min(lineBytes, double(requests.bytes) /
                                                     requests.lines.size())
                           : lineBytes;
    for (uint64_t part = 0; part < perLine; ++part)
      back =
          std::max(back, sharedAccess(asked, instruction,
                                      line * lineBytes / sharedLineBytes + part,
                                      bytes / double(perLine), through,
                                      !requests.nonTemporal));
    ordered.push_back(back);
    std::push_heap(ordered.begin(), ordered.end(), std::greater<>());
    done = std::max(done, back);
  }
  return done;
}

double MemoryModel::scalarAccess(double now, uint32_t instruction,
                                 const LineRequests &requests) {
  double done = now + p.scalarL1Latency;
  for (uint64_t line : requests.lines) {
    ++stats.scalarAccesses;
    if (own.scalarL1.access(line)) {
      ++stats.scalarHits;
      continue;
    }
    done = std::max(done, sharedAccess(now, instruction,
                                       line * 64 / sharedLineBytes, 64,
                                       /*write=*/false));
  }
  return done;
}

void MemoryModel::neighbourAccess(PrivateCaches &caches, uint32_t instruction,
                                  const LineRequests &requests, bool scalar) {
  Fate &fate = fates[instruction];
  uint64_t lineBytes = scalar ? 64 : target.vectorL1LineBytes;
  uint64_t perLine = std::max<uint64_t>(1, lineBytes / sharedLineBytes);
  for (uint64_t line : requests.lines) {
    if (scalar ? caches.scalarL1.access(line)
               : !requests.write && caches.vectorL1.access(line))
      continue;
    for (uint64_t part = 0; part < perLine; ++part)
      lookUpShared(line * lineBytes / sharedLineBytes + part, fate,
                   !requests.nonTemporal);
  }
}
