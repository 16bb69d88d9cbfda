//===- SideBySide.cpp - A system's expressions as tensors -----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace wavesmith;

Value wavesmith::buildTable(OpBuilder &builder, Location loc,
                            ArrayRef<double> values) {
  auto type =
      RankedTensorType::get({int64_t(values.size())}, builder.getF64Type());
  auto numbers = DenseElementsAttr::get(type, values);
  if (numbers.isSplat())
    return arith::ConstantOp::create(builder, loc, numbers);
  return TableOp::create(builder, loc, type, numbers);
}

Value wavesmith::buildTable(OpBuilder &builder, Location loc,
                            ArrayRef<int32_t> values) {
  auto type =
      RankedTensorType::get({int64_t(values.size())}, builder.getI32Type());
  return TableOp::create(builder, loc, type,
                         DenseElementsAttr::get(type, values));
}

namespace {

/// Where an operand of a class comes from; its kind is part of the class.
enum Source : int64_t {
  FromConstant = -1,
  FromState = -2,
  FromTime = -3,
  /// A coefficient that stands ready before the integration.
  FromReadyCoefficient = -4,
  /// Parameter j is FromParameter - j; classes are numbered from 0.
  FromParameter = -5,
};

struct Operand {
  int64_t source;
  /// One a member: the constant, the state, or the member of the class.
  SmallVector<double> constants;
  SmallVector<int32_t> positions;
};

struct Class {
  /// The first member; attributes and kind are those of all.
  Operation *op = nullptr;
  int32_t size = 0;
  bool isInvariant = true;
  SmallVector<Operand> operands;
  /// If it holds values of terms: coefficients that stand ready, one a member.
  SmallVector<Value> readyCoefficients;
  /// The same, written.
  Value readyTensor;
  // What was written: of all members, and the same where all threads can read.
  Value tensor, staged;
};

} // namespace

struct SideBySide::Implementation {
  Implementation(OpBuilder &builder, OdeSystemOp system)
      : builder(builder), system(system), loc(system.getLoc()) {}

  LogicalResult analyse();
  LogicalResult addMember(Operation *op);
  LogicalResult emitClass(Class &c);
  Value operandValue(Class &c, Operand &operand);
  Value stagedValue(Class &c);
  /// Stages the whole classes of some values, and what of them has no class,
  /// as one tensor, and tells the position of each value.
  Value stageTogether(ArrayRef<Value> values,
                      DenseMap<Value, int32_t> &positions);

  OpBuilder &builder;
  OdeSystemOp system;
  Location loc;
  /// The system's operations, one by one; never becomes part of the module.
  Block scratch;
  DenseMap<Value, unsigned> stateOf;
  DenseMap<Value, int64_t> leafSource;
  /// Operands that are coefficients of terms which stand ready.
  DenseSet<std::pair<Operation *, unsigned>> readyOperands;
  /// What an operation is computed for, where that is one thing, so that a
  /// class is read whole and in its order: 1 for the value of a term, which all
  /// threads must be able to read; a number of its own for an operand of an
  /// operation of one kind and purpose; else 0.
  DenseMap<Operation *, int64_t> purposes;
  /// A member's class and its place in it.
  DenseMap<Value, std::pair<unsigned, int32_t>> members;
  std::map<SmallVector<int64_t>, unsigned> classByKey;
  std::vector<Class> classes;
  SmallVector<Value> termValues;
  /// Where emitTerms has put the terms' values.
  SmallVector<int32_t> termPositions;
  ValueRange parameters;
  Value time, stagedStates;
};

/// Whether a value is the same constant in all elements.
static std::optional<double> getConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.getElementType().isF64())
    return std::nullopt;
  return dense.getSplatValue<double>();
}

