//===- PeerKernel.h - Code objects of other compilers ----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_PEERKERNEL_H
#define WAVESMITH_BENCH_PEERKERNEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace wavesmith::bench {

/// A code object of another compiler, and how it is launched.
struct PeerKernel {
  std::string name, path;
  uint32_t threads, sharedMemory, blockM;
  /// Names and kinds ("pointer", "f32", "i32"), in order.
  std::vector<std::pair<std::string, std::string>> arguments;
  /// What the other compiler took, where that is known.
  std::optional<double> compileSeconds;
};

/// Reads what bench/compile_peer_kernels.py writes beside a code object.
llvm::Expected<PeerKernel> readPeerKernel(llvm::StringRef description);

/// The configurations of Triton's attention that the autotuner of the
/// published comparison chooses from, as parts of the kernels' names.
inline constexpr llvm::StringLiteral tunedConfigurations[] = {
    "n128_warps4_stages1_waves2", "n64_warps4_stages1_waves2",
    "n64_warps4_stages1_waves3", "n64_warps4_stages1_waves1",
    "n32_warps4_stages1_waves2"};

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_PEERKERNEL_H
