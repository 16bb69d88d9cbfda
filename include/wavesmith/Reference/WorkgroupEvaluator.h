//===- WorkgroupEvaluator.h - Evaluates workgroup code ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a function of one `wavesmith.workgroup` with `threads_per_zone` on the
/// host, zone by zone, as the descriptions of the operations say. A compiled
/// kernel must give the same bits; of a NaN, sign and payload are not
/// specified.
///
/// What the operations leave undefined is an error with the location: a gather
/// or tensor.extract out of range, an integer division by zero or that
/// overflows, a shift by the width or more, a conversion to an integer that
/// cannot hold the number, an scf.for whose step is not positive. Additions,
/// subtractions and multiplications of integers wrap.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_REFERENCE_WORKGROUPEVALUATOR_H
#define WAVESMITH_REFERENCE_WORKGROUPEVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "wavesmith/Device/HostArray.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace wavesmith {

struct WorkgroupProgram;

class WorkgroupEvaluator {
public:
  struct Argument { ///< What the function takes.
    /// `wavesmith.name`, else arg0, arg1, ...
    std::string name;
    /// Index is I64.
    ElementType type;
    /// Of a memref, its shape with mlir::ShapedType::kDynamic for the zones;
    /// a scalar has no dimension.
    bool isArray;
    llvm::SmallVector<int64_t, 4> shape;
    /// Whether load_zone reads it, and store_zone writes it.
    bool isRead, isWritten;
    /// Whether it is the number of zones of the workgroup.
    bool isNumZones;

    /// The shape for so many zones.
    llvm::SmallVector<int64_t, 4> getShape(int64_t numZones) const;
  };
  /// What a caller may choose.
  struct Options {
    /// Threads of the host; 0 for all cores. Results do not depend on it.
    unsigned numThreads = 0;
  };

  /// Whether a function holds a `wavesmith.workgroup`.
  static bool isFor(mlir::func::FuncOp function);

  /// Reads a function of a verified module: arguments that are scalars (f64,
  /// f32, i64, i32, index) or batches, operations on scalars, the workgroup, a
  /// return of nothing. Anything else is an error at its location.
  static mlir::FailureOr<WorkgroupEvaluator>
  create(mlir::func::FuncOp function);
  /// The function's arguments, in order.
  llvm::ArrayRef<Argument> getArguments() const { return arguments; }

  /// Computes the zones that the workgroup's `zones` asks for. One array for
  /// each argument; those that store_zone writes are changed in place, also
  /// where an error ends the run. An array of another type or shape, or of
  /// fewer zones, is an error.
  llvm::Error evaluate(llvm::MutableArrayRef<HostArray> arrays,
                       const Options &options) const;
  llvm::Error evaluate(llvm::MutableArrayRef<HostArray> arrays) const {
    return evaluate(arrays, Options());
  }

private:
  WorkgroupEvaluator() = default;

  std::vector<Argument> arguments;
  std::shared_ptr<const WorkgroupProgram> program;
};

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_WORKGROUPEVALUATOR_H
