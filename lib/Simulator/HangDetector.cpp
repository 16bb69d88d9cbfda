//===- HangDetector.cpp - Loops in which nothing changes ----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HangDetector.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;
using namespace wavesmith::sim;

/// Instructions of the workgroup in either phase: longer loops are left to the
/// limit of instructions.
static constexpr uint64_t phaseInstructions = uint64_t(1) << 15;
/// Bytes of global memory that are followed, and of private memory.
static constexpr size_t mostWritten = size_t(1) << 16;
static constexpr size_t mostScratch = size_t(16) << 20;

void HangDetector::begin() {
  phase = Phase::Collecting;
  steps = 0;
  readsGlobal = false;
  written.clear();
}

bool HangDetector::note(const Wave &wave, const AccessRecord &record) {
  for (unsigned i = 0; i < record.count; ++i) {
    const MemoryAccess &access = record.access[i];
    if (access.space != AccessSpace::Global &&
        access.space != AccessSpace::Scalar)
      continue; // kept as a whole
    readsGlobal |= !access.write || access.atomic;
    if (!access.write)
      continue;
    for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
      uint64_t address = access.address[llvm::countr_zero(lanes)];
      for (unsigned byte = 0; byte < access.bytes; ++byte) {
        const Region *region = wave.group->memory->find(address + byte);
        if (!region)
          return false;
        const uint8_t *host = region->host + (address + byte - region->base);
        if (phase == Phase::Collecting)
          written.try_emplace(host, *host);
        else if (!written.count(host))
          return false;
      }
    }
  }
  return written.size() <= mostWritten;
}

void HangDetector::keep(ArrayRef<Wave> waves, const Wave &stepped,
                        ArrayRef<uint8_t> scratch) {
  anchor = stepped.numberInGroup;
  states.resize(waves.size());
  for (auto [wave, state] : zip(waves, states)) {
    std::memcpy(state.scalar, wave.sgpr, sizeof(state.scalar));
    state.vector.assign(&wave.vgpr[0][0],
                        &wave.vgpr[0][0] + temporaryBase * lanesPerWave);
    state.scc = wave.scc;
    state.gprIndexing = wave.gprIndexing;
    state.gprIndexMode = wave.gprIndexMode;
    state.status = wave.status;
    state.mode = wave.modeRegister;
    state.pc = wave.pc;
    state.clock = wave.clock;
  }
  lds = stepped.group->lds;
  scratchKept.assign(scratch.begin(), scratch.end());
  for (auto &[host, value] : written)
    value = *host;
}

bool HangDetector::same(ArrayRef<Wave> waves, ArrayRef<uint8_t> scratch) const {
  for (auto [wave, state] : zip(waves, states))
    if (wave.pc != state.pc || wave.status != state.status ||
        wave.scc != state.scc || wave.clock != state.clock ||
        wave.modeRegister != state.mode ||
        wave.gprIndexing != state.gprIndexing ||
        wave.gprIndexMode != state.gprIndexMode ||
        std::memcmp(wave.sgpr, state.scalar, sizeof(state.scalar)))
      return false;
  for (auto [wave, state] : zip(waves, states))
    if (std::memcmp(&wave.vgpr[0][0], state.vector.data(),
                    state.vector.size() * sizeof(uint32_t)))
      return false;
  return lds == waves.front().group->lds && scratch.equals(scratchKept) &&
         all_of(written,
                [](const auto &entry) { return *entry.first == entry.second; });
}

bool HangDetector::observe(ArrayRef<Wave> waves, const Wave &stepped,
                           ArrayRef<uint8_t> scratch,
                           const AccessRecord *record) {
  if ((record && !note(stepped, *record)) || scratch.size() > mostScratch) {
    stop();
    return false;
  }
  ++steps;
  if (phase == Phase::Collecting) {
    if (steps == phaseInstructions) {
      keep(waves, stepped, scratch);
      phase = Phase::Comparing;
      steps = 0;
    }
    return false;
  }
  if (stepped.numberInGroup == anchor && stepped.pc == states[anchor].pc &&
      same(waves, scratch))
    return true;
  if (steps >= phaseInstructions)
    stop();
  return false;
}
