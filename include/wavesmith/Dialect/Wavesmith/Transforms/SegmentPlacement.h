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

/// Gives the segments of a reduction to threads. Segments with as many lanes
/// and about as many elements a lane share a wavefront, neighbouring lanes on
/// neighbouring threads, so that no thread waits long for another; the
/// wavefront with the least to do takes the next such group, in a round of its
/// own; all have one in the last round. The lanes of a segment start at a
/// multiple of their number.
/// \pre no segment has more lanes than a wavefront, or than `threads`
llvm::SmallVector<PlacementRound> placeSegments(SegmentedReduceOp op,
                                                int64_t threads);

/// For each wavefront, the number of elements that its threads have folded, or
/// waited for others to fold, before each round and after the last.
llvm::SmallVector<llvm::SmallVector<int32_t>>
firstSlots(llvm::ArrayRef<PlacementRound> rounds, int64_t threads);

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SEGMENTPLACEMENT_H
