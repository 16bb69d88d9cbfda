//===- Target.cpp - The table of AMD Instinct targets ---------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <string>

using namespace wavesmith;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//
//
// Sources, named in the lines below:
//   [arch]  ROCm documentation, "Accelerator and GPU hardware specifications"
//   [OLCF]  OLCF Frontier user guide, "AMD GPUs" (MI250X, one GCD)
//   [prof]  ROCm Compute Profiler documentation, performance model
//   [ISA]   "AMD Instinct MI200 / MI300 instruction set architecture" guides
//   [LLVM]  LLVM "User Guide for AMDGPU Backend" and its GCNSubtarget rules
//   [mt4g]  caps-tum/mt4g sample_results (MI210 2025-08, MI300X 2025-08,
//           MI300A 2026-03)
//   [x]     derived: rate a CU x CUs x clock reproduces the data sheet's peak

static constexpr uint64_t KiB = 1024;
static constexpr uint64_t MiB = 1024 * KiB;

/// What all gfx90a and gfx942 devices have in common.
static constexpr TargetInfo makeCDNA2Or3() {
  TargetInfo info{};
  info.simdsPerCU = 4;           // [ISA] four SIMD16 a CU
  info.wavefrontSize = 64;       // [ISA] wave64 only
  info.maxWavesPerSIMD = 8;      // [LLVM] gfx90a, gfx942: 8 (gfx908: 10)
  info.maxWorkgroupSize = 1024;  // [LLVM] maximum flat workgroup size
  info.maxBarriersPerCU = 16;    // [LLVM] 16 workgroups of several waves a CU
  info.vgprsPerSIMD = 512;       // [ISA] unified file, VGPRs and AGPRs
  info.maxVGPRs = 256;           // [ISA] v0-v255
  info.maxAGPRs = 256;           // [ISA] a0-a255
  info.vgprGranule = 8;          // [LLVM] GRANULATED_WORKITEM_VGPR_COUNT
  info.accumOffsetGranule = 4;   // [LLVM] ACCUM_OFFSET of compute_pgm_rsrc3
  info.sgprsPerSIMD = 800;       // [LLVM] total SGPRs of GFX8 and later
  info.maxSGPRs = 102;           // [ISA] s0-s101; VCC and others come on top
  info.sgprGranule = 16;         // [LLVM] GRANULATED_WAVEFRONT_SGPR_COUNT
  info.ldsBytes = 64 * KiB;      // [arch]
  info.ldsGranule = 512;         // [LLVM] 128 dwords
  info.ldsBanks = 32;            // [prof]
  info.ldsBankBytes = 4;         // [prof]
  info.ldsBytesPerClock = 128;   // [prof]
  info.scalarL1Bytes = 16 * KiB; // [arch] shared by two CUs
  info.vectorF64FlopsPerClockPerCU = 128; // [x] 64 FMAs
  info.matrixF64FlopsPerClockPerCU = 256; // [x]
  info.vectorF32FlopsPerClockPerCU = 128; // [x] 64 FMAs
  info.packedF32FlopsPerClockPerCU = 256; // [x] v_pk_fma_f32
  info.matrixF32FlopsPerClockPerCU = 256; // [x]
  return info;
}

static constexpr TargetInfo makeGFX90A() {
  TargetInfo info = makeCDNA2Or3();
  info.architecture = "gfx90a";
  info.dies = 1;                           // one GCD is one device
  info.clockHz = 1.7e9;                    // [arch]
  info.l2Bytes = 8 * MiB;                  // [arch] a GCD
  info.infinityCacheBytes = 0;             // [arch]
  info.vectorL1Bytes = 16 * KiB;           // [arch]
  info.vectorL1LineBytes = 64;             // [mt4g]
  info.vectorL1BytesPerClock = 64;         // [prof]
  info.instructionCacheBytes = 32 * KiB;   // [arch] shared by two CUs
  info.matrixF16FlopsPerClockPerCU = 1024; // [x] FP16 and BF16 (1k forms)
  info.matrixF8FlopsPerClockPerCU = 0;     // [ISA] none
  return info;
}

