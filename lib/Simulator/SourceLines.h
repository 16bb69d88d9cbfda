//===- SourceLines.h - From addresses to source lines -----------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads the line table of a code object (DWARF .debug_line) on demand.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_SOURCELINES_H
#define WAVESMITH_LIB_SIMULATOR_SOURCELINES_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <memory>
#include <string>

namespace wavesmith::sim {

class SourceLines {
public:
  /// The ELF file's bytes must live as long as this object.
  explicit SourceLines(llvm::ArrayRef<uint8_t> elf);
  ~SourceLines();

  /// file:line:column of the instruction at a virtual address; empty where the
  /// file has no line tables, a damaged one, or no line for the address.
  std::string at(uint64_t address);

private:
  std::string find(uint64_t address);

  struct State;
  llvm::ArrayRef<uint8_t> elf;
  std::unique_ptr<State> state;
  /// The reader has crashed on the file.
  bool broken = false;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_SOURCELINES_H
