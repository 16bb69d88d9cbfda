//===- ReplicateInWavefronts.cpp - What each wavefront has whole ----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_REPLICATEINWAVEFRONTSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

/// Tensors that have to change their layout together.
struct Component {
  llvm::SetVector<Value> values;
  /// Why they cannot.
  Operation *obstacle = nullptr;
};

class ReplicateInWavefrontsPass
    : public wavesmith::impl::ReplicateInWavefrontsPassBase<
          ReplicateInWavefrontsPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void replicate(WorkgroupOp workgroup);
};

} // namespace

/// The values that an operand of control flow, or a result, is the same as.
static void collectSame(Value value, SmallVectorImpl<Value> &same) {
  auto add = [&](Value other) { same.push_back(other); };
  auto ofLoop = [&](scf::WhileOp loop, unsigned before) {
    // The condition passes on the arguments as they are, or others.
    add(loop.getInits()[before]);
    add(loop.getBeforeArguments()[before]);
    add(loop.getYieldOp().getOperand(before));
  };
  auto afterLoop = [&](scf::WhileOp loop, unsigned after) {
    add(loop.getConditionOp().getArgs()[after]);
    add(loop.getAfterArguments()[after]);
    add(loop.getResult(after));
  };
  auto ofFor = [&](scf::ForOp loop, unsigned i) {
    add(loop.getInitArgs()[i]);
    add(loop.getRegionIterArg(i));
    add(loop.getYieldedValues()[i]);
    add(loop.getResult(i));
  };
  auto ofIf = [&](scf::IfOp op, unsigned i) {
    add(op.getResult(i));
    add(op.thenYield().getOperand(i));
    add(op.elseYield().getOperand(i));
  };
  if (auto result = dyn_cast<OpResult>(value)) {
    unsigned i = result.getResultNumber();
    if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
      afterLoop(loop, i);
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      ofFor(loop, i);
    if (auto op = dyn_cast<scf::IfOp>(result.getOwner()))
      ofIf(op, i);
  } else {
    auto argument = cast<BlockArgument>(value);
    unsigned i = argument.getArgNumber();
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getBeforeBody())
        ofLoop(loop, i);
      else
        afterLoop(loop, i);
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      ofFor(loop, i - loop.getNumInductionVars());
  }
  for (OpOperand &use : value.getUses()) {
    Operation *owner = use.getOwner();
    unsigned i = use.getOperandNumber();
    if (auto loop = dyn_cast<scf::WhileOp>(owner))
      ofLoop(loop, i);
    if (auto loop = dyn_cast<scf::ForOp>(owner))
      if (i >= loop.getNumControlOperands())
        ofFor(loop, i - loop.getNumControlOperands());
    if (auto condition = dyn_cast<scf::ConditionOp>(owner))
      if (i > 0)
        afterLoop(cast<scf::WhileOp>(owner->getParentOp()), i - 1);
    if (isa<scf::YieldOp>(owner)) {
      Operation *parent = owner->getParentOp();
      if (auto loop = dyn_cast<scf::WhileOp>(parent))
        ofLoop(loop, i);
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        ofFor(loop, i);
      if (auto op = dyn_cast<scf::IfOp>(parent))
        ofIf(op, i);
    }
  }
}

static Component collect(ArrayRef<Value> seeds) {
  Component component;
  SmallVector<Value> worklist;
  auto add = [&](Value value) {
    if (!isa<TensorType>(value.getType()))
      return;
    // These are read in either layout.
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<TableOp, SegmentedReduceOp, tensor::ExtractSliceOp>(op))
      return;
    if (auto stage = dyn_cast_or_null<StageOp>(op))
      if (stage.getSpace() != MemorySpace::Registers &&
          !component.values.contains(stage.getSource()))
        return;
    if (component.values.insert(value))
      worklist.push_back(value);
  };
  llvm::for_each(seeds, add);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    SmallVector<Value> same;
    collectSame(value, same);
    llvm::for_each(same, add);
    Operation *op = value.getDefiningOp();
    if (op && isElementwise(op))
      llvm::for_each(op->getOperands(), add);
    else if (auto stage = dyn_cast_or_null<StageOp>(op))
      add(stage.getSource());
    else if (op && isa<GatherOp>(op) &&
             !cast<GatherOp>(op).getIndices().getDefiningOp<TableOp>())
      component.obstacle = op;
    else if (op &&
             !isa<GatherOp, LoadZoneOp, arith::ConstantOp, tensor::SplatOp,
                  scf::WhileOp, scf::ForOp, scf::IfOp>(op))
      component.obstacle = op;
    for (OpOperand &use : value.getUses()) {
      Operation *owner = use.getOwner();
      if (isElementwise(owner))
        add(owner->getResult(0));
      else if (auto stage = dyn_cast<StageOp>(owner))
        add(stage.getResult());
      else if (auto gather = dyn_cast<GatherOp>(owner)) {
        if (gather.getIndices() == value)
          component.obstacle = owner;
      } else if (auto reduce = dyn_cast<SegmentedReduceOp>(owner)) {
        if (reduce.getNumSegments() != 1 || reduce.getLanesOf(0) == 1)
          component.obstacle = owner;
        llvm::for_each(reduce.getElements(), add);
      } else if (!isa<StoreZoneOp, tensor::ExtractOp, scf::WhileOp, scf::ForOp,
                      scf::ConditionOp, scf::YieldOp>(owner)) {
        component.obstacle = owner;
      }
    }
  }
  return component;
}

