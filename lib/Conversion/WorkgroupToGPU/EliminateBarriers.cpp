//===- EliminateBarriers.cpp - Barriers that order nothing ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_ELIMINATEBARRIERSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

/// Memory that was accessed: 1 read, 2 written; null stands for any.
using Accesses = llvm::SmallDenseMap<Value, unsigned, 8>;

class EliminateBarriersPass
    : public wavesmith::impl::EliminateBarriersPassBase<EliminateBarriersPass> {
public:
  void runOnOperation() override;

private:
  bool eliminateOne(gpu::GPUFuncOp kernel);
};

} // namespace

static Value baseOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

static void addAccess(Operation *op, Accesses &accesses) {
  if (op->hasAttr(kOwnWavefrontAttrName))
    return;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    accesses[baseOf(load.getMemRef())] |= 1;
    return;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    accesses[baseOf(store.getMemRef())] |= 2;
    return;
  }
  // Between registers of a wavefront, or for the compiler only.
  if (isMemoryEffectFree(op) || isa<BranchOpInterface>(op) ||
      isa<amdgpu::DPPOp, gpu::ShuffleOp, ROCDL::ReadlaneOp,
          ROCDL::ReadfirstlaneOp, ROCDL::BallotOp, LLVM::FenceOp,
          gpu::ReturnOp>(op))
    return;
  accesses[Value()] |= 3;
}

/// Whether what is before a barrier may need it for what is after.
static bool conflict(const Accesses &before, const Accesses &after) {
  for (auto [memory, kind] : before)
    for (auto [other, otherKind] : after)
      if ((memory == other || !memory || !other) && ((kind | otherKind) & 2))
        return true;
  return false;
}

/// What is accessed from a place on up to the next barriers (forward), or
/// before it since the last ones.
static Accesses collect(Operation *barrier, bool forward) {
  Accesses accesses;
  // Blocks that are entered from their beginning, or end.
  llvm::SetVector<Block *> blocks;
  auto addNeighbours = [&](Block *block) {
    if (forward)
      blocks.insert(block->succ_begin(), block->succ_end());
    else
      blocks.insert(block->pred_begin(), block->pred_end());
  };
  auto walk = [&](Operation *op, Block *block) {
    for (; op; op = forward ? op->getNextNode() : op->getPrevNode()) {
      if (isa<gpu::BarrierOp>(op))
        return;
      addAccess(op, accesses);
    }
    addNeighbours(block);
  };
  walk(forward ? barrier->getNextNode() : barrier->getPrevNode(),
       barrier->getBlock());
  for (size_t i = 0; i < blocks.size(); ++i) {
    Block *block = blocks[i];
    walk(forward ? &block->front() : &block->back(), block);
  }
  return accesses;
}

bool EliminateBarriersPass::eliminateOne(gpu::GPUFuncOp kernel) {
  SmallVector<gpu::BarrierOp> barriers;
  kernel.walk([&](gpu::BarrierOp op) { barriers.push_back(op); });
  for (gpu::BarrierOp barrier : barriers) {
    if (conflict(collect(barrier, false), collect(barrier, true)))
      continue;
    barrier.erase();
    return true;
  }
  return false;
}

void EliminateBarriersPass::runOnOperation() {
  for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
    while (eliminateOne(kernel)) {
    }
}
