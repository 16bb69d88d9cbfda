//===- Slices.h - Slices of tensors -----------------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_IR_SLICES_H
#define WAVESMITH_DIALECT_WAVESMITH_IR_SLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace wavesmith {

/// The first element of a slice of neighbouring elements at a constant place,
/// or nullopt if it is another kind of slice.
inline std::optional<int64_t> firstOfSlice(mlir::tensor::ExtractSliceOp op) {
  if (op.getSourceType().getRank() != 1 || op.getType().getRank() != 1 ||
      op.isDynamicOffset(0) || op.isDynamicSize(0) || op.isDynamicStride(0) ||
      op.getStaticStride(0) != 1)
    return std::nullopt;
  int64_t first = op.getStaticOffset(0);
  if (first < 0 ||
      first + op.getStaticSize(0) > op.getSourceType().getDimSize(0))
    return std::nullopt;
  return first;
}

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_IR_SLICES_H