static constexpr TargetInfo makeGFX942() {
  TargetInfo info = makeCDNA2Or3();
  info.architecture = "gfx942";
  info.clockHz = 2.1e9;                    // [arch] MI300X, [mt4g] MI300A
  info.infinityCacheBytes = 256 * MiB;     // [arch]
  info.vectorL1Bytes = 32 * KiB;           // [arch]
  info.vectorL1LineBytes = 128;            // [mt4g]
  info.vectorL1BytesPerClock = 128;        // [prof]
  info.instructionCacheBytes = 64 * KiB;   // [arch] shared by two CUs
  info.matrixF16FlopsPerClockPerCU = 2048; // [x]
  info.matrixF8FlopsPerClockPerCU = 4096;  // [x]
  info.hbmBytesPerSecond = 5.3e12;         // [arch] MI300X and MI300A
  return info;
}

static constexpr TargetInfo makeMI250X() {
  TargetInfo info = makeGFX90A();
  info.chip = "mi250x";
  info.displayName = "AMD Instinct MI250X (one GCD)";
  info.computeUnits = 110;            // [arch] 220 on two GCDs
  info.hbmBytesPerSecond = 1.6384e12; // [arch] half of 3.2768 TB/s
  info.hbmAchievableBytesPerSecond =
      1.31e12; // [OLCF] 1306-1325 GB/s, BabelStream
  return info;
}

static constexpr TargetInfo makeMI210() {
  TargetInfo info = makeGFX90A();
  info.chip = "mi210";
  info.displayName = "AMD Instinct MI210";
  info.computeUnits = 104;                     // [arch]
  info.hbmBytesPerSecond = 1.6e12;             // [arch]
  info.hbmAchievableBytesPerSecond = 1.165e12; // [mt4g] read, 1085 GiB/s
  return info;
}

static constexpr TargetInfo makeMI300X() {
  TargetInfo info = makeGFX942();
  info.chip = "mi300x";
  info.displayName = "AMD Instinct MI300X";
  info.computeUnits = 304;                   // [arch] 38 x 8
  info.dies = 8;                             // [arch]
  info.l2Bytes = 32 * MiB;                   // [arch] 4 MiB an XCD
  info.hbmAchievableBytesPerSecond = 4.3e12; // 81 % of the data sheet, measured
  return info;
}

static constexpr TargetInfo makeMI300A() {
  TargetInfo info = makeGFX942();
  info.chip = "mi300a";
  info.displayName = "AMD Instinct MI300A";
  info.computeUnits = 228;                     // [arch] 38 x 6
  info.dies = 6;                               // [arch]
  info.l2Bytes = 24 * MiB;                     // [arch] 4 MiB an XCD
  info.hbmAchievableBytesPerSecond = 3.246e12; // [mt4g] read, 3023 GiB/s
  return info;
}

static constexpr TargetInfo targets[] = {makeMI250X(), makeMI210(),
                                         makeMI300X(), makeMI300A()};

llvm::ArrayRef<TargetInfo> wavesmith::knownTargets() { return targets; }

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

llvm::Expected<const TargetInfo &>
wavesmith::lookupTarget(llvm::StringRef architecture, llvm::StringRef chip) {
  std::string architectures, chips;
  for (const TargetInfo &info : targets) {
    if (info.architecture == architecture) {
      if (chip.empty() || info.chip == chip)
        return info;
      chips += (chips.empty() ? "" : ", ") + info.chip.str();
    }
    if (!llvm::StringRef(architectures).contains(info.architecture))
      architectures +=
          (architectures.empty() ? "" : ", ") + info.architecture.str();
  }
  if (chips.empty())
    return llvm::createStringError("unknown target architecture '" +
                                   architecture + "'; known are " +
                                   architectures);
  return llvm::createStringError("unknown chip '" + chip +
                                 "' for target architecture " + architecture +
                                 "; known are " + chips);
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

llvm::StringRef wavesmith::stringify(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::WaveSlots:
    return "wave slots";
  case OccupancyLimit::VGPRs:
    return "VGPRs";
  case OccupancyLimit::SGPRs:
    return "SGPRs";
  case OccupancyLimit::LDS:
    return "LDS";
  case OccupancyLimit::Barriers:
    return "barriers";
  }
  return "unknown";
}

uint64_t wavesmith::unifiedVGPRs(const TargetInfo &target, unsigned vgprs,
                                 unsigned agprs) {
  if (agprs == 0)
    return vgprs;
  return llvm::alignTo(uint64_t(vgprs), target.accumOffsetGranule) + agprs;
}

