//===- WorkgroupExecution.cpp - One workgroup at a time -----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkgroupExecution.h"
#include "SourceLines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace wavesmith::sim;

/// Wavefronts of a workgroup take turns after so many instructions, so that
/// one that waits for another through memory does not wait for ever.
static constexpr uint64_t turn = 1 << 20;

WorkgroupExecution::WorkgroupExecution(const Dispatch &dispatch,
                                       Observer *observer)
    : dispatch(dispatch), observer(observer), waveStates(dispatch.waves),
      registers(dispatch.waves), hits(dispatch.image.instructions.size(), 0),
      alone(dispatch.workgroups == 1) {
  for (auto &file : registers)
    file.reset(new Registers);
  scratch.resize(size_t(dispatch.waves) * dispatch.scratchPerLane *
                 lanesPerWave);
}

void WorkgroupExecution::setUp(Wave &w, uint32_t index) {
  const KernelCode &code = dispatch.code;
  const auto &p = dispatch.parameters;
  const std::array<uint32_t, 3> &id = currentID;
  bool gfx942 = dispatch.image.isGfx942();
  w = Wave();
  w.vgpr = registers[index]->words;
  std::fill(&w.vgpr[0][0], &w.vgpr[0][0] + vectorRegisters * lanesPerWave,
            poisonWord);
  std::fill(std::begin(w.sgpr), std::end(w.sgpr), poisonWord);
  w.group = &group;
  w.numberInGroup = index;
  w.pc = dispatch.entry;
  w.scratchPerLane = dispatch.scratchPerLane;
  uint64_t waveScratch = uint64_t(dispatch.scratchPerLane) * lanesPerWave;
  w.scratch = scratch.data() + index * waveScratch;
  w.scratchOffset = index * waveScratch;

  // MODE: round [3:0], denormals [7:4], DX10 clamp 8, IEEE 9, FP16_OVFL 23.
  setMode(w, ((code.rsrc1 >> 12) & 0xff) | (((code.rsrc1 >> 21) & 1) << 8) |
                 (((code.rsrc1 >> 23) & 1) << 9) |
                 (((code.rsrc1 >> 26) & 1) << 23));

  // User SGPRs in their order.
  unsigned next = 0;
  auto add64 = [&](uint64_t value) {
    w.write64(next, value);
    next += 2;
  };
  auto enabled = [&](unsigned bit) { return (code.properties >> bit) & 1; };
  if (enabled(
          amdhsa::
              KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER_SHIFT)) {
    // A swizzled descriptor that adds the lane: 64 lanes of 4 bytes.
    add64(scratchBase | (uint64_t(1) << 63));
    add64(0xffffffffu | (uint64_t((1u << 23) | (3u << 21) | (4u << 15)) << 32));
  }
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR_SHIFT))
    add64(dispatch.packetAddress);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR_SHIFT))
    add64(addressOfHostService(HostService::Queue));
  if (enabled(
          amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR_SHIFT))
    add64(dispatch.kernargAddress);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID_SHIFT))
    add64(0);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT_SHIFT))
    add64(scratchBase);
  if (enabled(
          amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE_SHIFT))
    w.sgpr[next++] = dispatch.scratchPerLane;
  // Preloaded kernel arguments: length and offset in dwords.
  unsigned preloadLength = code.kernargPreload & 0x7f;
  unsigned preloadOffset = code.kernargPreload >> 7;
  for (unsigned i = 0; i < preloadLength; ++i) {
    size_t at = 4 * size_t(preloadOffset + i);
    if (at + 4 <= dispatch.kernarg.size())
      std::memcpy(&w.sgpr[next], &dispatch.kernarg[at], 4);
    ++next;
  }
  next = (code.rsrc2 >> 1) & 31;
  for (unsigned d = 0; d < 3; ++d)
    if ((code.rsrc2 >> (7 + d)) & 1)
      w.sgpr[next++] = id[d];
  if ((code.rsrc2 >> 10) & 1)
    w.sgpr[next++] = 0;
  if (!gfx942 && (code.rsrc2 & 1))
    w.sgpr[next++] = static_cast<uint32_t>(w.scratchOffset);
  if (gfx942)
    w.write64(sgprFlatScratch, scratchBase + w.scratchOffset);
  w.write64(sgprVCC, 0);
  w.sgpr[sgprM0] = 0;

  // v0 holds x, y and z in 10 bits each.
  uint32_t active =
      std::min(lanesPerWave, dispatch.threads - index * lanesPerWave);
  uint64_t exec =
      active == lanesPerWave ? ~uint64_t(0) : (uint64_t(1) << active) - 1;
  w.write64(sgprEXEC, exec);
  w.exec = ~exec; // makes the first use unpack it
  for (uint32_t l = 0; l < active; ++l) {
    uint32_t flat = index * lanesPerWave + l;
    uint32_t x = flat % p.workgroup[0];
    uint32_t y = flat / p.workgroup[0] % p.workgroup[1];
    uint32_t z = flat / p.workgroup[0] / p.workgroup[1];
    w.vgpr[0][l] = x | (y << 10) | (z << 20);
  }
}

