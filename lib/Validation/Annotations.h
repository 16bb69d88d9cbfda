//===- Annotations.h - What of a workgroup's code is meaning ----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_VALIDATION_ANNOTATIONS_H
#define WAVESMITH_LIB_VALIDATION_ANNOTATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace wavesmith {

/// The numerical annotations of a function at the workgroup level, and what
/// else of its data a pass is likely to move.
struct Annotations {
  /// Of reductions of floating-point numbers: for each length of a segment the
  /// numbers of lanes that fold one, and the number of segments for each
  /// number of lanes.
  std::map<int64_t, std::set<int64_t>> lanesOfLength;
  std::map<int64_t, int64_t> segmentsOfLanes;
  /// Operations that compute in another floating-point type than f64:
  /// "arith.mulf in f32".
  std::set<std::string> narrowArithmetic;
  /// Bytes of the tables of each element type, and of what is staged in each
  /// space: "f64", "lds".
  std::map<std::string, int64_t> tableBytes, stagedBytes;
  int64_t numOperations = 0;

  static Annotations get(mlir::func::FuncOp function);
};

/// What is different in \p after, for people.
std::vector<std::string> describeAnnotationChanges(const Annotations &before,
                                                   const Annotations &after);
std::vector<std::string> describeOtherChanges(const Annotations &before,
                                              const Annotations &after);

} // namespace wavesmith

#endif // WAVESMITH_LIB_VALIDATION_ANNOTATIONS_H