void ReplicateInWavefrontsPass::replicate(WorkgroupOp workgroup) {
  SmallVector<Value> seeds;
  workgroup.walk([&](SegmentedReduceOp op) {
    if (op.getNumSegments() == 1 && op.getLanesOf(0) > kWavefront &&
        loopAround(op) &&
        !cast<RankedTensorType>(op.getElements()[0].getType()).getEncoding() &&
        numElements(op.getElements()[0]) <= kWavefront * mostElements)
      llvm::append_range(seeds, op.getElements());
  });
  if (seeds.empty())
    return;
  Component component = collect(seeds);
  if (component.obstacle) {
    sayNotDone(
        component.obstacle, "replicate-in-wavefronts",
        "needs its tensors shared out over the workgroup: not replicated");
    return;
  }
  auto layout = PerWavefrontAttr::get(&getContext());
  auto replicated = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                                 layout);
  };
  // What comes from outside.
  auto enter = [&](OpOperand &operand) {
    Value value = operand.get();
    if (!isa<TensorType>(value.getType()) || component.values.contains(value) ||
        cast<RankedTensorType>(value.getType()).getEncoding())
      return;
    Operation *op = value.getDefiningOp();
    OpBuilder builder(operand.getOwner());
    Location loc = value.getLoc();
    // A reduction by threads of their own leaves its result with them.
    if (auto reduce = dyn_cast_or_null<SegmentedReduceOp>(op)) {
      bool isShared = reduce.getResident();
      for (unsigned i = 0; i < reduce.getNumSegments(); ++i)
        isShared |= reduce.getLanesOf(i) > 1;
      builder.setInsertionPointAfter(reduce);
      if (!isShared)
        value = StageOp::create(builder, loc, value.getType(), value,
                                MemorySpace::Global);
    }
    operand.set(
        ReplicateOp::create(builder, loc, replicated(value.getType()), value));
  };
  llvm::SetVector<Operation *> users;
  for (Value value : component.values) {
    if (Operation *op = value.getDefiningOp())
      users.insert(op);
    for (Operation *user : value.getUsers())
      users.insert(user);
  }
  for (Operation *op : users) {
    if (auto gather = dyn_cast<GatherOp>(op)) {
      if (component.values.contains(gather.getResult()))
        enter(gather.getIndicesMutable());
    } else if (isElementwise(op) ||
               isa<SegmentedReduceOp, scf::WhileOp, scf::ForOp, scf::YieldOp,
                   scf::ConditionOp>(op)) {
      for (OpOperand &operand : op->getOpOperands()) {
        // Control flow carries tensors of both kinds.
        if (!isElementwise(op) && !isa<SegmentedReduceOp>(op)) {
          SmallVector<Value> same;
          collectSame(operand.get(), same);
          if (llvm::none_of(same, [&](Value value) {
                return component.values.contains(value);
              }))
            continue;
        }
        enter(operand);
      }
    }
    if (auto reduce = dyn_cast<SegmentedReduceOp>(op))
      if (reduce.getNumSegments() == 1)
        reduce.setLanes(ArrayRef<int32_t>{int32_t(kWavefront)});
  }
  for (Value value : component.values) {
    value.setType(replicated(value.getType()));
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          DenseElementsAttr::get(cast<ShapedType>(value.getType()),
                                 cast<DenseElementsAttr>(constant.getValue())
                                     .getSplatValue<Attribute>()));
  }
  sayDone(workgroup, "replicate-in-wavefronts",
          "every wavefront computes " + llvm::Twine(component.values.size()) +
              " tensors for itself");
}

void ReplicateInWavefrontsPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation()))
    if (*workgroup.getThreadsPerZone() > kWavefront)
      replicate(workgroup);
}