LogicalResult SideBySide::Implementation::addMember(Operation *op) {
  // Operation, attributes, and where the operands come from.
  SmallVector<int64_t> key = {
      int64_t(intptr_t(op->getName().getAsOpaquePointer())),
      int64_t(intptr_t(op->getAttrDictionary().getAsOpaquePointer())),
      purposes.lookup(op)};
  bool isInvariant = true;
  SmallVector<int64_t> sources;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    int64_t source;
    auto leaf = leafSource.find(value);
    if (readyOperands.contains({op, operand.getOperandNumber()})) {
      source = FromReadyCoefficient;
    } else if (leaf != leafSource.end()) {
      source = leaf->second;
      isInvariant &= source != FromState && source != FromTime;
    } else if (getConstant(value)) {
      source = FromConstant;
    } else if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      // Of another type: part of the class.
      source = FromConstant;
      key.push_back(
          int64_t(intptr_t(constant.getValue().getAsOpaquePointer())));
    } else {
      source = members.lookup(value).first;
      isInvariant &= classes[source].isInvariant;
    }
    sources.push_back(source);
    key.push_back(source);
  }
  // Values of terms need their coefficient's part of the loop.
  if (llvm::is_contained(sources, int64_t(FromReadyCoefficient)))
    isInvariant = false;
  auto [entry, isNew] = classByKey.try_emplace(key, classes.size());
  if (isNew) {
    Class &c = classes.emplace_back();
    c.op = op;
    c.isInvariant = isInvariant;
    for (int64_t source : sources)
      c.operands.push_back({source, {}, {}});
  }
  Class &c = classes[entry->second];
  for (auto [operand, value] : llvm::zip_equal(c.operands, op->getOperands())) {
    switch (operand.source) {
    case FromConstant:
      operand.constants.push_back(getConstant(value).value_or(0.0));
      break;
    case FromState:
      operand.positions.push_back(stateOf.lookup(value));
      break;
    case FromReadyCoefficient:
      c.readyCoefficients.push_back(value);
      break;
    default:
      if (operand.source >= 0)
        operand.positions.push_back(members.lookup(value).second);
    }
  }
  members[op->getResult(0)] = {entry->second, c.size++};
  return success();
}

LogicalResult SideBySide::Implementation::analyse() {
  // The system's operations on tensors of one element.
  OpBuilder scratchBuilder(builder.getContext());
  scratchBuilder.setInsertionPointToStart(&scratch);
  auto batch = MemRefType::get({1, ShapedType::kDynamic}, builder.getF64Type());
  KernelArguments arguments;
  arguments.time = scratch.addArgument(builder.getF64Type(), loc);
  arguments.states = scratch.addArgument(batch, loc);
  arguments.parameters = scratch.addArgument(batch, loc);
  BlockBuilder b(scratchBuilder, loc, 1);
  SystemEmitter emitter(b, system, arguments);
  SmallVector<Value> coefficients;
  SmallVector<unsigned> numFactors;
  for (Operation &op : system.getBody().front()) {
    if (failed(emitter.emit(&op)))
      return failure();
    if (auto term = dyn_cast<TermOp>(op)) {
      termValues.push_back(emitter.get(term.getValue()));
      coefficients.push_back(emitter.get(term.getCoefficient()));
      numFactors.push_back(term.getOrders().size());
    }
  }

  // Leaves.
  for (Operation &op : scratch) {
    if (auto load = dyn_cast<LoadZonesOp>(op)) {
      APInt row;
      bool isRow = matchPattern(load.getRow(), m_ConstantInt(&row));
      assert(isRow && "the emitter loads rows by constants");
      (void)isRow;
      if (load.getSource() == arguments.states) {
        leafSource[load.getResult()] = FromState;
        stateOf[load.getResult()] = row.getZExtValue();
      } else {
        leafSource[load.getResult()] =
            FromParameter - int64_t(row.getZExtValue());
      }
    } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
      leafSource[splat.getResult()] = FromTime;
    }
  }
  // What the terms need.
  DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist;
  auto need = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!leafSource.contains(value) && op && !isa<arith::ConstantOp>(op) &&
        needed.insert(op).second)
      worklist.push_back(op);
  };
  llvm::for_each(termValues, need);
  while (!worklist.empty())
    llvm::for_each(worklist.pop_back_val()->getOperands(), need);
  // Whether a value changes during the integration.
  DenseSet<Value> changing;
  for (Operation &op : scratch)
    if (needed.contains(&op))
      for (Value operand : op.getOperands()) {
        auto leaf = leafSource.find(operand);
        if (changing.contains(operand) ||
            (leaf != leafSource.end() &&
             (leaf->second == FromState || leaf->second == FromTime)))
          changing.insert(op.getResult(0));
      }
  for (auto [value, coefficient, factors] :
       llvm::zip_equal(termValues, coefficients, numFactors)) {
    Operation *op = coefficient.getDefiningOp();
    if (factors == 0 || changing.contains(coefficient) || !op ||
        !needed.contains(op))
      continue;
    Operation *product = value.getDefiningOp();
    while (product->getOperand(0) != coefficient)
      product = product->getOperand(0).getDefiningOp();
    readyOperands.insert({product, 0});
  }
  for (Value value : termValues)
    if (Operation *op = value.getDefiningOp())
      purposes[op] = 1;
  std::map<std::tuple<int64_t, const void *, unsigned>, int64_t> purposeOf;
  for (Operation &op : llvm::reverse(scratch)) {
    if (!needed.contains(&op) || !changing.contains(op.getResult(0)) ||
        purposes.contains(&op) || !op.hasOneUse())
      continue;
    OpOperand &use = *op.use_begin();
    auto [entry, isNew] = purposeOf.try_emplace(
        {purposes.lookup(use.getOwner()),
         use.getOwner()->getName().getAsOpaquePointer(),
         use.getOperandNumber()},
        purposeOf.size() + 2);
    purposes[&op] = entry->second;
  }
  for (Operation &op : scratch)
    if (needed.contains(&op) && failed(addMember(&op)))
      return failure();
  return success();
}

