//===- SegmentPlacement.cpp - Segments on the threads of a zone -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

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
  // Segments of one kind share a wavefront.
  int64_t width = std::min(threads, kWavefront);
  struct Chunk {
    SmallVector<Segment> segments;
    int64_t lanes = 0;
    /// Its longest thread's elements, and its tree.
    int64_t cost = 0;
  };
  std::vector<Chunk> chunks;
  for (const Segment &segment : order) {
    if (chunks.empty() || chunks.back().lanes + segment.lanes > width)
      chunks.emplace_back();
    Chunk &chunk = chunks.back();
    chunk.segments.push_back(segment);
    chunk.lanes += segment.lanes;
    chunk.cost =
        std::max<int64_t>(chunk.cost, segment.count + Log2_32(segment.lanes));
  }
  SmallVector<unsigned> largestFirst =
      llvm::to_vector(llvm::seq<unsigned>(0, chunks.size()));
  llvm::sort(largestFirst, [&](unsigned a, unsigned b) {
    return std::tuple(-chunks[a].cost, a) < std::tuple(-chunks[b].cost, b);
  });
  // The wavefront with the least to do takes the next; what it takes second is
  // in the second round.
  SmallVector<int64_t> costs(divideCeil(threads, width)), taken(costs.size());
  SmallVector<PlacementRound> rounds;
  for (unsigned number : largestFirst) {
    const Chunk &chunk = chunks[number];
    size_t wave = llvm::min_element(costs) - costs.begin();
    costs[wave] += chunk.cost + 1;
    if (taken[wave] == int64_t(rounds.size()))
      rounds.emplace_back(threads);
    SegmentPart *next = &rounds[taken[wave]++][wave * width];
    for (const Segment &segment : chunk.segments) {
      int32_t begin = segments[segment.number],
              end = segments[segment.number + 1];
      for (int32_t lane = 0; lane < segment.lanes; ++lane) {
        SegmentPart &part = *next++;
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
  }
  // All end together: a wavefront with fewer rounds has them last.
  for (auto [wave, count] : llvm::enumerate(taken)) {
    size_t missing = rounds.size() - count;
    for (size_t r = rounds.size(); missing != 0 && r-- > missing;)
      std::swap_ranges(&rounds[r][wave * width],
                       &rounds[r][wave * width] + width,
                       &rounds[r - missing][wave * width]);
  }
  return rounds;
}

SmallVector<SmallVector<int32_t>>
wavesmith::firstSlots(ArrayRef<PlacementRound> rounds, int64_t threads) {
  int64_t width = std::min(threads, kWavefront);
  SmallVector<SmallVector<int32_t>> slots(divideCeil(threads, width));
  for (auto [wave, own] : llvm::enumerate(slots)) {
    own.push_back(0);
    for (const PlacementRound &round : rounds) {
      int32_t most = 0;
      for (const SegmentPart &part : ArrayRef(round).slice(wave * width, width))
        most = std::max(most, part.count);
      own.push_back(own.back() + most);
    }
  }
  return slots;
}
