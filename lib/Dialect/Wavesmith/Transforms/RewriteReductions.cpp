//===- RewriteReductions.cpp - Lanes of reductions ------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_REWRITEREDUCTIONSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

class RewriteReductionsPass
    : public wavesmith::impl::RewriteReductionsPassBase<RewriteReductionsPass> {
public:
  void runOnOperation() override;

private:
  void rewriteWhole(SegmentedReduceOp op, int64_t threads);
  void rewriteSegments(SegmentedReduceOp op, int64_t threads);
};

} // namespace

/// One segment: every thread takes part, with the elements that it has.
void RewriteReductionsPass::rewriteWhole(SegmentedReduceOp op,
                                         int64_t threads) {
  if (!llvm::isPowerOf2_64(threads) || numElements(op.getElements()[0]) < 2)
    return;
  op.setLanes(ArrayRef<int32_t>{int32_t(threads)});
  // What had to be visible to all is needed by its owner only.
  for (OpOperand &operand : op.getElementsMutable())
    if (auto stage = operand.get().getDefiningOp<StageOp>())
      if (!stage.getSource().getDefiningOp<tensor::ConcatOp>() &&
          loopAround(stage) == loopAround(op))
        operand.set(stage.getSource());
  sayDone(op, "rewrite-reductions",
          "reduced by " + llvm::Twine(threads) + " lanes");
}

/// Several segments: as many lanes for each that the work of a thread becomes
/// least.
void RewriteReductionsPass::rewriteSegments(SegmentedReduceOp op,
                                            int64_t threads) {
  ArrayRef<int32_t> segments = op.getSegments();
  int32_t longest = 0;
  for (unsigned i = 0; i < op.getNumSegments(); ++i)
    longest = std::max(longest, segments[i + 1] - segments[i]);
  int32_t most = std::min(threads, kWavefront);
  SmallVector<int32_t> best;
  int64_t least = 0;
  auto before = op.getLanesAttr();
  for (int32_t trips = 1; trips <= longest; ++trips) {
    SmallVector<int32_t> lanes;
    for (unsigned i = 0; i < op.getNumSegments(); ++i) {
      int32_t wanted = llvm::divideCeil(segments[i + 1] - segments[i], trips);
      lanes.push_back(
          std::min<int32_t>(most, llvm::PowerOf2Ceil(std::max(1, wanted))));
    }
    op.setLanes(lanes);
    // What costs the most is the wavefront with the most to do: in each round
    // its longest thread's elements, its tree, and the writing of its results,
    // as much as some elements.
    SmallVector<int64_t> costs(llvm::divideCeil(threads, most));
    for (const PlacementRound &round : placeSegments(op, threads))
      for (auto [wave, cost] : llvm::enumerate(costs)) {
        auto parts = ArrayRef(round).slice(wave * most, most);
        if (llvm::none_of(parts, [](auto &part) { return part.segment >= 0; }))
          continue;
        int32_t elements = 0, tree = 1;
        for (const SegmentPart &part : parts) {
          elements = std::max(elements, part.count);
          tree = std::max(tree, part.lanes);
        }
        cost += elements + llvm::Log2_32(tree) + 2;
      }
    int64_t cost = *llvm::max_element(costs);
    if (best.empty() || cost < least) {
      least = cost;
      best = lanes;
    }
  }
  if (llvm::all_of(best, [](int32_t lanes) { return lanes == 1; })) {
    op.setLanesAttr(before);
    sayNotDone(op, "rewrite-reductions",
               "kept: no segment is worth more than one lane");
    return;
  }
  op.setLanes(best);
  // Such results are visible to all.
  for (Value result : op.getResults())
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto stage = dyn_cast<StageOp>(user);
          stage && stage.getSpace() != MemorySpace::Registers)
        stage.replaceAllUsesWith(result);
  sayDone(op, "rewrite-reductions",
          "reduced by " + llvm::Twine(*llvm::min_element(best)) + " to " +
              llvm::Twine(*llvm::max_element(best)) + " lanes a segment");
}

void RewriteReductionsPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation())) {
    int64_t threads = *workgroup.getThreadsPerZone();
    if (threads == 1)
      continue;
    workgroup.walk([&](SegmentedReduceOp op) {
      // Whoever gave lanes meant them.
      if (op.getLanes())
        return;
      if (op.getNumSegments() == 1)
        rewriteWhole(op, threads);
      else if (loopAround(op))
        rewriteSegments(op, threads);
    });
    eraseUnused(workgroup);
  }
}