/// The value in the wanted shape: of one element itself, else a tensor.
static Value spread(OpBuilder &builder, Location loc, Value value,
                    int32_t size) {
  if (size == 1 || isa<TensorType>(value.getType()))
    return value;
  return tensor::SplatOp::create(
      builder, loc, RankedTensorType::get({size}, value.getType()), value);
}

/// Elements of a staged tensor for the members of a class.
static Value pick(OpBuilder &builder, Location loc, Value staged,
                  ArrayRef<int32_t> positions) {
  if (positions.size() == 1)
    return tensor::ExtractOp::create(
        builder, loc, staged,
        ValueRange{arith::ConstantIndexOp::create(builder, loc, positions[0])});
  auto type = RankedTensorType::get({int64_t(positions.size())},
                                    getElementTypeOrSelf(staged.getType()));
  return GatherOp::create(builder, loc, type, staged,
                          buildTable(builder, loc, positions));
}

Value SideBySide::Implementation::stagedValue(Class &c) {
  if (c.staged)
    return c.staged;
  // Where the class was written, which may be before the integration.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(c.tensor);
  Value tensor = c.tensor;
  if (getElementTypeOrSelf(tensor.getType()).isInteger(1))
    tensor = arith::ExtUIOp::create(
        builder, loc, RankedTensorType::get({c.size}, builder.getI32Type()),
        tensor);
  c.staged = StageOp::create(builder, loc, tensor.getType(), tensor,
                             MemorySpace::Global);
  return c.staged;
}

Value SideBySide::Implementation::operandValue(Class &c, Operand &operand) {
  auto identity = llvm::to_vector(llvm::seq<int32_t>(0, c.size));
  switch (operand.source) {
  case FromConstant:
    if (c.size > 1)
      return buildTable(builder, loc, operand.constants);
    return arith::ConstantOp::create(
        builder, loc, builder.getF64FloatAttr(operand.constants[0]));
  case FromState:
    return pick(builder, loc, stagedStates, operand.positions);
  case FromTime:
    return spread(builder, loc, time, c.size);
  default:
    break;
  }
  if (operand.source <= FromParameter)
    return spread(builder, loc, parameters[FromParameter - operand.source],
                  c.size);
  Class &from = classes[operand.source];
  if (from.size == 1)
    return spread(builder, loc, from.tensor, c.size);
  if (from.size == c.size && operand.positions == identity)
    return from.tensor;
  Value value = pick(builder, loc, stagedValue(from), operand.positions);
  if (getElementTypeOrSelf(from.tensor.getType()).isInteger(1)) {
    Type type = builder.getI1Type();
    if (c.size > 1)
      type = RankedTensorType::get({c.size}, type);
    value = arith::TruncIOp::create(builder, loc, type, value);
  }
  return value;
}

LogicalResult SideBySide::Implementation::emitClass(Class &c) {
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(c.operands)) {
    if (operand.source == FromReadyCoefficient) {
      operands.push_back(c.readyTensor);
      continue;
    }
    // A constant of another type than f64 is the same for all members.
    Value member = c.op->getOperand(index);
    Type element = getElementTypeOrSelf(member.getType());
    if (operand.source == FromConstant && !element.isF64()) {
      auto dense = cast<DenseElementsAttr>(
          member.getDefiningOp<arith::ConstantOp>().getValue());
      TypedAttr value = cast<TypedAttr>(dense.getSplatValue<Attribute>());
      if (c.size > 1)
        value = DenseElementsAttr::get(RankedTensorType::get({c.size}, element),
                                       dense.getSplatValue<Attribute>());
      operands.push_back(arith::ConstantOp::create(builder, loc, value));
      continue;
    }
    operands.push_back(operandValue(c, operand));
  }
  Type type = getElementTypeOrSelf(c.op->getResult(0).getType());
  if (c.size > 1)
    type = RankedTensorType::get({c.size}, type);
  OperationState state(loc, c.op->getName(), operands, {type},
                       c.op->getAttrs());
  c.tensor = builder.create(state)->getResult(0);
  return success();
}

