//===- WorkgroupProgram.h - A workgroup's body as instructions --*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What WorkgroupEvaluator makes of a workgroup's body: a flat list of
/// instructions on one block of memory. Every value has its own place in it, a
/// tensor's elements side by side. f64 is a double, f32 a float; an integer of
/// any width, i1 too, is an int64_t that is sign-extended from its width, so
/// that a true i1 is -1.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_WORKGROUPPROGRAM_H
#define WAVESMITH_LIB_REFERENCE_WORKGROUPPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace wavesmith {

enum class Storage : uint8_t { F64, F32, Integer };

inline int64_t getBytes(Storage storage) {
  return storage == Storage::F32 ? 4 : 8;
}

/// Where a value is kept.
struct Slot {
  /// In bytes from the start of the memory.
  int64_t offset = 0;
  /// Its elements; 1 for a scalar.
  int64_t count = 1;
  Storage storage = Storage::F64;
  /// Bits of an integer; index has 64.
  unsigned width = 64;
};

/// A batch: element e of zone z is number z * zoneStride + e * elementStride.
struct ZoneArray {
  uint8_t *bytes = nullptr;
  int64_t zoneStride = 0, elementStride = 0;
  llvm::SmallVector<int64_t, 2> shape;
};

struct Instruction;
struct WorkgroupProgram;

/// The state of one zone's run.
struct Machine {
  const WorkgroupProgram &program;
  llvm::ArrayRef<ZoneArray> arrays;
  uint8_t *memory;
  Machine(const WorkgroupProgram &program, llvm::ArrayRef<ZoneArray> arrays,
          uint8_t *memory)
      : program(program), arrays(arrays), memory(memory) {}

  int64_t zone = 0;
  /// The number of the instruction to go on with.
  size_t next = 0;
  /// Empty while all is well.
  std::string error;

  template <typename T> T *at(int64_t offset) const {
    return reinterpret_cast<T *>(memory + offset);
  }
  void fail(const Instruction &instruction, const llvm::Twine &message);
  /// Runs to the end, or to an error.
  void run(llvm::ArrayRef<Instruction> code);
};

struct Instruction {
  /// Computes `count` elements.
  using Kernel = void (*)(const Instruction &, Machine &, int64_t count);
  Kernel kernel = nullptr;
  int64_t result = 0;
  int64_t operands[3] = {0, 0, 0};
  int64_t count = 1;
  /// What else the kernel wants to know.
  int64_t number = 0;
  /// In WorkgroupProgram::locations.
  unsigned location = 0;
};

/// A segmented reduction. A chain is what one lane of a segment folds. Step p
/// takes element number p of every chain that has one; chains are numbered so
/// that these come first. So one instruction serves all chains, and yet each
/// sees its elements in their order.
struct Reduction {
  struct Elements {
    int64_t source, argument;
    Storage storage;
  };
  struct Accumulator {
    int64_t init, chains, left, right, combined, result;
    Storage storage;
  };
  /// What the combine region does for one distance: chain `to` takes `from`.
  struct Level {
    std::vector<int32_t> to, from;
  };

  std::vector<Elements> elements;
  std::vector<Accumulator> accumulators;
  int64_t numChains = 0;
  /// The elements step by step, and the number of them in each step.
  std::vector<int32_t> order, active;
  std::vector<Level> levels;
  /// For each segment, the chain of its lane 0.
  std::vector<int32_t> firstChains;
  std::vector<Instruction> accumulate, combine;
};

struct WorkgroupProgram {
  /// What the function computes before the workgroup: run once.
  std::vector<Instruction> prologue;
  /// Run for each zone.
  std::vector<Instruction> body;
  std::vector<Reduction> reductions;
  /// The memory to begin with: constants and tables stand in it.
  std::vector<uint8_t> memory;
  /// Of instructions, for messages.
  std::vector<std::string> locations;
  /// For each argument of the function; of arrays unused.
  std::vector<Slot> arguments;
  Slot numZones;
};

/// "file:line:column" where the location has them.
std::string formatLocation(mlir::Location location);

/// Compiles operations to instructions.
class WorkgroupCompiler {
public:
  explicit WorkgroupCompiler(WorkgroupProgram &program)
      : program(program), code(&program.prologue) {}

  llvm::LogicalResult compile(mlir::func::FuncOp function);

private:
  /// A slot for a type, in memory; one that cannot be kept is an error at `op`.
  mlir::FailureOr<Slot> allocate(mlir::Operation *op, mlir::Type type);
  Slot allocate(Storage storage, int64_t count);
  /// Gives a value its place in memory.
  llvm::LogicalResult define(mlir::Operation *op, mlir::Value value);
  /// A copy: a reference would dangle when `slots` grows.
  Slot slotOf(mlir::Value value) const { return slots.at(value); }

  /// Appends an instruction for an operation.
  Instruction &emit(mlir::Operation *op, Instruction::Kernel kernel,
                    int64_t count = 1);
  void emitCopy(mlir::Operation *op, const Slot &from, const Slot &to);
  /// Copies all at once, as a yield does.
  void emitCopies(mlir::Operation *op, llvm::ArrayRef<Slot> from,
                  llvm::ArrayRef<Slot> to);
  llvm::SmallVector<Slot> slotsOf(mlir::ValueRange values) const;

  llvm::LogicalResult compileBlock(mlir::Block &block);
  llvm::LogicalResult compile(mlir::Operation *op);
  llvm::LogicalResult compileFor(mlir::scf::ForOp op);
  llvm::LogicalResult compileWhile(mlir::scf::WhileOp op);
  llvm::LogicalResult compileIf(mlir::scf::IfOp op);
  llvm::LogicalResult compileReduction(SegmentedReduceOp op);
  llvm::LogicalResult compileConstant(mlir::Operation *op,
                                      mlir::Attribute value);
  /// An operation of arith or math.
  llvm::LogicalResult compileExpression(mlir::Operation *op);
  llvm::LogicalResult unsupported(mlir::Operation *op,
                                  const llvm::Twine &detail = "");

  WorkgroupProgram &program;
  std::vector<Instruction> *code;
  llvm::DenseMap<mlir::Value, Slot> slots;
  /// In a reduction's region: the elements that a scalar stands for.
  int64_t width = 0;
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_WORKGROUPPROGRAM_H
