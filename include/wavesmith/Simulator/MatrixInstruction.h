//===- MatrixInstruction.h - What is known of v_mfma, v_smfmac --*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Names and clock counts of the matrix instructions of gfx90a and gfx942.
///
/// Source of the counts: AMD's matrix instruction calculator
/// (ROCm/amd_matrix_instruction_calculator, MIT; "Execution cycles" and "VALU
/// co-execution cycles possible"). LLVM's scheduling model (SISchedule.td) has
/// the same numbers as passes of four clocks, but for the latency of f64
/// 16x16x4.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SIMULATOR_MATRIXINSTRUCTION_H
#define WAVESMITH_SIMULATOR_MATRIXINSTRUCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace wavesmith::sim {

/// Clocks of a matrix instruction on one chip.
struct MatrixClocks {
  /// For which the matrix core of the SIMD is busy with one wavefront's
  /// instruction; 0 where the chip lacks the instruction.
  unsigned busy;
  /// Of those, how many leave the vector ALU to other instructions.
  unsigned coissue;
};
/// A matrix instruction, and its clocks on each chip.
struct MatrixInstructionInfo {
  /// LLVM's opcode name without the encoding, e.g. V_MFMA_F32_32X32X8F16.
  const char *name;
  MatrixClocks gfx90a, gfx942;
};

/// All matrix instructions of both chips.
llvm::ArrayRef<MatrixInstructionInfo> matrixInstructions();

/// The opcode name without encoding for any spelling of a matrix instruction:
/// LLVM's opcode with or without its encoding suffix (_gfx90a_vcd, _e64, ...),
/// or the mnemonic of either chip (v_mfma_f32_32x32x8f16,
/// v_mfma_f32_32x32x4_2b_bf16). Other names come back in capitals.
std::string canonicalMatrixName(llvm::StringRef name);

/// Null where name, in any spelling, is no matrix instruction.
const MatrixInstructionInfo *findMatrixInstruction(llvm::StringRef name);

/// The clocks for which one wavefront's instruction keeps the matrix core of
/// its SIMD busy; 0 where the target ("gfx90a", "gfx942") has no such
/// instruction.
unsigned mfmaCycles(llvm::StringRef name, llvm::StringRef target);

/// How many of those leave the vector ALU to other instructions.
unsigned mfmaCoissueCycles(llvm::StringRef name, llvm::StringRef target);

} // namespace wavesmith::sim

#endif // WAVESMITH_SIMULATOR_MATRIXINSTRUCTION_H