void WorkgroupExecution::begin(uint64_t number) {
  const auto &p = dispatch.parameters;
  currentNumber = number;
  currentID = {static_cast<uint32_t>(number % p.grid[0]),
               static_cast<uint32_t>(number / p.grid[0] % p.grid[1]),
               static_cast<uint32_t>(number / p.grid[0] / p.grid[1])};
  auto poison = [](std::vector<uint8_t> &bytes) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4)
      std::memcpy(&bytes[i], &poisonWord, 4);
  };
  group.lds.resize(dispatch.ldsBytes);
  poison(group.lds);
  poison(scratch);
  group.object = &dispatch.image;
  group.code = &dispatch.code;
  group.memory = &dispatch.view;
  group.imageBase = dispatch.imageBase;
  group.hits = hits.data();
  limit = group.remaining =
      p.maxInstructions ? p.maxInstructions : ~uint64_t(0);
  nextWatch = HangDetector::firstWatch;
  detector.stop();
  hanging = false;
  failedWave = nullptr;
  for (uint32_t i = 0; i < dispatch.waves; ++i)
    setUp(waveStates[i], i);
  if (!observer)
    return;
  record.tolerant = observer->tolerant();
  observer->workgroupBegin(*this);
  for (Wave &wave : waveStates) {
    wave.access = &record;
    observer->waveBegin(wave);
  }
}

const AccessRecord *WorkgroupExecution::step(Wave &wave) {
  static const StepFunction stepOne = opcodeTable().step;
  wave.access = &record;
  stepOne(wave, observer);
  const AccessRecord *accesses =
      record.count || record.hasFaults ? &record : nullptr;
  if (detector.watching() &&
      detector.observe(waveStates, wave, scratch, accesses)) {
    detector.stop();
    if ((alone || !detector.readsGlobalMemory()) &&
        wave.status == WaveStatus::Running) {
      hanging = true;
      fail(wave, "the workgroup hangs: after " + Twine(issued()) +
                     " instructions its registers and all memory that it "
                     "writes are what they were " +
                     Twine(detector.period()) + " instructions before");
    }
  }
  settle(wave);
  return accesses;
}

void WorkgroupExecution::settle(Wave &wave) {
  if (wave.status == WaveStatus::Running && group.remaining == 0) {
    hanging = true;
    fail(wave, "the workgroup has issued " + Twine(limit) +
                   " instructions, the limit of this launch, and has not "
                   "ended");
  }
  if (issued() >= nextWatch) {
    nextWatch = 2 * issued();
    detector.begin();
  }
  if (wave.status == WaveStatus::Failed && !failedWave)
    failedWave = &wave;
}

bool WorkgroupExecution::barrierComplete() const {
  bool waiting = false;
  for (const Wave &wave : waveStates) {
    if (wave.status == WaveStatus::Running || wave.status == WaveStatus::Failed)
      return false;
    waiting |= wave.status == WaveStatus::AtBarrier;
  }
  return waiting;
}

void WorkgroupExecution::releaseBarrier() {
  if (observer)
    observer->barrier(*this);
  for (Wave &wave : waveStates)
    if (wave.status == WaveStatus::AtBarrier)
      wave.status = WaveStatus::Running;
}

bool WorkgroupExecution::ended() const {
  return all_of(waveStates, [](const Wave &wave) {
    return wave.status == WaveStatus::Ended;
  });
}

Error WorkgroupExecution::end() {
  if (observer)
    observer->workgroupEnd(*this);
  ++counters.workgroups;
  counters.waves += waveStates.size();
  for (const Wave &wave : waveStates) {
    counters.activeLanesVALU += wave.activeLanesVALU;
    counters.globalBytesRead += wave.globalBytesRead;
    counters.globalBytesWritten += wave.globalBytesWritten;
    counters.scratchBytesRead += wave.scratchBytesRead;
    counters.scratchBytesWritten += wave.scratchBytesWritten;
  }
  if (!failedWave)
    return Error::success();
  uint64_t address = dispatch.image.addressOf(failedWave->current);
  std::string line = SourceLines(dispatch.image.elf).at(address);
  return createStringError(
      "kernel '" + dispatch.kernel.name + "', instruction at 0x" +
      Twine::utohexstr(address) + " '" +
      dispatch.image.textOfInstruction(failedWave->current) + "'" +
      (line.empty() ? "" : " (" + line + ")") + ", workgroup (" +
      Twine(currentID[0]) + ", " + Twine(currentID[1]) + ", " +
      Twine(currentID[2]) + "), wavefront " + Twine(failedWave->numberInGroup) +
      ": " + failedWave->error);
}

Error WorkgroupExecution::run(uint64_t number) {
  RunFunction runPlain = opcodeTable().run;
  begin(number);
  while (!failedWave) {
    bool running = false;
    for (Wave &wave : waveStates) {
      if (wave.status != WaveStatus::Running)
        continue;
      if (detector.watching()) {
        step(wave); // in turn, so that states come back soon
      } else if (observer) {
        for (uint64_t i = 0; i < turn && wave.status == WaveStatus::Running &&
                             !detector.watching();
             ++i)
          step(wave);
      } else {
        wave.access = nullptr;
        runPlain(wave, turn);
        settle(wave);
      }
      if (failedWave)
        break;
      running |= wave.status == WaveStatus::Running;
    }
    if (failedWave || running)
      continue;
    // All have ended or wait: those that have ended do not hold up a barrier.
    if (!barrierComplete())
      break;
    releaseBarrier();
  }
  return end();
}
