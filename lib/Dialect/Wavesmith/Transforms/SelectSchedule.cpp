//===- SelectSchedule.cpp - Choose how kernels are mapped -----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/AttentionSchedule.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace wavesmith {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// How often unrolled code calls exp, log and the like, by the formulas of the
/// operations.
static int64_t countFunctionCalls(OdeSystemOp system) {
  int64_t count = 0;
  for (Operation &op : system.getBody().front())
    count += llvm::TypeSwitch<Operation *, int64_t>(&op)
                 .Case([](ArrheniusOp op) {
                   return op.getB().isZero() && op.getE().isZero() ? 0 : 1;
                 })
                 .Case([](ReverseRateOp) { return 1; })
                 .Case([](ReaclibOp op) { return op.getSets().size() / 7; })
                 .Case([](TroeOp op) { return 5 + bool(op.getT2()); })
                 .Case([](SriOp) { return 6; })
                 .Case([](TsangOp) { return 3; })
                 .Case([](PlogOp op) { return 1 + op.getRates().size() / 4; })
                 .Case([](ChebyshevOp) { return 1; })
                 .Case([](TermOp op) {
                   return 2 * llvm::count_if(op.getOrders(), [](double o) {
                            return o != 1 && o != 2 && o != 3 && o != 4;
                          });
                 })
                 .Default([](Operation *op) {
                   bool isCall = isa<math::MathDialect>(op->getDialect()) &&
                                 !isa<math::FmaOp, math::AbsFOp>(op);
                   return isCall ? 1 : 0;
                 });
  return count;
}

namespace {
class SelectSchedulePass
    : public wavesmith::impl::SelectSchedulePassBase<SelectSchedulePass> {
public:
  using SelectSchedulePassBase::SelectSchedulePassBase;

  void runOnOperation() override;

private:
  template <typename Op> LogicalResult select(Op op, const TargetInfo &target);
};
} // namespace

template <typename Op>
LogicalResult SelectSchedulePass::select(Op op, const TargetInfo &target) {
  OdeScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule) {
    auto system = SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(
        op, op.getSystemAttr());
    constexpr bool isIntegration = std::is_same_v<Op, OdeIntegrateOp>;
    int64_t size = workgroupSize.getValue();
    int64_t threads = threadsPerZone.getValue();
    CodeForm chosen = CodeForm::Cooperative;
    if (isIntegration) {
      if (form != "auto" && form != "cooperative")
        return op.emitError("expected the form cooperative for an "
                            "integration, got ")
               << form;
      if (size == 0)
        // A wavefront for each SIMD: what all of them compute for themselves
        // takes no longer than in one, and more would share a SIMD for it.
        size = threads > int64_t(target.wavefrontSize)
                   ? threads
                   : std::min(target.simdsPerCU * target.wavefrontSize,
                              target.maxWorkgroupSize);
      if (threads == 0)
        threads = size;
    } else {
      chosen = countFunctionCalls(system) <= straightLineLimit
                   ? CodeForm::StraightLine
                   : CodeForm::Table;
      if (form != "auto") {
        std::optional<CodeForm> asked = symbolizeCodeForm(form.getValue());
        if (!asked || *asked == CodeForm::Cooperative)
          return op.emitError("unknown form '")
                 << form << "', expected auto, straight_line or table";
        chosen = *asked;
      }
      if (size == 0)
        size = target.wavefrontSize;
      threads = 1;
    }
    schedule = OdeScheduleAttr::getChecked(
        [&] { return op.emitError(); }, &getContext(), chosen, size, threads);
    if (!schedule)
      return failure();
    op.setScheduleAttr(schedule);
  }
  if (schedule.getWorkgroupSize() % target.wavefrontSize != 0 ||
      schedule.getWorkgroupSize() > int64_t(target.maxWorkgroupSize))
    return op.emitError("expected a workgroup size that is a multiple of ")
           << target.wavefrontSize << " and at most " << target.maxWorkgroupSize
           << " on " << target.architecture << ", got "
           << schedule.getWorkgroupSize();
  return success();
}

void SelectSchedulePass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<const TargetInfo *> target = findTarget(module);
  if (succeeded(target) && !*target)
    target = module.emitError("expected a module with a target; run "
                              "--wavesmith-attach-target first");
  if (failed(target))
    return signalPassFailure();
  auto walk = module.walk([&](Operation *op) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp,
                  OdeIntegrateOp>([&](auto op) { return select(op, **target); })
            .Case([&](AttentionOp op) {
              if (!op.getScheduleAttr())
                op.setScheduleAttr(getDefaultAttentionSchedule(op, *target));
              return success();
            })
            .Default([](Operation *) { return success(); });
    return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
