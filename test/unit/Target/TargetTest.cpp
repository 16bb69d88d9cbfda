//===- TargetTest.cpp - Tests of the target table -------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Target/Target.h"
#include "gtest/gtest.h"

using namespace wavesmith;

namespace {

const TargetInfo &get(llvm::StringRef architecture, llvm::StringRef chip = "") {
  llvm::Expected<const TargetInfo &> info = lookupTarget(architecture, chip);
  if (!info) {
    ADD_FAILURE() << llvm::toString(info.takeError());
    return knownTargets().front();
  }
  return *info;
}

std::string lookupError(llvm::StringRef architecture, llvm::StringRef chip) {
  llvm::Expected<const TargetInfo &> info = lookupTarget(architecture, chip);
  return info ? "found" : llvm::toString(info.takeError());
}

TEST(Target, LookupTakesTheDefaultChip) {
  EXPECT_EQ(get("gfx90a").chip, "mi250x");
  EXPECT_EQ(get("gfx942").chip, "mi300x");
  EXPECT_EQ(get("gfx90a", "mi210").computeUnits, 104u);
  EXPECT_EQ(get("gfx942", "mi300a").computeUnits, 228u);
}

TEST(Target, LookupErrorsListWhatIsKnown) {
  EXPECT_EQ(lookupError("gfx950", ""),
            "unknown target architecture 'gfx950'; known are gfx90a, gfx942");
  EXPECT_EQ(lookupError("", ""),
            "unknown target architecture ''; known are gfx90a, gfx942");
  EXPECT_EQ(lookupError("gfx942", "mi210"),
            "unknown chip 'mi210' for target architecture gfx942; known are "
            "mi300x, mi300a");
}

// The data sheets' peaks in TF, which the table holds only as factors.
TEST(Target, PeaksMatchTheDataSheets) {
  const TargetInfo &mi250x = get("gfx90a", "mi250x");
  EXPECT_NEAR(mi250x.peakFlops(mi250x.vectorF64FlopsPerClockPerCU), 23.9e12,
              0.06e12);
  EXPECT_NEAR(mi250x.peakFlops(mi250x.matrixF64FlopsPerClockPerCU), 47.9e12,
              0.06e12);
  EXPECT_NEAR(mi250x.peakFlops(mi250x.matrixF16FlopsPerClockPerCU), 191.5e12,
              0.06e12);
  const TargetInfo &mi210 = get("gfx90a", "mi210");
  EXPECT_NEAR(mi210.peakFlops(mi210.vectorF64FlopsPerClockPerCU), 22.6e12,
              0.06e12);
  const TargetInfo &mi300x = get("gfx942", "mi300x");
  EXPECT_NEAR(mi300x.peakFlops(mi300x.vectorF64FlopsPerClockPerCU), 81.7e12,
              0.06e12);
  EXPECT_NEAR(mi300x.peakFlops(mi300x.packedF32FlopsPerClockPerCU), 163.4e12,
              0.06e12);
  EXPECT_NEAR(mi300x.peakFlops(mi300x.matrixF16FlopsPerClockPerCU), 1307.4e12,
              0.06e12);
  EXPECT_NEAR(mi300x.peakFlops(mi300x.matrixF8FlopsPerClockPerCU), 2614.9e12,
              0.06e12);
  const TargetInfo &mi300a = get("gfx942", "mi300a");
  EXPECT_NEAR(mi300a.peakFlops(mi300a.vectorF64FlopsPerClockPerCU), 61.3e12,
              0.06e12);
}

TEST(Target, EveryEntryIsComplete) {
  for (const TargetInfo &info : knownTargets()) {
    SCOPED_TRACE(info.chip.str());
    EXPECT_FALSE(info.displayName.empty());
    EXPECT_GT(info.computeUnits, 0u);
    EXPECT_GT(info.dies, 0u);
    EXPECT_EQ(info.computeUnits % info.dies, 0u);
    EXPECT_GT(info.l2Bytes, 0u);
    EXPECT_GT(info.hbmAchievableBytesPerSecond, 0.5 * info.hbmBytesPerSecond);
    EXPECT_LT(info.hbmAchievableBytesPerSecond, info.hbmBytesPerSecond);
    EXPECT_EQ(info.ldsBanks * info.ldsBankBytes, info.ldsBytesPerClock);
    // The names find this very entry.
    EXPECT_EQ(&get(info.architecture, info.chip), &info);
  }
}

TEST(Occupancy, Registers) {
  const TargetInfo &target = get("gfx90a");
  EXPECT_EQ(wavesPerSIMD(target, 0, 0, 0, 0, 64), 8u);
  EXPECT_EQ(wavesPerSIMD(target, 64, 0, 32, 0, 64), 8u);
  EXPECT_EQ(wavesPerSIMD(target, 65, 0, 32, 0, 64), 7u); // 72 taken
  EXPECT_EQ(wavesPerSIMD(target, 128, 0, 32, 0, 64), 4u);
  EXPECT_EQ(wavesPerSIMD(target, 129, 0, 32, 0, 64), 3u);
  EXPECT_EQ(wavesPerSIMD(target, 256, 0, 32, 0, 64), 2u);
  EXPECT_EQ(wavesPerSIMD(target, 256, 256, 32, 0, 64), 1u);
}

TEST(Occupancy, AccumulationRegistersStartAtAMultipleOfFour) {
  const TargetInfo &target = get("gfx942");
  EXPECT_EQ(unifiedVGPRs(target, 61, 0), 61u);
  EXPECT_EQ(unifiedVGPRs(target, 61, 1), 65u);
  EXPECT_EQ(unifiedVGPRs(target, 60, 4), 64u);
  // 61 + 3 would be 64 and fit eight times; 64 + 3 does not.
  EXPECT_EQ(wavesPerSIMD(target, 61, 3, 32, 0, 64), 7u);
  EXPECT_EQ(wavesPerSIMD(target, 60, 4, 32, 0, 64), 8u);
}

TEST(Occupancy, ScalarRegisters) {
  const TargetInfo &target = get("gfx90a");
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 85, 0, 64), 8u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 106, 0, 64), 7u);
}

