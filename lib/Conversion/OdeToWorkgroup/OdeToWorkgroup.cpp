//===- OdeToWorkgroup.cpp - Quantities of systems as workgroup code -------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"

namespace wavesmith {
#define GEN_PASS_DEF_CONVERTODETOWORKGROUPPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

SmallVector<TermWeights> wavesmith::getTermWeights(OdeSystemOp system,
                                                   Quantity quantity) {
  SmallVector<TermWeights> all;
  for (TermOp term : getTerms(system)) {
    TermWeights &weights = all.emplace_back();
    if (quantity == Quantity::TermValues)
      continue;
    auto gains =
        getWeightedStates(system, term.getGainStates(), term.getGains());
    auto losses =
        getWeightedStates(system, term.getLossStates(), term.getLosses());
    if (quantity == Quantity::ProductionLoss) {
      weights = {gains, losses};
      continue;
    }
    llvm::SmallMapVector<unsigned, double, 8> net;
    for (const WeightedState &entry : gains)
      net[entry.state] += entry.weight;
    for (const WeightedState &entry : losses)
      net[entry.state] -= entry.weight;
    auto &list = weights.emplace_back();
    for (auto [state, weight] : net)
      if (weight != 0)
        list.push_back({state, weight});
    llvm::sort(list, [](const WeightedState &a, const WeightedState &b) {
      return a.state < b.state;
    });
  }
  return all;
}

namespace {

/// The one operation of a function that asks for a quantity.
struct Request {
  Operation *op = nullptr;
  OdeSystemOp system;
  /// Of operations that ask for one.
  Quantity quantity = Quantity::Derivatives;
  OdeScheduleAttr schedule;
  bool hasParameters = false;
};

class ConvertOdeToWorkgroupPass
    : public wavesmith::impl::ConvertOdeToWorkgroupPassBase<
          ConvertOdeToWorkgroupPass> {
public:
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto walk = function.walk([](Operation *op) {
        return isa<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp,
                   OdeIntegrateOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (walk.wasInterrupted())
        functions.push_back(function);
    }
    for (func::FuncOp function : functions)
      if (failed(convert(function)))
        return signalPassFailure();
    // The systems have done their work.
    for (auto system :
         llvm::make_early_inc_range(getOperation().getOps<OdeSystemOp>()))
      if (SymbolTable::symbolKnownUseEmpty(system, getOperation()))
        system.erase();
  }

private:
  FailureOr<Request> findRequest(func::FuncOp function);
  LogicalResult convert(func::FuncOp function);
};

} // namespace

FailureOr<Request>
ConvertOdeToWorkgroupPass::findRequest(func::FuncOp function) {
  Request request;
  auto take = [&](auto op, Quantity quantity) {
    request.op = op;
    request.system = SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(
        op, op.getSystemAttr());
    request.quantity = quantity;
    request.schedule = op.getScheduleAttr();
    request.hasParameters = bool(op.getParameters());
  };
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a kernel function of one block");
  for (Operation &op : function.getBody().front()) {
    if (isa<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp, OdeIntegrateOp>(
            op) &&
        !request.op) {
      if (auto integrate = dyn_cast<OdeIntegrateOp>(op))
        take(integrate, Quantity::ProductionLoss);
      else if (auto rhs = dyn_cast<OdeRhsOp>(op))
        take(rhs, Quantity::Derivatives);
      else if (auto parts = dyn_cast<OdeProductionLossOp>(op))
        take(parts, Quantity::ProductionLoss);
      else
        take(cast<OdeTermValuesOp>(op), Quantity::TermValues);
      continue;
    }
    if (isa<func::ReturnOp>(op) && request.op &&
        llvm::equal(op.getOperands(), request.op->getResults()))
      continue;
    return op.emitError("not supported in a kernel function: it holds one "
                        "operation that asks for a quantity of a system, and "
                        "returns its results");
  }
  if (!request.op)
    return function.emitError("expected the operation that asks for a quantity "
                              "of a system in the function's body itself");
  if (!llvm::equal(request.op->getOperands(), function.getArguments()))
    return request.op->emitError("expected the function's arguments as "
                                 "operands, each once and in order");
  if (!request.schedule)
    return request.op->emitError("expected a schedule; run "
                                 "--wavesmith-select-schedule first");
  bool isCooperative = request.schedule.getForm() == CodeForm::Cooperative;
  if (isa<OdeIntegrateOp>(request.op) != isCooperative)
    return request.op->emitError("expected a schedule of the form ")
           << (isCooperative ? "straight_line or table" : "cooperative")
           << ", got " << stringifyCodeForm(request.schedule.getForm());
  return request;
}

LogicalResult ConvertOdeToWorkgroupPass::convert(func::FuncOp function) {
  FailureOr<Request> request = findRequest(function);
  if (failed(request))
    return failure();
  OpBuilder builder(&getContext());
  Location loc = request->op->getLoc();

  // Tensors become memory: the arguments, then the results, then the number
  // of zones.
  auto global =
      gpu::AddressSpaceAttr::get(&getContext(), gpu::AddressSpace::Global);
  auto toMemory = [&](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return type;
    return MemRefType::get(tensor.getShape(), tensor.getElementType(),
                           MemRefLayoutAttrInterface(), global);
  };
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto addArgument = [&](Type type, DictionaryAttr known, const Twine &name,
                         bool isOutput) {
    types.push_back(toMemory(type));
    NamedAttrList list(known);
    if (!list.get(kNameAttrName))
      list.set(kNameAttrName, builder.getStringAttr(name));
    if (isOutput)
      list.set(kOutputAttrName, builder.getUnitAttr());
    attributes.push_back(list.getDictionary(&getContext()));
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    addArgument(type, function.getArgAttrDict(i), "arg" + Twine(i), false);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    addArgument(type, function.getResultAttrDict(i), "result" + Twine(i), true);
  addArgument(builder.getIndexType(), {}, "num_zones", false);

  builder.setInsertionPoint(function);
  auto kernel =
      func::FuncOp::create(builder, function.getLoc(), function.getName(),
                           builder.getFunctionType(types, {}),
                           ArrayRef<NamedAttribute>(), attributes);
  Block *entry = kernel.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  int64_t size = request->schedule.getWorkgroupSize();
  auto workgroup =
      WorkgroupOp::create(builder, loc, entry->getArguments().back(), size,
                          /*threads_per_zone=*/IntegerAttr());
  func::ReturnOp::create(builder, loc);
  if (auto integrate = dyn_cast<OdeIntegrateOp>(request->op)) {
    workgroup.setThreadsPerZone(request->schedule.getThreadsPerZone());
    builder.createBlock(&workgroup.getBody());
    LogicalResult result = emitIntegration(
        builder, integrate, request->system, entry->getArguments().drop_back());
    function.erase();
    return result;
  }

  KernelArguments arguments;
  auto next = entry->args_begin();
  arguments.time = *next++;
  arguments.states = *next++;
  if (request->hasParameters)
    arguments.parameters = *next++;
  while (arguments.results.size() < function.getNumResults())
    arguments.results.push_back(*next++);

  builder.createBlock(&workgroup.getBody());
  BlockBuilder b(builder, loc, size);
  LogicalResult result =
      request->schedule.getForm() == CodeForm::StraightLine
          ? emitStraightLine(b, request->system, request->quantity, arguments)
          : emitTable(b, request->system, request->quantity, arguments);
  function.erase();
  return result;
}
