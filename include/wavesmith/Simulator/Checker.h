//===- Checker.h - What a checked launch reports ----------------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Findings of a checked launch: mistakes that the hardware would hide, each
/// with its place in the launch, in the machine code and in the source.
/// \code
///   CheckOptions options;
///   std::vector<Finding> findings;
///   parameters.check = &options;
///   parameters.findings = &findings;
///   auto counters = launch(object, memory, parameters);
///   for (const Finding &finding : findings)
///     llvm::errs() << finding.text() << "\n";
/// \endcode
/// docs/simulator.md says what each kind means and where the checker is
/// deliberately silent.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SIMULATOR_CHECKER_H
#define WAVESMITH_SIMULATOR_CHECKER_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>

namespace wavesmith::sim {
/// What the checker finds.
enum class FindingKind : uint8_t {
  /// An access outside of every allocation, of LDS or of private memory, or a
  /// write to read-only memory. The access is left out.
  OutOfBounds,
  /// An address that is no multiple of the element's size or of 4.
  Misaligned,
  /// An access that the hardware does not have, e.g. an atomic to private
  /// memory.
  InvalidAccess,
  /// An address, a branch, EXEC or a stored result that depends on a register
  /// that was never written.
  UninitialisedRegister,
  /// The same, of bytes of LDS, global or private memory.
  UninitialisedLDS,
  UninitialisedGlobal,
  UninitialisedScratch,
  /// Accesses of different wavefronts to the same byte of LDS, not both reads,
  /// with no barrier between them.
  LDSRace,
  /// The same for global memory, of one or of two workgroups.
  GlobalRace,
  /// A register or LDS that an outstanding memory instruction will write is
  /// used, or the register is overwritten, before the s_waitcnt that guards it.
  MissingWait,
  /// A register beyond those that the kernel descriptor allocates. The
  /// hardware takes others in its place.
  RegisterNotAllocated,
  /// Wavefronts of a workgroup wait at different barriers.
  DivergentBarrier,
  /// Wavefronts wait at a barrier and another has ended without reaching it.
  BarrierNotReached,
  /// The workgroup goes round in a loop in which nothing changes, or the
  /// instruction budget is used up. Ends the launch with an error.
  Hang,
};

/// For reports: "out-of-bounds", "missing wait", "LDS race" and so on.
llvm::StringRef spelling(FindingKind kind);
/// What the checker looks for.
struct CheckOptions {
  /// Findings to keep, different in kind or instruction. The run goes on when
  /// there are more; they are dropped.
  size_t maximum = 100;
  bool misaligned = true;
  bool uninitialised = true;
  bool races = true;
  bool waits = true;
  bool barriers = true;
  /// Instructions that a workgroup may issue, if the launch's own limit is not
  /// lower; 0 for the launch's.
  uint64_t instructionBudget = uint64_t(1) << 31;
};
/// A mistake, at the place and time where it happened first.
struct Finding {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string kernel;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  /// The wavefront's number in its workgroup.
  uint32_t wave = 0;
  /// -1 where the wavefront as a whole is meant.
  int lane = -1;
  /// The instruction's address in the ELF file, and its text.
  uint64_t pc = 0;
  std::string disassembly;
  /// file:line:column, empty where the code object has no line for it.
  std::string source;
  std::string message;
  /// How often it happened, in wavefront instructions; the rest is of the first
  /// time.
  uint64_t count = 1;

  /// One line.
  std::string text() const;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_SIMULATOR_CHECKER_H
