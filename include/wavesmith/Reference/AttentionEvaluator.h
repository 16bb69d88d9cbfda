//===- AttentionEvaluator.h - The meaning of attention ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Evaluates a function of one `wavesmith.attention` on the host, straight from
/// the formulas in the operation's description. It shares no code with the
/// compiler's lowering: compiled kernels are held to an error bound against it.
///
/// Elements of q, k, v, biases and captured tensors are decoded exactly; dot
/// products and sums run in the host's long double, the rest in f64. That holds
/// for the regions as well: what is f32 there is computed in f64 and not
/// rounded, what is f16 or bf16 is rounded to its type by each operation, and
/// integers wrap.
///
/// What a region leaves undefined for any pair of a query and a key, masked or
/// not, is an error with its location: tensor.extract out of range, an integer
/// division by zero or that overflows, a shift by the width or more, a
/// conversion to an integer that cannot hold the number.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_REFERENCE_ATTENTIONEVALUATOR_H
#define WAVESMITH_REFERENCE_ATTENTIONEVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "wavesmith/Device/HostArray.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace wavesmith {

struct AttentionProgram;

class AttentionEvaluator {
public:
  /// An argument or a result of the function.
  struct Array {
    /// `wavesmith.name`, else arg0, arg1, ... or result0, result1, ...
    std::string name;
    ElementType type;
    /// With mlir::ShapedType::kDynamic where any size will do.
    llvm::SmallVector<int64_t, 4> shape;
    /// Of an argument: whether the attention reads it.
    bool isUsed = true;
  };
  /// What a caller may choose.
  struct Options {
    /// Round the results to their types, to nearest even; else they are f64.
    bool roundResults = false;
    /// Threads of the host; 0 for all cores. Results do not depend on it.
    unsigned numThreads = 0;
  };

  /// Whether a function holds a `wavesmith.attention`.
  static bool isFor(mlir::func::FuncOp function);

  /// Reads a function of a verified module: one attention of the function's
  /// arguments, whose results are returned. Anything else, and an operation in
  /// a region that has no formula here, is an error at its location.
  static mlir::FailureOr<AttentionEvaluator>
  create(mlir::func::FuncOp function);
  /// The function's arguments and results, in order.
  llvm::ArrayRef<Array> getArguments() const { return arguments; }
  llvm::ArrayRef<Array> getResults() const { return results; }

  /// Evaluates on one array for each argument; those of arguments that are not
  /// used are not looked at. Returns an array for each of getResults(). Arrays
  /// of another type or shape, shapes that do not belong together, cumulative
  /// lengths that do not ascend from 0 to at most the number of tokens, and
  /// what a region leaves undefined are errors.
  llvm::Expected<std::vector<HostArray>>
  evaluate(llvm::ArrayRef<HostArray> arrays, const Options &options) const;

private:
  AttentionEvaluator() = default;

  std::vector<Array> arguments, results;
  std::shared_ptr<const AttentionProgram> program;
};

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_ATTENTIONEVALUATOR_H
