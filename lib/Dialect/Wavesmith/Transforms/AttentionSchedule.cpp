//===- AttentionSchedule.cpp - Default schedules of attention -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/Transforms/AttentionSchedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace wavesmith;

AttentionScheduleAttr
wavesmith::getDefaultAttentionSchedule(AttentionOp op,
                                       const TargetInfo *target) {
  struct Default {
    bool isF32;
    /// Of the larger one of q's and v's.
    int64_t maxHeadDim;
    /// Also where scores take registers of their own: addresses, functions.
    bool takesOptions;
    int64_t waves, keys, wavesPerSIMD, prefetch;
  };
  // Length and mask change nothing yet: the first row is the best for
  // all that bench-attention lists. Four wavefronts of 32 queries; two
  // workgroups fit a CU, of which one computes products while the other one
  // computes weights. A wavefront has all registers where the result alone
  // takes half of them. Keys and values of one tile fit LDS.
  static constexpr Default defaults[] = {
      {false, 128, false, 4, 64, 2, 1}, {false, 128, true, 4, 32, 1, 0},
      {false, 256, true, 4, 64, 1, 0},  {true, 64, false, 4, 64, 2, 1},
      {true, 256, true, 4, 32, 1, 0},
  };
  int64_t dim = std::max(op.getHeadDim(), op.getValueHeadDim());
  bool isF32 = op.getInputElementType().isF32();
  bool hasOptions = op.getBias() || op.getAlibi() || op.hasScoreRegion() ||
                    op.hasMaskRegion() || (isF32 && op.getSoftcap());
  const Default *found = llvm::find_if(defaults, [&](const Default &row) {
    return row.isF32 == isF32 && dim <= row.maxHeadDim &&
           (!hasOptions || row.takesOptions);
  });
  // The largest weight of a row is 1, and so not rounded, if the maximum is
  // always the current one: a row that hangs on few keys needs that. Products
  // of one wavefront go before weights of the other.
  Type element = op.getInputElementType();
  int64_t rescaleAbove = element.isBF16() || element.isF16() ? 0 : 8;
  return AttentionScheduleAttr::get(
      op.getContext(), /*version=*/1, found->waves, found->keys,
      found->wavesPerSIMD, found->prefetch, rescaleAbove,
      AttentionRounding::NearestEven, /*priority=*/1,
      /*dies=*/target ? target->dies : 1);
}
