//===- MemoryModel.h - Caches and bandwidth of a die ------------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The way of a request of the modelled compute unit (CU) through vector or
/// scalar L1, L2, Infinity Cache and HBM. Neighbouring CUs change the state of
/// the shared caches. Of the shared bandwidth, the modelled CU has its part:
/// that of the CUs which are busy.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_TIMING_MEMORYMODEL_H
#define WAVESMITH_LIB_SIMULATOR_TIMING_MEMORYMODEL_H

#include "../Observer.h"
#include "TimingParameters.h"
#include "llvm/ADT/SmallVector.h"

namespace wavesmith::sim {

/// A set-associative cache with least-recently-used replacement: only which
/// lines it holds.
class Cache {
public:
  Cache(uint64_t bytes, uint64_t lineBytes, unsigned ways);
  /// Whether the line was there; it is afterwards. One that is brought in
  /// without being kept is the first to be replaced.
  bool access(uint64_t line, bool keep = true);
  /// Whether the line is there.
  bool contains(uint64_t line) const;
  bool isPresent() const { return !tags.empty(); }

private:
  unsigned ways;
  uint64_t sets;
  /// Line + 1, 0 for an empty place; the most recent of a set first.
  std::vector<uint64_t> tags;
};

/// Something that serves requests one after the other.
class Server {
public:
  /// Takes a request at a time for so long, and returns when it begins.
  double take(double now, double duration) {
    double begin = now > freeAt ? now : freeAt;
    freeAt = begin + duration;
    busy += duration;
    return begin;
  }
  double freeTime() const { return freeAt; }
  double busyTime() const { return busy; }

private:
  double freeAt = 0, busy = 0;
};

/// The distinct lines that an instruction asks for.
struct LineRequests {
  llvm::SmallVector<uint64_t, 64> lines;
  uint64_t bytes = 0;
  bool write = false;
  bool atomic = false;
  bool nonTemporal = false;
};

/// What a CU has for itself.
struct PrivateCaches {
  PrivateCaches(const TargetInfo &target);
  Cache vectorL1, scalarL1;
};

class MemoryModel {
public:
  /// busyCUs: CUs of the device that share its bandwidth; modelledCUs: the
  /// CUs of the die that execute, whose part of L2 is modelled.
  MemoryModel(const TargetInfo &target, const TimingParameters &parameters,
              unsigned busyCUs, unsigned modelledCUs,
              uint32_t instructionCount);

  /// The lines behind the accesses of one space other than LDS. Scratch of
  /// the wavefront lies at scratchAddress.
  void linesOf(const MemoryAccess &access, uint64_t scratchAddress,
               LineRequests &requests) const;

  /// A vector access of the modelled CU at a time: when its data is back, or,
  /// for a store, when L2 has taken it.
  double vectorAccess(double now, uint32_t instruction,
                      const LineRequests &requests);
  double scalarAccess(double now, uint32_t instruction,
                      const LineRequests &requests);
  /// The same of a neighbour, which only leaves its trace in the caches.
  void neighbourAccess(PrivateCaches &caches, uint32_t instruction,
                       const LineRequests &requests, bool scalar);
  /// Neighbours have stopped: from now on, L2 hits as often as it did.
  void freezeShared() { frozen = true; }
  /// When the unit that takes vector addresses is free.
  double addressFreeTime() const { return addresses.freeTime(); }

  struct Statistics {
    uint64_t vectorHits = 0, vectorAccesses = 0;
    uint64_t scalarHits = 0, scalarAccesses = 0;
    uint64_t l2Hits = 0, l2Accesses = 0;
    uint64_t infinityHits = 0, infinityAccesses = 0;
    /// Of the modelled CU.
    double l2Requests = 0, l2Misses = 0, hbmBytesRead = 0, hbmBytesWritten = 0;
  };
  const Statistics &statistics() const { return stats; }
  double vectorL1Busy() const { return data.busyTime(); }
  double addressBusy() const { return addresses.busyTime(); }
  double l2Busy() const { return std::max(l2.busyTime(), port.busyTime()); }
  double infinityBusy() const { return infinity.busyTime(); }
  double hbmBusy() const { return hbm.busyTime(); }

private:
  /// How an instruction's requests fared in the shared caches, over all CUs.
  struct Fate {
    uint64_t requests = 0, l2Misses = 0, infinityMisses = 0;
    /// For choosing which requests miss after freezing.
    double owedL2 = 0, owedInfinity = 0;
  };
  enum class Level { L2, InfinityCache, HBM };
  Level lookUpShared(uint64_t line, Fate &fate, bool keep);
  /// From L1 on: when the data is back.
  double sharedAccess(double now, uint32_t instruction, uint64_t line,
                      double bytes, bool write, bool keep = true);

  const TargetInfo &target;
  const TimingParameters &p;
  PrivateCaches own;
  Cache l2Cache, infinityCache;
  uint64_t sharedLineBytes;
  double l2Share, infinityShare, hbmShare;
  bool frozen = false;
  std::vector<Fate> fates;
  Server addresses, data, port, l2, infinity, hbm;
  /// When lines on order arrive: the earliest decides when another may go.
  std::vector<double> ordered;
  Statistics stats;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_TIMING_MEMORYMODEL_H
