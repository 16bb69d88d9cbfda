//===- RunningErrors.cpp - Rounding errors beside the numbers -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a workgroup's body again with, beside every floating-point value x, a
// bound e(x) >= |x - what it would be without rounding|, to first order: the
// operands' errors times the derivatives, and u |x| for the rounding of x
// itself. What has no error (inputs, constants) has no e either.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Validation/Validation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavesmith;

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

namespace {

class Rewriter {
public:
  explicit Rewriter(OpBuilder builder) : builder(builder) {}

  LogicalResult rewriteBlock(Block &block);

  IRMapping values;
  /// Of old values; absent where the error is zero.
  DenseMap<Value, Value> errors;
  /// For each memref of the old function the new one of errors.
  DenseMap<Value, Value> errorMemory;
  /// The operation that has no rule.
  std::string refusal;

private:
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteReduction(SegmentedReduceOp op);
  LogicalResult rewriteFor(scf::ForOp op);
  LogicalResult rewriteWhile(scf::WhileOp op);
  LogicalResult rewriteIf(scf::IfOp op);
  /// The error of the result of an operation of arith or math that has been
  /// cloned; null where it is zero.
  FailureOr<Value> getError(Operation *op);
  LogicalResult refuse(Operation *op) {
    refusal = op->getName().getStringRef().str();
    return failure();
  }