Value SideBySide::Implementation::stageTogether(
    ArrayRef<Value> values, DenseMap<Value, int32_t> &positions) {
  llvm::SetVector<unsigned> parts;
  for (Value value : values)
    if (members.contains(value))
      parts.insert(members.lookup(value).first);
  SmallVector<Value> tensors;
  DenseMap<unsigned, int32_t> offsets;
  int32_t size = 0;
  for (unsigned part : parts) {
    Class &c = classes[part];
    offsets[part] = size;
    size += c.size;
    tensors.push_back(c.size > 1 ? c.tensor
                                 : Value(tensor::FromElementsOp::create(
                                       builder, loc, ValueRange{c.tensor})));
  }
  // What is no operation: a number or a parameter.
  for (Value value : values) {
    if (members.contains(value)) {
      auto [part, place] = members.lookup(value);
      positions[value] = offsets[part] + place;
      continue;
    }
    if (positions.contains(value))
      continue;
    positions[value] = size++;
    Value scalar;
    auto leaf = leafSource.find(value);
    if (leaf == leafSource.end())
      scalar = arith::ConstantOp::create(
          builder, loc, builder.getF64FloatAttr(*getConstant(value)));
    else if (leaf->second == FromState)
      scalar = pick(builder, loc, stagedStates, {int32_t(stateOf[value])});
    else if (leaf->second == FromTime)
      scalar = time;
    else
      scalar = parameters[FromParameter - leaf->second];
    tensors.push_back(
        tensor::FromElementsOp::create(builder, loc, ValueRange{scalar}));
  }
  Value together = tensors.front();
  if (tensors.size() > 1)
    together = tensor::ConcatOp::create(builder, loc, /*dim=*/0, tensors);
  return StageOp::create(builder, loc, together.getType(), together,
                         MemorySpace::Global);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

SideBySide::SideBySide(OpBuilder &builder, OdeSystemOp system)
    : implementation(std::make_unique<Implementation>(builder, system)) {}

SideBySide::~SideBySide() = default;

LogicalResult SideBySide::analyse() { return implementation->analyse(); }

LogicalResult SideBySide::emitInvariant(Location loc, ValueRange parameters) {
  Implementation &i = *implementation;
  i.loc = loc;
  i.parameters = parameters;
  for (Class &c : i.classes)
    if (c.isInvariant && failed(i.emitClass(c)))
      return failure();
  SmallVector<Value> ready;
  for (Class &c : i.classes)
    llvm::append_range(ready, c.readyCoefficients);
  if (ready.empty())
    return success();
  DenseMap<Value, int32_t> positions;
  Value all = i.stageTogether(ready, positions);
  // Each class of terms gets its coefficients in the order of its members.
  for (Class &c : i.classes) {
    if (c.readyCoefficients.empty())
      continue;
    auto places = llvm::map_to_vector(
        c.readyCoefficients, [&](Value v) { return positions.lookup(v); });
    Value own = pick(i.builder, loc, all, places);
    if (c.size > 1)
      own = StageOp::create(i.builder, loc, own.getType(), own,
                            MemorySpace::Global);
    c.readyTensor = own;
  }
  return success();
}

FailureOr<Value> SideBySide::emitTerms(Location loc, Value time,
                                       Value stagedStates) {
  Implementation &i = *implementation;
  i.loc = loc;
  i.time = time;
  i.stagedStates = stagedStates;
  for (Class &c : i.classes)
    if (!c.isInvariant && failed(i.emitClass(c)))
      return failure();
  DenseMap<Value, int32_t> positions;
  Value staged = i.stageTogether(i.termValues, positions);
  for (Value value : i.termValues)
    i.termPositions.push_back(positions.lookup(value));
  return staged;
}

int32_t SideBySide::getPosition(unsigned term) const {
  return implementation->termPositions[term];
}
