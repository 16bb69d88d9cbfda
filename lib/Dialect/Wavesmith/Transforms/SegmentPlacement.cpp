//===- SegmentPlacement.cpp - Segments on the threads of a zone -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"

using namespace llvm;
using namespace wavesmith;

SmallVector<PlacementRound> wavesmith::placeSegments(SegmentedReduceOp op,
                                                     int64_t threads) {
  ArrayRef<int32_t> segments = op.getSegments();
  struct Segment {
    int32_t number, lanes, count;
  };
  SmallVector<Segment> order;
  for (unsigned i = 0; i < op.getNumSegments(); ++i) {
    int32_t lanes = op.getLanesOf(i);
    order.push_back(
        {int32_t(i), lanes,
         int32_t(divideCeil(segments[i + 1] - segments[i], lanes))});
  }
  llvm::sort(order, [](const Segment &a, const Segment &b) {
    return std::tuple(-a.lanes, -a.count, a.number) <
           std::tuple(-b.lanes, -b.count, b.number);
  });
  SmallVector<PlacementRound> rounds;
  int64_t next = threads;
  for (const Segment &segment : order) {
    if (next + segment.lanes > threads) {
      rounds.emplace_back(threads);
      next = 0;
    }
    int32_t begin = segments[segment.number],
            end = segments[segment.number + 1];
    for (int32_t lane = 0; lane < segment.lanes; ++lane) {
      SegmentPart &part = rounds.back()[next++];
      part.segment = segment.number;
      part.begin = begin + lane;
      part.stride = segment.lanes;
      part.lanes = segment.lanes;
      part.lane = lane;
      part.count = part.begin < end
                       ? int32_t(divideCeil(end - part.begin, segment.lanes))
                       : 0;
    }
  }
  return rounds;
}