  /// The type of an error: f64, in a tensor where the value is one.
  Type errorType(Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.clone(builder.getF64Type());
    return builder.getF64Type();
  }
  Value constant(Type like, double number) {
    TypedAttr attribute;
    if (auto tensor = dyn_cast<RankedTensorType>(errorType(like)))
      attribute = DenseElementsAttr::get(tensor, number);
    else
      attribute = builder.getF64FloatAttr(number);
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value errorOf(Value old) { return errors.lookup(old); }
  Value errorOrZero(Value old) {
    Value error = errorOf(old);
    return error ? error : constant(old.getType(), 0);
  }
  Value add(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  /// |x| in f64.
  Value magnitude(Value x) {
    if (getElementTypeOrSelf(x).isF32())
      x = arith::ExtFOp::create(builder, loc, errorType(x.getType()), x);
    return math::AbsFOp::create(builder, loc, x);
  }
  /// The error of one rounding of a result, and of some units in the last
  /// place more.
  Value rounding(Value x, double units = 0.5) {
    double u = getElementTypeOrSelf(x).isF32() ? 0x1p-23 : 0x1p-52;
    return multiply(magnitude(x), constant(x.getType(), units * u));
  }
  /// An error times |factor|.
  Value scaled(Value error, Value factor) {
    return error ? multiply(error, magnitude(factor)) : Value();
  }
  /// An error over a divisor that is not negative; zero stays zero.
  Value divided(Value error, Value divisor) {
    if (!error)
      return {};
    Value quotient = arith::DivFOp::create(builder, loc, error, divisor);
    Value zero = constant(error.getType(), 0);
    Value isZero = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, error, zero);
    return arith::SelectOp::create(builder, loc, isZero, zero, quotient);
  }

  /// Types, then the errors of the floats among them.
  SmallVector<Type> typesWithErrors(TypeRange types) {
    SmallVector<Type> all(types);
    for (Type type : types)
      if (isFloat(type))
        all.push_back(errorType(type));
    return all;
  }
  /// New values, then the errors of the floats among the old ones.
  SmallVector<Value> withErrors(ValueRange old) {
    SmallVector<Value> all;
    for (Value value : old)
      all.push_back(values.lookup(value));
    for (Value value : old)
      if (isFloat(value.getType()))
        all.push_back(errorOrZero(value));
    return all;
  }
  /// Says that old values are these, laid out like withErrors.
  void mapWithErrors(ValueRange old, ValueRange all) {
    for (auto [value, mapped] : llvm::zip_first(old, all))
      values.map(value, mapped);
    size_t next = old.size();
    for (Value value : old)
      if (isFloat(value.getType()))
        errors[value] = all[next++];
  }
  /// Arguments of a block for old arguments, laid out like withErrors.
  void addArguments(ValueRange old, Block &block) {
    for (Type type : typesWithErrors(old.getTypes()))
      block.addArgument(type, loc);
    mapWithErrors(old, block.getArguments());
  }

  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
};

} // namespace

LogicalResult Rewriter::rewriteBlock(Block &block) {
  for (Operation &op : block)
    if (failed(rewrite(&op)))
      return failure();
  return success();
}

FailureOr<Value> Rewriter::getError(Operation *op) {
  Value r = values.lookup(op->getResult(0));
  auto x = [&](unsigned i) { return values.lookup(op->getOperand(i)); };
  auto e = [&](unsigned i) { return errorOf(op->getOperand(i)); };
  auto largest = [&]() -> Value {
    if (!e(0) && !e(1))
      return {};
    return arith::MaximumFOp::create(builder, loc,
                                     errorOrZero(op->getOperand(0)),
                                     errorOrZero(op->getOperand(1)));
  };
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case<arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp>(
          [&](Operation *op) -> Value {
            // i32 is exact in f64.
            if (isa<arith::ConstantOp>(op) ||
                (getElementTypeOrSelf(r).isF64() &&
                 getElementTypeOrSelf(x(0)).getIntOrFloatBitWidth() <= 32))
              return {};
            return rounding(r);
          })
      .Case<arith::AddFOp, arith::SubFOp>(
          [&](Operation *) { return add(add(e(0), e(1)), rounding(r)); })
      .Case([&](arith::MulFOp) {
        return add(add(scaled(e(0), x(1)), scaled(e(1), x(0))), rounding(r));
      })
      .Case([&](math::FmaOp) {
        return add(add(add(scaled(e(0), x(1)), scaled(e(1), x(0))), e(2)),
                   rounding(r));
      })
      .Case([&](arith::DivFOp) {
        return add(divided(add(e(0), scaled(e(1), r)), magnitude(x(1))),
                   rounding(r));
      })
      .Case<arith::NegFOp, math::AbsFOp, math::CopySignOp, arith::ExtFOp>(
          [&](Operation *) { return e(0); })
      .Case([&](arith::TruncFOp) { return add(e(0), rounding(r)); })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([&](Operation *) { return largest(); })
      .Case([&](arith::SelectOp select) -> Value {
        Value a = errorOf(select.getTrueValue()),
              b = errorOf(select.getFalseValue());
        if (!a && !b)
          return {};
        return arith::SelectOp::create(builder, loc,
                                       values.lookup(select.getCondition()),
                                       errorOrZero(select.getTrueValue()),
                                       errorOrZero(select.getFalseValue()));
      })
      .Case([&](math::SqrtOp) {
        // |sqrt(a) - sqrt(b)| <= |a - b| / (sqrt(a) + sqrt(b)), one of which
        // may be zero.
        return add(divided(e(0), magnitude(r)), rounding(r));
      })
      // ocml's errors: docs/numbers.md.
      .Case([&](math::ExpOp) {
        return add(scaled(e(0), r), rounding(r, /*units=*/1));
      })
      .Case([&](math::LogOp) {
        return add(divided(e(0), magnitude(x(0))), rounding(r, /*units=*/1));
      })
      .Default([&](Operation *op) -> FailureOr<Value> { return refuse(op); });
}

LogicalResult Rewriter::rewrite(Operation *op) {
  loc = op->getLoc();
  if (auto reduction = dyn_cast<SegmentedReduceOp>(op))
    return rewriteReduction(reduction);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return rewriteFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return rewriteWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return rewriteIf(branch);
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    scf::YieldOp::create(builder, loc, withErrors(yield.getOperands()));
    return success();
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    scf::ConditionOp::create(builder, loc,
                             values.lookup(condition.getCondition()),
                             withErrors(condition.getArgs()));
    return success();
  }
  if (auto yield = dyn_cast<YieldOp>(op)) {
    OperationState state(loc, YieldOp::getOperationName());
    state.addOperands(withErrors(yield.getValues()));
    builder.create(state);
    return success();
  }
  if (op->getNumRegions())
    return refuse(op);

