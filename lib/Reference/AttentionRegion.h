//===- AttentionRegion.h - Regions of attention, in numbers -----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The score and mask regions of `wavesmith.attention` as a list of steps that
// run for one pair of a query and a key.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_ATTENTIONREGION_H
#define WAVESMITH_LIB_REFERENCE_ATTENTIONREGION_H

#include "mlir/IR/Region.h"
#include "wavesmith/Device/HostArray.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <string>
#include <vector>

namespace wavesmith {

/// A scalar of a region: a float, or an integer of `width` bits, the bits above
/// them zero.
union RegionNumber {
  double real;
  uint64_t bits;
};

/// An array with its elements decoded.
struct DecodedArray {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<RegionNumber> numbers;

  /// Decodes an array; integers are cut to their width.
  static DecodedArray decode(const HostArray &array);
  double at(size_t index) const { return numbers[index].real; }
};

class RegionProgram {
public:
  /// What one run works on.
  struct Frame {
    std::vector<RegionNumber> slots;
    llvm::ArrayRef<const DecodedArray *> captures;
    /// What went wrong, with its location; empty while all is well.
    std::string error;
  };

  /// Reads a region of a verified attention whose last `numCaptures` arguments
  /// are the captured tensors. An operation without a formula is an error at
  /// its location.
  static mlir::FailureOr<RegionProgram> create(mlir::Region &region,
                                               unsigned numCaptures);

  Frame makeFrame(llvm::ArrayRef<const DecodedArray *> captures) const {
    Frame frame;
    frame.slots.resize(numSlots);
    frame.captures = captures;
    return frame;
  }

  /// Runs it with the scalar arguments in the first slots. Returns what is
  /// yielded, or zero with the frame's error set.
  RegionNumber run(Frame &frame) const;

private:
  using Step = std::function<void(Frame &)>;

  llvm::LogicalResult add(mlir::Operation *op);
  llvm::LogicalResult addInteger(mlir::Operation *op);
  llvm::LogicalResult addExtract(mlir::Operation *op);
  unsigned slotOf(mlir::Value value) const { return slots.at(value); }
  unsigned define(mlir::Value value) { return slots[value] = numSlots++; }

  std::vector<Step> steps;
  llvm::DenseMap<mlir::Value, unsigned> slots, captured;
  unsigned numSlots = 0;
  unsigned yielded = 0;
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_ATTENTIONREGION_H
