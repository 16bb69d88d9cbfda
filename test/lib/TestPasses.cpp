//===- TestPasses.cpp - Passes that validation must catch -----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace wavesmith;

namespace {

/// Changes a module by a function.
class TestPass : public PassWrapper<TestPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPass)

  using Function = void (*)(ModuleOp);
  explicit TestPass(Function function) : function(function) {}

  void runOnOperation() override { function(getOperation()); }

private:
  Function function;
};

} // namespace

static void doNothing(ModuleOp) {}

static void changeLanes(ModuleOp module) {
  module.walk([](SegmentedReduceOp op) {
    auto workgroup = op->getParentOfType<WorkgroupOp>();
    int64_t threads = workgroup.getThreadsPerZone().value_or(1);
    SmallVector<int32_t> lanes;
    for (unsigned i = 0; i != op.getNumSegments(); ++i)
      lanes.push_back(op.getLanesOf(i) == 1 && threads >= 4
                          ? 4
                          : static_cast<int32_t>(op.getLanesOf(i)));
    op.setLanes(lanes);
  });
}

static void moveSegmentBound(ModuleOp module) {
  module.walk([](SegmentedReduceOp op) {
    SmallVector<int32_t> segments(op.getSegments());
    for (size_t i = 1; i + 1 < segments.size(); ++i)
      if (segments[i] < segments[i + 1]) {
        ++segments[i];
        op.setSegments(segments);
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
}

static void swapOperands(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<arith::SubFOp, arith::DivFOp, math::FmaOp>(op) ||
        !op->getParentOfType<WorkgroupOp>())
      return WalkResult::advance();
    unsigned last = op->getNumOperands() - 1;
    Value a = op->getOperand(last - 1), b = op->getOperand(last);
    op->setOperand(last - 1, b);
    op->setOperand(last, a);
    return WalkResult::interrupt();
  });
}

static void dropBarriers(ModuleOp module) {
  module.walk([](gpu::BarrierOp op) { op.erase(); });
}

template <TestPass::Function function>
static std::unique_ptr<Pass> create(const CompileOptions &) {
  return std::make_unique<TestPass>(function);
}

ArrayRef<OptionalPass> test::getTestPasses() {
  static const std::vector<OptionalPass> passes = {
      {"test-nothing", create<doNothing>},
      {"test-lanes", create<changeLanes>, /*changesAnnotations=*/true},
      {"test-hidden-lanes", create<changeLanes>},
      {"test-segment-bound", create<moveSegmentBound>,
       /*changesAnnotations=*/true},
      {"test-swapped-operand", create<swapOperands>},
      {"test-dropped-barrier", create<dropBarriers>,
       /*changesAnnotations=*/false, OptionalPass::Level::Kernel},
  };
  return passes;
}