TEST(Occupancy, LDS) {
  const TargetInfo &target = get("gfx942");
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 65536, 64), 1u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 65536, 256), 1u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 32768, 256), 2u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 32769, 256), 1u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 65537, 256), 0u);
  llvm::Expected<Occupancy> one =
      computeOccupancy(target, 32, 0, 32, 40000, 64);
  ASSERT_TRUE(bool(one));
  EXPECT_EQ(one->wavesPerCU, 1u);
  EXPECT_EQ(one->wavesPerSIMD, 1u);
  EXPECT_DOUBLE_EQ(one->fraction, 1.0 / 32);
  EXPECT_EQ(one->limit, OccupancyLimit::LDS);
}

TEST(Occupancy, Workgroups) {
  const TargetInfo &target = get("gfx942");
  // Sixteen workgroups of two waves fill the CU, of 1024 work-items two.
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 0, 128), 8u);
  EXPECT_EQ(wavesPerSIMD(target, 32, 0, 32, 0, 1024), 8u);
  // Three waves: ten workgroups, thirty waves.
  llvm::Expected<Occupancy> three = computeOccupancy(target, 8, 0, 8, 0, 192);
  ASSERT_TRUE(bool(three));
  EXPECT_EQ(three->workgroupsPerCU, 10u);
  EXPECT_EQ(three->wavesPerCU, 30u);
  EXPECT_EQ(three->limit, OccupancyLimit::WaveSlots);
}

TEST(Occupancy, WhatDoesNotFitIsAnError) {
  const TargetInfo &target = get("gfx90a");
  auto error = [&](unsigned vgprs, unsigned agprs, uint64_t lds,
                   uint64_t size) {
    llvm::Expected<Occupancy> occupancy =
        computeOccupancy(target, vgprs, agprs, 32, lds, size);
    return occupancy ? "fits" : llvm::toString(occupancy.takeError());
  };
  EXPECT_EQ(error(32, 0, 0, 0), "workgroup of 0 work-items; gfx90a takes 1 to "
                                "1024");
  EXPECT_EQ(error(32, 0, 0, 1025),
            "workgroup of 1025 work-items; gfx90a takes 1 to 1024");
  EXPECT_EQ(error(32, 0, 70000, 64),
            "workgroup needs 70000 bytes of LDS; gfx90a has 65536");
  // Sixteen waves cannot hold 256 + 16 registers each.
  EXPECT_EQ(error(256, 16, 0, 1024),
            "a workgroup of 16 waves with 272 VGPRs and 32 SGPRs a wave does "
            "not fit a CU of gfx90a: it has 4 SIMDs with 512 VGPRs and 800 "
            "SGPRs each");
  EXPECT_EQ(error(4000000000u, 4000000000u, 0, 64),
            "a workgroup of 1 waves with 8000000000 VGPRs and 32 SGPRs a wave "
            "does not fit a CU of gfx90a: it has 4 SIMDs with 512 VGPRs and "
            "800 SGPRs each");
}

} // namespace
