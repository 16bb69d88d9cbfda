//===- InstructionRunner.h - Lines of assembly over many values -*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Assembles lines of vector code into one kernel and returns what each leaves
/// in its result registers, lane by lane.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TEST_UNIT_SIMULATOR_INSTRUCTIONRUNNER_H
#define WAVESMITH_TEST_UNIT_SIMULATOR_INSTRUCTIONRUNNER_H

#include "TestSupport.h"

namespace wavesmith::sim::test {

/// What v[8:11] hold before each line: the 64 bits twice.
constexpr uint64_t untouched = 0x123456789abcdef0ull;

/// The sources of a lane: v[2:3], v[4:5] and v[6:7].
struct Sources {
  uint64_t a = 0, b = 0, c = 0;
};

/// v[8:9] and v[10:11] of a lane after a line.
struct Outcome {
  uint64_t low = 0, high = 0;
};

/// A kernel in assembly with three arguments of 8 bytes (two buffers and a
/// value), the kernarg pointer in s[0:1], the workgroup's number in s2, v0 the
/// lane.
struct AssembledKernel {
  std::string name = "f";
  std::string body;
  /// Of both kinds; AGPRs are what lies behind the offset.
  unsigned vgprs = 96, accumOffset = 64;
  unsigned ldsBytes = 0;
  /// Of a work-item.
  unsigned scratchBytes = 0;
  /// The most work-items.
  unsigned workgroup = 64;
};

/// The text of a code object with these kernels.
std::string assembleModule(const std::string &target,
                           const std::vector<AssembledKernel> &kernels);

/// That of one kernel f of 64 work-items.
std::string assembleKernel(const std::string &target, const std::string &body,
                           unsigned ldsBytes = 0);

/// Runs each line on all sources, 64 of which are a wavefront. The mode goes
/// to MODE[7:0]; lanes that are off in exec are off while a line runs. A line
/// may use s[40:63], v[16:31], vcc and m0, finds s[36:37] = -1 and
/// s[38:39] = 3.5 (f64), has LDS of so many bytes, and 24 bytes of memory of
/// each lane's own at s[4:5] + v1. Returns
/// [line][sources]; fails the test and returns nothing where it cannot.
std::vector<std::vector<Outcome>>
runLines(const std::string &target, const std::vector<std::string> &lines,
         const std::vector<Sources> &sources, uint64_t exec = ~uint64_t(0),
         unsigned mode = 0xf0, unsigned ldsBytes = 0,
         std::vector<InstructionUse> *use = nullptr);

} // namespace wavesmith::sim::test

#endif // WAVESMITH_TEST_UNIT_SIMULATOR_INSTRUCTIONRUNNER_H