  builder.clone(*op, values);
  if (auto store = dyn_cast<StoreZoneOp>(op)) {
    if (isFloat(store.getValue().getType()))
      StoreZoneOp::create(builder, loc, errorOrZero(store.getValue()),
                          errorMemory.lookup(store.getTarget()));
    return success();
  }
  if (llvm::none_of(op->getResultTypes(), isFloat))
    return success();
  if (op->getNumResults() != 1)
    return refuse(op);
  Value result = op->getResult(0);
  Type type = errorType(result.getType());
  auto set = [&](Value error) {
    if (error)
      errors[result] = error;
    return success();
  };
  if (isa<TableOp, LoadZoneOp>(op))
    return success();
  if (auto stage = dyn_cast<StageOp>(op)) {
    Value error = errorOf(stage.getSource());
    return set(error ? Value(StageOp::create(builder, loc, type, error,
                                             stage.getSpace()))
                     : Value());
  }
  if (auto replicate = dyn_cast<ReplicateOp>(op)) {
    Value error = errorOf(replicate.getSource());
    return set(error ? Value(ReplicateOp::create(builder, loc, type, error))
                     : Value());
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    Value error = errorOf(gather.getSource());
    return set(error
                   ? Value(GatherOp::create(builder, loc, type, error,
                                            values.lookup(gather.getIndices())))
                   : Value());
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Value error = errorOf(extract.getTensor());
    if (!error)
      return success();
    SmallVector<Value> indices;
    for (Value index : extract.getIndices())
      indices.push_back(values.lookup(index));
    return set(tensor::ExtractOp::create(builder, loc, error, indices));
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    Value error = errorOf(splat.getInput());
    return set(error ? Value(tensor::SplatOp::create(builder, loc, type, error))
                     : Value());
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Value error = errorOf(slice.getSource());
    return set(error ? Value(tensor::ExtractSliceOp::create(
                           builder, loc, slice.getType(), error,
                           slice.getMixedOffsets(), slice.getMixedSizes(),
                           slice.getMixedStrides()))
                     : Value());
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (llvm::none_of(concat.getInputs(),
                      [&](Value input) { return bool(errorOf(input)); }))
      return success();
    SmallVector<Value> parts;
    for (Value input : concat.getInputs())
      parts.push_back(errorOrZero(input));
    return set(
        tensor::ConcatOp::create(builder, loc, type, concat.getDim(), parts));
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return refuse(op);
  FailureOr<Value> error = getError(op);
  if (failed(error))
    return failure();
  return set(*error);
}

LogicalResult Rewriter::rewriteReduction(SegmentedReduceOp op) {
  Location where = op.getLoc();
  SmallVector<Value> elements = withErrors(op.getElements()),
                     init = withErrors(op.getInit());
  OperationState state(where, SegmentedReduceOp::getOperationName());
  state.addOperands(elements);
  state.addOperands(init);
  state.addTypes(typesWithErrors(op.getResultTypes()));
  state.addAttribute("segments", op.getSegmentsAttr());
  if (op.getLanesAttr())
    state.addAttribute("lanes", op.getLanesAttr());
  state.addAttribute(
      SegmentedReduceOp::getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(elements.size()),
                                    static_cast<int32_t>(init.size())}));
  Region *accumulate = state.addRegion(), *combine = state.addRegion();
  auto reduce = cast<SegmentedReduceOp>(builder.create(state));
  unsigned numAccumulators = op.getInit().size();
  for (auto [from, to] : {std::pair(&op.getAccumulate(), accumulate),
                          std::pair(&op.getCombine(), combine)}) {
    (void)to;
    Region &region = from == &op.getAccumulate() ? reduce.getAccumulate()
                                                 : reduce.getCombine();
    Block &old = from->front();
    Block &block = region.emplaceBlock();
    // Accumulators with their errors, then the elements, or the other
    // accumulators, with theirs.
    auto arguments = old.getArguments();
    for (auto part : {arguments.take_front(numAccumulators),
                      arguments.drop_front(numAccumulators)}) {
      unsigned first = block.getNumArguments();
      for (Type type : typesWithErrors(ValueRange(part).getTypes()))
        block.addArgument(type, where);
      mapWithErrors(part, block.getArguments().drop_front(first));
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    if (failed(rewriteBlock(old)))
      return failure();
  }
  mapWithErrors(op.getResults(), reduce.getResults());
  return success();
}

