//===- Target.h - The table of AMD Instinct targets -------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every number about the hardware that the compiler, the simulator's timing and
// the reports use stands in one table (lib/Target/Target.cpp), each with its
// source. This library needs LLVM's ADT and Support only.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TARGET_TARGET_H
#define WAVESMITH_TARGET_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace wavesmith {

/// What is known about one chip. A chip with several dies that the runtime
/// shows as devices of their own (MI250X) is described by one such device.
struct TargetInfo {
  /// LLVM's processor name, e.g. "gfx942".
  llvm::StringRef architecture;
  /// The chip's name in lower case, e.g. "mi300x".
  llvm::StringRef chip;
  /// The name for people, e.g. "AMD Instinct MI300X".
  llvm::StringRef displayName;

  // Structure.
  unsigned computeUnits;     ///< Compute units (CUs) a device.
  unsigned dies;             ///< Accelerator complex dies (XCDs) a device.
  unsigned simdsPerCU;       ///< SIMD units a CU.
  unsigned wavefrontSize;    ///< Lanes of a wavefront.
  unsigned maxWavesPerSIMD;  ///< Wavefront slots of a SIMD.
  unsigned maxWorkgroupSize; ///< Work-items of a workgroup.
  unsigned maxBarriersPerCU; ///< Workgroups of several waves a CU can hold.

  // Registers.
  unsigned vgprsPerSIMD; ///< 32-bit registers a lane, VGPRs and AGPRs together.
  unsigned maxVGPRs;     ///< Architected VGPRs that an instruction can name.
  unsigned maxAGPRs;     ///< Accumulation VGPRs that an instruction can name.
  unsigned vgprGranule;  ///< Allocation unit of the unified VGPR file.
  unsigned accumOffsetGranule; ///< AGPRs start at a multiple of this.
  unsigned sgprsPerSIMD; ///< Scalar registers shared by the waves of a SIMD.
  unsigned maxSGPRs;     ///< Scalar registers that an instruction can name.
  unsigned sgprGranule;  ///< Allocation unit of scalar registers.

  // Local data share (LDS).
  unsigned ldsBytes;         ///< Bytes a CU, and the most of one workgroup.
  unsigned ldsGranule;       ///< Allocation unit in bytes.
  unsigned ldsBanks;         ///< Banks.
  unsigned ldsBankBytes;     ///< Width of a bank.
  unsigned ldsBytesPerClock; ///< Peak bytes a clock of a CU.

  // Caches and memory.
  uint64_t l2Bytes;                   ///< All L2 caches of the device.
  uint64_t infinityCacheBytes;        ///< Zero where there is none.
  unsigned vectorL1Bytes;             ///< Vector L1 data cache a CU.
  unsigned vectorL1LineBytes;         ///< Its line.
  unsigned vectorL1BytesPerClock;     ///< Its bytes a clock.
  unsigned scalarL1Bytes;             ///< Scalar data cache, shared by two CUs.
  unsigned instructionCacheBytes;     ///< Shared by two CUs.
  double hbmBytesPerSecond;           ///< Data sheet.
  double hbmAchievableBytesPerSecond; ///< Measured streaming read.

  // Arithmetic rates.
  double clockHz; ///< Peak engine clock.
  unsigned vectorF64FlopsPerClockPerCU;
  unsigned matrixF64FlopsPerClockPerCU;
  unsigned vectorF32FlopsPerClockPerCU; ///< Unpacked instructions.
  unsigned packedF32FlopsPerClockPerCU; ///< v_pk_fma_f32.
  unsigned matrixF32FlopsPerClockPerCU;
  unsigned matrixF16FlopsPerClockPerCU; ///< FP16 and BF16.
  unsigned matrixF8FlopsPerClockPerCU;  ///< Zero where there is none.

  /// Peak of the device in flop/s for one of the rates above.
  double peakFlops(unsigned flopsPerClockPerCU) const {
    return double(flopsPerClockPerCU) * computeUnits * clockHz;
  }
};

/// All known chips; the first of an architecture is its default.
llvm::ArrayRef<TargetInfo> knownTargets();

/// Finds a target. Names are exact and in lower case. An empty \p chip takes
/// the architecture's default chip. The error says which names are known, or
/// which chips the architecture has. The result lives as long as the program.
llvm::Expected<const TargetInfo &> lookupTarget(llvm::StringRef architecture,
                                                llvm::StringRef chip = "");

/// What limits the number of waves that are resident at the same time.
enum class OccupancyLimit { WaveSlots, VGPRs, SGPRs, LDS, Barriers };

/// Name for reports: "wave slots", "VGPRs", "SGPRs", "LDS", "barriers".
llvm::StringRef stringify(OccupancyLimit limit);

/// How much of a kernel a CU holds at the same time.
struct Occupancy {
  unsigned workgroupsPerCU;
  unsigned wavesPerCU;
  /// Of the fullest SIMD: wavesPerCU shared out evenly, rounded up.
  unsigned wavesPerSIMD;
  /// wavesPerCU over the slots of the CU, from 0 to 1.
  double fraction;
  OccupancyLimit limit;
};

/// Occupancy of a kernel. \p vgprs and \p agprs are the architected and the
/// accumulation registers of a lane, counted apart; \p sgprs includes VCC and
/// the like, as in the code object's metadata; \p ldsBytes is fixed plus
/// dynamic LDS of a workgroup; \p workgroupSize counts work-items. It is an
/// error if a single workgroup does not fit, naming what it needs and what
/// there is.
llvm::Expected<Occupancy> computeOccupancy(const TargetInfo &target,
                                           unsigned vgprs, unsigned agprs,
                                           unsigned sgprs, uint64_t ldsBytes,
                                           uint64_t workgroupSize);

/// Occupancy::wavesPerSIMD, or zero where a single workgroup does not fit.
unsigned wavesPerSIMD(const TargetInfo &target, unsigned vgprs, unsigned agprs,
                      unsigned sgprs, uint64_t ldsBytes,
                      uint64_t workgroupSize);

/// Registers of the unified file that one wave takes, before rounding to the
/// granule: AGPRs start at a multiple of accumOffsetGranule after the VGPRs.
uint64_t unifiedVGPRs(const TargetInfo &target, unsigned vgprs, unsigned agprs);

} // namespace wavesmith

#endif // WAVESMITH_TARGET_TARGET_H
