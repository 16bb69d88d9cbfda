//===- Comparison.h - The predicates of arith.cmpf --------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_COMPARISON_H
#define WAVESMITH_LIB_REFERENCE_COMPARISON_H

#include "Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace wavesmith {

/// The value of a comparison.
template <typename Real>
bool compare(mlir::arith::CmpFPredicate predicate, const Real &a,
             const Real &b) {
  using Predicate = mlir::arith::CmpFPredicate;
  bool unordered = Fn::isNaN(a) || Fn::isNaN(b);
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return false;
  case Predicate::OEQ:
    return a == b;
  case Predicate::OGT:
    return a > b;
  case Predicate::OGE:
    return a >= b;
  case Predicate::OLT:
    return a < b;
  case Predicate::OLE:
    return a <= b;
  case Predicate::ONE:
    return !unordered && !(a == b);
  case Predicate::ORD:
    return !unordered;
  case Predicate::UEQ:
    return unordered || a == b;
  case Predicate::UGT:
    return unordered || a > b;
  case Predicate::UGE:
    return unordered || a >= b;
  case Predicate::ULT:
    return unordered || a < b;
  case Predicate::ULE:
    return unordered || a <= b;
  case Predicate::UNE:
    return unordered || !(a == b);
  case Predicate::UNO:
    return unordered;
  case Predicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("all predicates are handled");
}

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_COMPARISON_H
