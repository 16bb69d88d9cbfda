//===- KernelSource.h - Kernels of benchmarks, from their source *- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_KERNELSOURCE_H
#define WAVESMITH_BENCH_KERNELSOURCE_H

#include "wavesmith/Simulator/Simulator.h"

namespace wavesmith::bench {

/// Runs a program; its output stays that of this process.
llvm::Error runProgram(llvm::ArrayRef<llvm::StringRef> command);

/// The bytes of a file.
llvm::Expected<std::vector<uint8_t>> readFile(llvm::StringRef path);

/// Compiles source ("cl" or "assembler") with the build's clang and loads the
/// code object.
llvm::Expected<std::shared_ptr<const sim::CodeObject>>
compileKernel(llvm::StringRef source, llvm::StringRef language,
              llvm::StringRef architecture);

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_KERNELSOURCE_H
