//===- PromoteToLDS.cpp - LDS promotion -----------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_PROMOTETOLDSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

class PromoteToLDSPass
    : public wavesmith::impl::PromoteToLDSPassBase<PromoteToLDSPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void promote(WorkgroupOp workgroup, int64_t limit);
};

} // namespace

/// Bytes of LDS that a tensor takes, in all its copies.
static int64_t bytesOf(Value tensor, int64_t copies, int64_t threads) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t room =
      roomInLDS(type.getDimSize(0), threads,
                isa_and_nonnull<PerWavefrontAttr>(type.getEncoding()));
  return llvm::alignTo(room * copies * (type.getElementTypeBitWidth() / 8), 8);
}

/// Sorts operations; those with the same key stay in their order.
template <typename OpT, typename KeyT>
static void sortByKey(SmallVectorImpl<OpT> &operations, KeyT key) {
  SmallVector<std::pair<decltype(key(operations[0])), size_t>> order;
  for (auto [i, op] : llvm::enumerate(operations))
    order.push_back({key(op), i});
  llvm::sort(order);
  operations = llvm::map_to_vector(
      order, [&](const auto &entry) { return operations[entry.second]; });
}

void PromoteToLDSPass::promote(WorkgroupOp workgroup, int64_t limit) {
  int64_t size = workgroup.getSize();
  int64_t threads = *workgroup.getThreadsPerZone();
  int64_t zones = size / threads;
  int64_t waves = llvm::divideCeil(size, kWavefront);
  auto copiesOf = [&](Value tensor) {
    bool isCopied = isa_and_nonnull<PerWavefrontAttr>(
        cast<RankedTensorType>(tensor.getType()).getEncoding());
    return std::max(zones, isCopied ? waves : 1);
  };
  int64_t used = 0;
  SmallVector<StageOp> stages;
  SmallVector<TableOp> tables;
  workgroup.walk([&](Operation *op) {
    // What the distribution places there itself.
    if (auto reduce = dyn_cast<SegmentedReduceOp>(op)) {
      for (Value result : reduce.getResults())
        used += bytesOf(result, zones, threads);
      if (reduce.getNumSegments() == 1)
        used += 8 * roomInLDS(waves, threads, /*perWavefront=*/false) *
                reduce.getNumResults();
    }
    auto stage = dyn_cast<StageOp>(op);
    if (stage && stage.getSpace() == MemorySpace::LDS)
      used += bytesOf(stage.getResult(), copiesOf(stage.getResult()), threads);
    if (stage && stage.getSpace() == MemorySpace::Global)
      stages.push_back(stage);
    auto table = dyn_cast<TableOp>(op);
    if (table && loopAround(table) && !table->use_empty())
      tables.push_back(table);
  });
  // Those that a loop reads; what is read all the time first, then small ones.
  auto isRead = [&](StageOp op) {
    Operation *own = loopAround(op);
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *loop = loopAround(user);
      if (!loop)
        return false;
      auto reduce = dyn_cast<SegmentedReduceOp>(user);
      return loop == own || !reduce || !reduce.getResident();
    });
  };
  llvm::erase_if(stages, [&](StageOp op) { return !isRead(op); });
  auto key = [&](StageOp op) {
    return std::pair(
        loopAround(op) == nullptr,
        bytesOf(op.getResult(), copiesOf(op.getResult()), threads));
  };
  sortByKey(stages, key);
  for (StageOp op : stages) {
    int64_t bytes = bytesOf(op.getResult(), copiesOf(op.getResult()), threads);
    if (used + bytes > limit) {
      sayNotDone(op, "promote-to-lds",
                 "not promoted: needs " + llvm::Twine(bytes) +
                     " bytes of LDS, " + llvm::Twine(limit - used) +
                     " are left");
      continue;
    }
    used += bytes;
    op.setSpace(MemorySpace::LDS);
    sayDone(op, "promote-to-lds",
            "promoted to LDS, " + llvm::Twine(bytes) + " bytes");
  }
  // Tables that a loop reads element by element. Several zones would each have
  // a copy of what is the same for all.
  if (zones > 1)
    return;
  llvm::erase_if(tables, [&](TableOp op) {
    return feedsResident(op) ||
           llvm::any_of(op->getUsers(), [](Operation *user) {
             return isa<StageOp, ReplicateOp>(user);
           });
  });
  sortByKey(tables, [&](TableOp op) {
    return bytesOf(op.getResult(), zones, threads);
  });
  for (TableOp op : tables) {
    int64_t bytes = bytesOf(op.getResult(), zones, threads);
    if (used + bytes > limit) {
      sayNotDone(op, "promote-to-lds",
                 "not promoted: needs " + llvm::Twine(bytes) +
                     " bytes of LDS, " + llvm::Twine(limit - used) +
                     " are left");
      continue;
    }
    used += bytes;
    Operation *loop = loopAround(op);
    while (Operation *outer = loopAround(loop))
      loop = outer;
    op->moveBefore(loop);
    OpBuilder builder(loop);
    auto stage = StageOp::create(builder, op.getLoc(), op.getResult().getType(),
                                 op.getResult(), MemorySpace::LDS);
    op.getResult().replaceAllUsesExcept(stage.getResult(), stage);
    sayDone(op, "promote-to-lds",
            "promoted to LDS, " + llvm::Twine(bytes) + " bytes");
  }
}

void PromoteToLDSPass::runOnOperation() {
  int64_t limit = ldsBytes;
  if (limit == 0) {
    FailureOr<const TargetInfo *> target = findTarget(getOperation());
    if (succeeded(target) && !*target)
      target = getOperation().emitError(
          "expected a module with a target, or lds-bytes");
    if (failed(target))
      return signalPassFailure();
    limit = (*target)->ldsBytes;
  }
  for (WorkgroupOp workgroup : sharedZones(getOperation()))
    promote(workgroup, limit);
}
