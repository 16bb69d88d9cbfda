//===- Rung.h - A kernel of the ladder -------------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_LADDER_RUNG_H
#define WAVESMITH_BENCH_LADDER_RUNG_H

#include "Problem.h"
#include "wavesmith/Simulator/Simulator.h"
#include "wavesmith/Target/Target.h"
#include <functional>
#include <memory>
#include <optional>

namespace wavesmith::bench {

/// One zone of a launch.
struct Zone {
  double temperature; ///< K
  double density;     ///< g/cm^3
  ZoneState state;
};

/// A launch whose data lie in the simulator's memory.
struct PreparedLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  std::vector<uint8_t> kernarg;
  uint32_t dynamicLDSBytes = 0;
  /// Reads where each zone stands afterwards. A zone that was not executed has
  /// the number of steps that it had before.
  std::function<llvm::Expected<std::vector<ZoneState>>(const sim::Memory &)>
      readStates;
};

/// A kernel that integrates zones. Whoever made it is measured in the same way.
struct Rung {
  /// The name of the row, for people and for programs.
  std::string name;
  /// What AMD's blog gives for it: seconds for 104 zones twice.
  std::optional<double> publishedSeconds;
  /// The code for launches of so many steps at most.
  std::function<llvm::Expected<std::shared_ptr<const sim::CodeObject>>(
      uint64_t maxSteps)>
      objectFor;
  std::string kernel;
  /// Wall-clock seconds of the compiler's last run on this host; null where the
  /// build has compiled it.
  std::function<double()> compileSeconds;
  /// Writes zones into memory, to go on for so many steps at most.
  std::function<llvm::Expected<PreparedLaunch>(
      sim::Memory &, llvm::ArrayRef<Zone>, uint64_t maxSteps)>
      prepare;
};

/// The published ladder's start and end, and some rungs between them:
/// "hip-start" to "hip-end". They are HIP kernels, which the build has compiled
/// for "gfx90a" and "gfx942". The problem must live as long as they do. A
/// network that does not fit the kernels' tables is an error.
llvm::Expected<std::vector<Rung>> hipRungs(const Problem &problem,
                                           llvm::StringRef architecture);

/// What Wavesmith makes of the same network: "wavesmith-baseline" with none of
/// the optional passes, one more of them in each rung ("+simplify-terms" and so
/// on), and all of them in "wavesmith-final". \p network is the file that the
/// problem was read from.
std::vector<Rung> wavesmithRungs(const Problem &problem,
                                 llvm::StringRef network,
                                 const TargetInfo &target);

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_RUNG_H