LogicalResult Rewriter::rewriteFor(scf::ForOp op) {
  auto loop = scf::ForOp::create(
      builder, loc, values.lookup(op.getLowerBound()),
      values.lookup(op.getUpperBound()), values.lookup(op.getStep()),
      withErrors(op.getInitArgs()),
      [](OpBuilder &, Location, Value, ValueRange) {});
  values.map(op.getInductionVar(), loop.getInductionVar());
  mapWithErrors(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(rewriteBlock(*op.getBody())))
      return failure();
    // A loop without values may have got its terminator already.
    if (llvm::count_if(*loop.getBody(), [](Operation &inner) {
          return isa<scf::YieldOp>(inner);
        }) > 1)
      return refuse(op);
  }
  mapWithErrors(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Rewriter::rewriteWhile(scf::WhileOp op) {
  auto loop =
      scf::WhileOp::create(builder, loc, typesWithErrors(op.getResultTypes()),
                           withErrors(op.getInits()));
  for (auto [from, to] : {std::pair(&op.getBefore(), &loop.getBefore()),
                          std::pair(&op.getAfter(), &loop.getAfter())}) {
    Block &block = to->empty() ? to->emplaceBlock() : to->front();
    addArguments(from->front().getArguments(), block);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&block);
    if (failed(rewriteBlock(from->front())))
      return failure();
  }
  mapWithErrors(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Rewriter::rewriteIf(scf::IfOp op) {
  OperationState state(loc, scf::IfOp::getOperationName());
  state.addOperands(values.lookup(op.getCondition()));
  state.addTypes(typesWithErrors(op.getResultTypes()));
  state.addRegion();
  state.addRegion();
  auto branch = cast<scf::IfOp>(builder.create(state));
  for (auto [from, to] :
       {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
        std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    if (from->empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&to->emplaceBlock());
    if (failed(rewriteBlock(from->front())))
      return failure();
  }
  mapWithErrors(op.getResults(), branch.getResults());
  return success();
}

llvm::Expected<OwningOpRef<ModuleOp>>
wavesmith::buildRunningErrors(func::FuncOp function) {
  WorkgroupOp workgroup;
  function.walk([&](WorkgroupOp op) { workgroup = op; });
  if (!workgroup || !workgroup.getThreadsPerZone() ||
      workgroup->getParentOp() != function.getOperation())
    return llvm::createStringError(
        "rounding errors: expected a function of one workgroup with "
        "threads_per_zone");
  MLIRContext *context = function.getContext();
  Location loc = function.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module->getBody());

  // The function with one more memref for each that floats are stored to.
  auto copy = cast<func::FuncOp>(builder.clone(*function));
  Block &body = copy.getBody().front();
  Rewriter rewriter(OpBuilder::atBlockBegin(&body));
  IRMapping toCopy;
  llvm::SetVector<Value> stored;
  WorkgroupOp target;
  copy.walk([&](WorkgroupOp op) { target = op; });
  target.walk([&](StoreZoneOp store) {
    if (isFloat(store.getValue().getType()))
      stored.insert(store.getTarget());
  });
  for (Value memory : stored) {
    auto argument = dyn_cast<BlockArgument>(memory);
    if (!argument || argument.getOwner() != &body)
      return llvm::createStringError(
          "rounding errors: expected results that are arguments");
    auto type = cast<MemRefType>(memory.getType());
    unsigned number = argument.getArgNumber();
    auto name = copy.getArgAttrOfType<StringAttr>(number, kNameAttrName);
    std::string newName =
        (name ? name.str() : "arg" + std::to_string(number)) + ".error";
    unsigned index = copy.getNumArguments();
    auto attributes = DictionaryAttr::get(
        context,
        {{StringAttr::get(context, kNameAttrName),
          StringAttr::get(context, newName)},
         {StringAttr::get(context, kOutputAttrName), UnitAttr::get(context)}});
    if (failed(copy.insertArgument(
            index,
            MemRefType::get(type.getShape(), builder.getF64Type(),
                            type.getLayout(), type.getMemorySpace()),
            attributes, loc)))
      return llvm::createStringError("rounding errors: cannot add an argument");
    rewriter.errorMemory[memory] = body.getArgument(index);
  }

  builder.setInsertionPoint(target);
  auto with =
      WorkgroupOp::create(builder, loc, target.getNumZones(),
                          target.getSizeAttr(), target.getThreadsPerZoneAttr());
  Block &block = with.getBody().emplaceBlock();
  Rewriter inner(OpBuilder::atBlockBegin(&block));
  inner.errorMemory = rewriter.errorMemory;
  // What stands outside is the same.
  target.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!target.getBody().isAncestor(operand.getParentRegion()))
        inner.values.map(operand, operand);
  });
  if (failed(inner.rewriteBlock(target.getBody().front())))
    return llvm::createStringError("rounding errors: no rule for '" +
                                   inner.refusal + "'");
  target.erase();
  if (failed(verify(*module)))
    return llvm::createStringError(
        "rounding errors: the function that computes them is not valid");
  return module;
}