llvm::Expected<Occupancy>
wavesmith::computeOccupancy(const TargetInfo &target, unsigned vgprs,
                            unsigned agprs, unsigned sgprs, uint64_t ldsBytes,
                            uint64_t workgroupSize) {
  if (workgroupSize == 0 || workgroupSize > target.maxWorkgroupSize)
    return llvm::createStringError(
        "workgroup of " + llvm::Twine(workgroupSize) + " work-items; " +
        target.architecture + " takes 1 to " +
        llvm::Twine(target.maxWorkgroupSize));
  if (ldsBytes > target.ldsBytes)
    return llvm::createStringError("workgroup needs " + llvm::Twine(ldsBytes) +
                                   " bytes of LDS; " + target.architecture +
                                   " has " + llvm::Twine(target.ldsBytes));

  const uint64_t wavesPerWorkgroup =
      llvm::divideCeil(workgroupSize, uint64_t(target.wavefrontSize));
  // A wave without registers still takes one granule.
  const uint64_t vgprsTaken =
      llvm::alignTo(std::max<uint64_t>(unifiedVGPRs(target, vgprs, agprs), 1),
                    target.vgprGranule);
  // LLVM's own estimate divides 800 by the count without rounding to the
  // granule, so it says 8 waves for 97 to 100 SGPRs where this says 7.
  const uint64_t sgprsTaken =
      llvm::alignTo(std::max<uint64_t>(sgprs, 1), uint64_t(target.sgprGranule));

  // Ties go to the limit named first: it is the one that no change of the
  // kernel can lift.
  uint64_t workgroups = 0;
  OccupancyLimit limit = OccupancyLimit::WaveSlots;
  bool first = true;
  auto restrict = [&](OccupancyLimit which, uint64_t count) {
    if (!first && count >= workgroups)
      return;
    first = false;
    workgroups = count;
    limit = which;
  };
  // Registers and slots belong to a SIMD; the waves of a workgroup are spread
  // over all SIMDs of the CU.
  auto wavesToWorkgroups = [&](uint64_t waves) {
    return std::min<uint64_t>(waves, target.maxWavesPerSIMD) *
           target.simdsPerCU / wavesPerWorkgroup;
  };
  restrict(OccupancyLimit::WaveSlots,
           wavesToWorkgroups(target.maxWavesPerSIMD));
  restrict(OccupancyLimit::VGPRs,
           wavesToWorkgroups(target.vgprsPerSIMD / vgprsTaken));
  restrict(OccupancyLimit::SGPRs,
           wavesToWorkgroups(target.sgprsPerSIMD / sgprsTaken));
  if (ldsBytes > 0)
    restrict(OccupancyLimit::LDS,
             target.ldsBytes / llvm::alignTo(ldsBytes, target.ldsGranule));
  // A workgroup of one wave needs no barrier.
  if (wavesPerWorkgroup > 1)
    restrict(OccupancyLimit::Barriers, target.maxBarriersPerCU);

  if (workgroups == 0)
    return llvm::createStringError(
        "a workgroup of " + llvm::Twine(wavesPerWorkgroup) + " waves with " +
        llvm::Twine(vgprsTaken) + " VGPRs and " + llvm::Twine(sgprsTaken) +
        " SGPRs a wave does not fit a CU of " + target.architecture +
        ": it has " + llvm::Twine(target.simdsPerCU) + " SIMDs with " +
        llvm::Twine(target.vgprsPerSIMD) + " VGPRs and " +
        llvm::Twine(target.sgprsPerSIMD) + " SGPRs each");

  Occupancy occupancy;
  occupancy.workgroupsPerCU = workgroups;
  occupancy.wavesPerCU = workgroups * wavesPerWorkgroup;
  occupancy.wavesPerSIMD =
      llvm::divideCeil(occupancy.wavesPerCU, target.simdsPerCU);
  occupancy.fraction = double(occupancy.wavesPerCU) /
                       (target.simdsPerCU * target.maxWavesPerSIMD);
  occupancy.limit = limit;
  return occupancy;
}

unsigned wavesmith::wavesPerSIMD(const TargetInfo &target, unsigned vgprs,
                                 unsigned agprs, unsigned sgprs,
                                 uint64_t ldsBytes, uint64_t workgroupSize) {
  llvm::Expected<Occupancy> occupancy =
      computeOccupancy(target, vgprs, agprs, sgprs, ldsBytes, workgroupSize);
  if (!occupancy) {
    llvm::consumeError(occupancy.takeError());
    return 0;
  }
  return occupancy->wavesPerSIMD;
}
