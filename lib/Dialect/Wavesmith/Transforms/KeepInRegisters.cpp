//===- KeepInRegisters.cpp - Register residency ---------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_KEEPINREGISTERSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

class KeepInRegistersPass
    : public wavesmith::impl::KeepInRegistersPassBase<KeepInRegistersPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void keep(WorkgroupOp workgroup);
};

} // namespace

/// Registers that one place of a resident reduction takes for a tensor of
/// elements, or nullopt if it cannot be resident.
static std::optional<int64_t> registersOf(Value tensor, Operation *loop) {
  int64_t own = llvm::divideCeil(
      getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth(), 32);
  Operation *op = tensor.getDefiningOp();
  if (op && isa<arith::ConstantOp, tensor::SplatOp>(op))
    return 0;
  if (isa_and_nonnull<TableOp>(op))
    return own;
  if (auto stage = dyn_cast_or_null<StageOp>(op)) {
    if (stage.getSpace() == MemorySpace::Registers)
      return std::nullopt;
    // What the loop writes is read at places that do not change.
    return isBefore(tensor, loop) ? own : 1;
  }
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    if (!gather.getIndices().getDefiningOp<TableOp>())
      return std::nullopt;
    return registersOf(gather.getSource(), loop);
  }
  if (!op || !isElementwise(op))
    return std::nullopt;
  int64_t sum = 0;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType()))
      continue;
    std::optional<int64_t> part = registersOf(operand, loop);
    if (!part)
      return std::nullopt;
    sum += *part;
  }
  return sum;
}

/// The tables of a workgroup's loops that threads read at their own elements
/// of what is computed from them.
static SmallVector<TableOp> findOwnTables(WorkgroupOp workgroup) {
  DenseSet<Value> seen;
  SmallVector<Value> worklist;
  auto need = [&](Value value) {
    if (isa<TensorType>(value.getType()) && seen.insert(value).second)
      worklist.push_back(value);
  };
  workgroup.walk([&](Operation *op) {
    if (!loopAround(op))
      return;
    if (isa<StoreZoneOp, StageOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
      llvm::for_each(op->getOperands(), need);
    if (auto reduce = dyn_cast<SegmentedReduceOp>(op))
      if (reduce.getNumSegments() == 1 && reduce.getLanesOf(0) > 1)
        llvm::for_each(reduce.getElements(), need);
  });
  SmallVector<TableOp> tables;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (auto table = dyn_cast<TableOp>(op))
      tables.push_back(table);
    else if (auto gather = dyn_cast<GatherOp>(op))
      need(gather.getIndices());
    else if (auto replicate = dyn_cast<ReplicateOp>(op))
      need(replicate.getSource());
    else if (isElementwise(op) || isa<tensor::ConcatOp>(op))
      llvm::for_each(op->getOperands(), need);
  }
  return tables;
}

void KeepInRegistersPass::keep(WorkgroupOp workgroup) {
  int64_t threads = *workgroup.getThreadsPerZone();
  // Half of a thread's registers at the number of wavefronts that a SIMD has
  // to hold; the rest is for what the code computes.
  int64_t wavesPerSIMD =
      std::max<int64_t>(1, int64_t(workgroup.getSize()) / 256);
  int64_t left = registers != 0
                     ? int64_t(registers)
                     : std::min<int64_t>(256, 512 / wavesPerSIMD) / 2;
  workgroup.walk([&](SegmentedReduceOp op) {
    Operation *loop = loopAround(op);
    if (!loop || op.getResident() || threads == 1 ||
        (op.getNumSegments() == 1 && op.getLanesOf(0) > 64))
      return;
    auto layout = cast<RankedTensorType>(op.getElements()[0].getType());
    if (layout.getEncoding() ||
        (op.getNumSegments() == 1 && op.getLanesOf(0) == threads))
      return;
    if (llvm::any_of(llvm::seq(op.getNumSegments()), [&](unsigned i) {
          return op.getLanesOf(i) > std::min(threads, kWavefront);
        }))
      return;
    int64_t perPlace = 0;
    for (Value tensor : op.getElements()) {
      std::optional<int64_t> part = registersOf(tensor, loop);
      if (!part) {
        sayNotDone(op, "keep-in-registers",
                   "not kept in registers: its elements are computed from "
                   "what other threads hold");
        return;
      }
      perPlace += *part;
    }
    int64_t places = 0;
    for (ArrayRef<int32_t> slots :
         firstSlots(placeSegments(op, threads), threads))
      places = std::max<int64_t>(places, slots.back());
    if (places * perPlace > left) {
      sayNotDone(op, "keep-in-registers",
                 "not kept in registers: takes " +
                     llvm::Twine(places * perPlace) + " of them a thread, " +
                     llvm::Twine(left) + " are left");
      return;
    }
    left -= places * perPlace;
    op.setResident(true);
    sayDone(op, "keep-in-registers",
            "kept in " + llvm::Twine(places * perPlace) +
                " registers a thread");
  });
  for (TableOp table : findOwnTables(workgroup)) {
    Operation *loop = loopAround(table);
    // Read from constant memory where another reduction wants it.
    if (!loop || llvm::any_of(table->getUsers(), [](Operation *user) {
          return isa<StageOp>(user);
        }))
      continue;
    auto type = cast<RankedTensorType>(table.getResult().getType());
    int64_t needed = llvm::divideCeil(type.getDimSize(0), threads) *
                     llvm::divideCeil(type.getElementTypeBitWidth(), 32);
    if (needed > left)
      continue;
    left -= needed;
    while (Operation *outer = loopAround(loop))
      loop = outer;
    // The users that read elements of their own; others keep the table.
    OpBuilder builder(loop);
    auto own = cast<TableOp>(builder.clone(*table));
    Value kept;
    for (OpOperand &use : llvm::make_early_inc_range(table->getUses())) {
      Operation *user = use.getOwner();
      if (auto reduce = dyn_cast<SegmentedReduceOp>(user))
        if (reduce.getLanesOf(0) == 1 || reduce.getNumSegments() != 1)
          continue;
      if (auto gather = dyn_cast<GatherOp>(user))
        if (llvm::any_of(gather->getUsers(), [](Operation *reader) {
              return isa<SegmentedReduceOp>(reader);
            }))
          continue;
      if (auto replicate = dyn_cast<ReplicateOp>(user)) {
        // Laid out for wavefronts, and then kept.
        builder.setInsertionPoint(loop);
        auto laidOut = cast<ReplicateOp>(builder.clone(*replicate));
        laidOut.getSourceMutable().assign(own.getResult());
        replicate.replaceAllUsesWith(
            StageOp::create(builder, table.getLoc(),
                            laidOut.getResult().getType(), laidOut.getResult(),
                            MemorySpace::Registers)
                .getResult());
        continue;
      }
      if (!kept) {
        builder.setInsertionPoint(loop);
        kept = StageOp::create(builder, table.getLoc(), type, own.getResult(),
                               MemorySpace::Registers);
      }
      use.set(kept);
    }
    sayDone(table, "keep-in-registers",
            "kept in " + llvm::Twine(needed) + " registers a thread");
  }
  eraseUnused(workgroup);
}

void KeepInRegistersPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation()))
    keep(workgroup);
}
