//===- SegmentPlacement.h - Segments on the threads of a zone ---*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which thread folds which elements of a resident `wavesmith.segmented_reduce`:
// one rule for the pass that writes the code and for those that look ahead.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SEGMENTPLACEMENT_H
#define WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SEGMENTPLACEMENT_H

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

namespace wavesmith {

/// What one thread folds in one round.
struct SegmentPart {
  /// The segment, or -1 if the thread has none.
  int32_t segment = -1;
  /// The first element, and the distance to the next.
  int32_t begin = 0, stride = 1;
  /// The number of elements.
  int32_t count = 0;
  /// Threads that share the segment, and which of them this one is.
  int32_t lanes = 1, lane = 0;
};

/// One part a thread.
using PlacementRound = llvm::SmallVector<SegmentPart>;

/// Gives the segments of a reduction to threads: those with many lanes first,
/// then those with many elements a lane, neighbouring lanes to neighbouring
/// threads; a new round begins when the threads are used up. The lanes of a
/// segment start at a multiple of their number.
llvm::SmallVector<PlacementRound> placeSegments(SegmentedReduceOp op,
                                                int64_t threads);

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SEGMENTPLACEMENT_H
