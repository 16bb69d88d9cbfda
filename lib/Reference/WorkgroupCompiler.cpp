//===- WorkgroupCompiler.cpp - Instructions of a workgroup's body ---------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, control flow, the operations of tensors and reductions. Arithmetic is
// in WorkgroupExpressions.cpp.
//
//===----------------------------------------------------------------------===//

#include "WorkgroupProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "wavesmith/Dialect/Wavesmith/IR/Slices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir;
using namespace wavesmith;

using Kernel = Instruction::Kernel;

std::string wavesmith::formatLocation(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().strref() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

void Machine::fail(const Instruction &instruction, const Twine &message) {
  error = (program.locations[instruction.location] + message).str();
}

void Machine::run(ArrayRef<Instruction> code) {
  next = 0;
  while (next < code.size()) {
    const Instruction &instruction = code[next++];
    instruction.kernel(instruction, *this, instruction.count);
    if (!error.empty())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

template <typename T>
static void runCopy(const Instruction &instruction, Machine &machine,
                    int64_t count) {
  std::memcpy(machine.at<T>(instruction.result),
              machine.at<T>(instruction.operands[0]), count * sizeof(T));
}

template <typename T>
static void runSplat(const Instruction &instruction, Machine &machine,
                     int64_t count) {
  std::fill_n(machine.at<T>(instruction.result), count,
              *machine.at<T>(instruction.operands[0]));
}

static void failIndex(const Instruction &instruction, Machine &machine,
                      const Twine &what, int64_t index) {
  machine.fail(instruction, "expected " + what + " from 0 to " +
                                Twine(instruction.number - 1) + ", got " +
                                Twine(index));
}

/// Number is the size of the tensor.
template <typename T>
static void runExtract(const Instruction &instruction, Machine &machine,
                       int64_t) {
  int64_t index = *machine.at<int64_t>(instruction.operands[1]);
  if (index < 0 || index >= instruction.number)
    return failIndex(instruction, machine, "an index", index);
  *machine.at<T>(instruction.result) =
      machine.at<T>(instruction.operands[0])[index];
}

/// Number is the size of the source.
template <typename T>
static void runGather(const Instruction &instruction, Machine &machine,
                      int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const T *source = machine.at<T>(instruction.operands[0]);
  const int64_t *indices = machine.at<int64_t>(instruction.operands[1]);
  auto size = static_cast<uint64_t>(instruction.number);
  for (int64_t e = 0; e < count; ++e) {
    auto index = static_cast<uint64_t>(indices[e]);
    if (index >= size)
      return failIndex(instruction, machine,
                       "element " + Twine(e) + " of the indices", indices[e]);
    result[e] = source[index];
  }
}

/// Number is the argument.
template <typename T, typename InMemory>
static void runLoad(const Instruction &instruction, Machine &machine,
                    int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const ZoneArray &array = machine.arrays[instruction.number];
  auto *source = reinterpret_cast<const InMemory *>(array.bytes) +
                 machine.zone * array.zoneStride;
  for (int64_t e = 0; e < count; ++e)
    result[e] = source[e * array.elementStride];
}

template <typename T, typename InMemory>
static void runStore(const Instruction &instruction, Machine &machine,
                     int64_t count) {
  const T *value = machine.at<T>(instruction.operands[0]);
  const ZoneArray &array = machine.arrays[instruction.number];
  auto *target = reinterpret_cast<InMemory *>(array.bytes) +
                 machine.zone * array.zoneStride;
  for (int64_t e = 0; e < count; ++e)
    target[e * array.elementStride] = static_cast<InMemory>(value[e]);
}

/// Number is the argument, operand 0 the place of the dimension's number.
static void runDim(const Instruction &instruction, Machine &machine, int64_t) {
  const ZoneArray &array = machine.arrays[instruction.number];
  int64_t dimension = *machine.at<int64_t>(instruction.operands[0]);
  if (dimension < 0 || dimension >= int64_t(array.shape.size()))
    return machine.fail(instruction, "expected a dimension from 0 to " +
                                         Twine(array.shape.size() - 1) +
                                         ", got " + Twine(dimension));
  *machine.at<int64_t>(instruction.result) = array.shape[dimension];
}

// Control flow: number is where to go.

static void runJump(const Instruction &instruction, Machine &machine, int64_t) {
  machine.next = instruction.number;
}

static void runJumpIfFalse(const Instruction &instruction, Machine &machine,
                           int64_t) {
  if (!*machine.at<int64_t>(instruction.operands[0]))
    machine.next = instruction.number;
}

static void runCheckStep(const Instruction &instruction, Machine &machine,
                         int64_t) {
  int64_t step = *machine.at<int64_t>(instruction.operands[0]);
  if (step <= 0)
    machine.fail(instruction,
                 "expected a positive step of the loop, got " + Twine(step));
}

/// Operands are the induction variable and its bound.
static void runEndLoop(const Instruction &instruction, Machine &machine,
                       int64_t) {
  if (*machine.at<int64_t>(instruction.operands[0]) >=
      *machine.at<int64_t>(instruction.operands[1]))
    machine.next = instruction.number;
}

/// Operands are the induction variable, its bound and the step.
static void runNextIteration(const Instruction &instruction, Machine &machine,
                             int64_t) {
  int64_t &variable = *machine.at<int64_t>(instruction.operands[0]);
  int64_t bound = *machine.at<int64_t>(instruction.operands[1]);
  int64_t step = *machine.at<int64_t>(instruction.operands[2]);
  // Compared so that nothing overflows: the variable is below the bound.
  if (static_cast<uint64_t>(bound) - static_cast<uint64_t>(variable) <=
      static_cast<uint64_t>(step)) {
    variable = bound;
  } else {
    variable += step;
  }
  machine.next = instruction.number;
}

template <typename T>
static void gather(Machine &machine, int64_t to, int64_t from,
                   ArrayRef<int32_t> indices) {
  T *result = machine.at<T>(to);
  const T *source = machine.at<T>(from);
  for (size_t e = 0; e < indices.size(); ++e)
    result[e] = source[indices[e]];
}

template <typename T>
static void scatter(Machine &machine, int64_t to, int64_t from,
                    ArrayRef<int32_t> indices) {
  T *result = machine.at<T>(to);
  const T *source = machine.at<T>(from);
  for (size_t e = 0; e < indices.size(); ++e)
    result[indices[e]] = source[e];
}

static void gather(Machine &machine, Storage storage, int64_t to, int64_t from,
                   ArrayRef<int32_t> indices) {
  if (storage == Storage::F32)
    gather<float>(machine, to, from, indices);
  else
    gather<int64_t>(machine, to, from, indices);
}

/// Runs a region's code, which has no jumps, on `count` chains. False after an
/// error.
static bool runRegion(ArrayRef<Instruction> code, Machine &machine,
                      int64_t count) {
  for (const Instruction &instruction : code) {
    instruction.kernel(instruction, machine, count);
    if (!machine.error.empty())
      return false;
  }
  return true;
}

/// Number is the reduction's.
static void runReduction(const Instruction &instruction, Machine &machine,
                         int64_t) {
  const Reduction &reduction = machine.program.reductions[instruction.number];
  for (const Reduction::Accumulator &accumulator : reduction.accumulators) {
    if (accumulator.storage == Storage::F32)
      std::fill_n(machine.at<float>(accumulator.chains), reduction.numChains,
                  *machine.at<float>(accumulator.init));
    else
      std::fill_n(machine.at<int64_t>(accumulator.chains), reduction.numChains,
                  *machine.at<int64_t>(accumulator.init));
  }

  ArrayRef<int32_t> order = reduction.order;
  for (int32_t active : reduction.active) {
    ArrayRef<int32_t> now = order.take_front(active);
    order = order.drop_front(active);
    for (const Reduction::Elements &elements : reduction.elements)
      gather(machine, elements.storage, elements.argument, elements.source,
             now);
    if (!runRegion(reduction.accumulate, machine, active))
      return;
  }

  for (const Reduction::Level &level : reduction.levels) {
    for (const Reduction::Accumulator &accumulator : reduction.accumulators) {
      gather(machine, accumulator.storage, accumulator.left, accumulator.chains,
             level.to);
      gather(machine, accumulator.storage, accumulator.right,
             accumulator.chains, level.from);
    }
    if (!runRegion(reduction.combine, machine, level.to.size()))
      return;
    for (const Reduction::Accumulator &accumulator : reduction.accumulators) {
      if (accumulator.storage == Storage::F32)
        scatter<float>(machine, accumulator.chains, accumulator.combined,
                       level.to);
      else
        scatter<int64_t>(machine, accumulator.chains, accumulator.combined,
                         level.to);
    }
  }

  for (const Reduction::Accumulator &accumulator : reduction.accumulators)
    gather(machine, accumulator.storage, accumulator.result, accumulator.chains,
           reduction.firstChains);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Slot WorkgroupCompiler::allocate(Storage storage, int64_t count) {
  Slot slot;
  slot.storage = storage;
  slot.count = count;
  slot.offset = program.memory.size();
  program.memory.resize(
      llvm::alignTo(slot.offset + count * getBytes(storage), 32));
  return slot;
}

FailureOr<Slot> WorkgroupCompiler::allocate(Operation *op, Type type) {
  int64_t count = width ? width : 1;
  Type element = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (width)
      return failure(succeeded(unsupported(op, " on tensors in a reduction")));
    if (tensor.getRank() != 1 || !tensor.hasStaticShape() ||
        tensor.getDimSize(0) == 0)
      return op->emitError("unsupported type ")
             << type
             << ": the workgroup evaluator takes tensors of one dimension of "
                "a fixed size, at least 1";
    count = tensor.getDimSize(0);
    element = tensor.getElementType();
  }
  unsigned bits = 64;
  Storage storage = Storage::Integer;
  if (element.isF64())
    storage = Storage::F64;
  else if (element.isF32())
    storage = Storage::F32;
  else if (element.isSignlessInteger() && element.getIntOrFloatBitWidth() > 0 &&
           element.getIntOrFloatBitWidth() <= 64)
    bits = element.getIntOrFloatBitWidth();
  else if (!element.isIndex())
    return op->emitError("unsupported type ")
           << type
           << ": the workgroup evaluator takes f64, f32, index and integers "
              "of up to 64 bits";
  Slot slot = allocate(storage, count);
  slot.width = bits;
  return slot;
}

LogicalResult WorkgroupCompiler::define(Operation *op, Value value) {
  FailureOr<Slot> slot = allocate(op, value.getType());
  if (failed(slot))
    return failure();
  slots[value] = *slot;
  return success();
}

Instruction &WorkgroupCompiler::emit(Operation *op, Kernel kernel,
                                     int64_t count) {
  std::string location = (formatLocation(op->getLoc()) + ": " +
                          op->getName().getStringRef() + ": ")
                             .str();
  if (program.locations.empty() || program.locations.back() != location)
    program.locations.push_back(std::move(location));
  Instruction &instruction = code->emplace_back();
  instruction.kernel = kernel;
  instruction.count = count;
  instruction.location = program.locations.size() - 1;
  return instruction;
}

void WorkgroupCompiler::emitCopy(Operation *op, const Slot &from,
                                 const Slot &to) {
  Instruction &instruction =
      emit(op, to.storage == Storage::F32 ? runCopy<float> : runCopy<int64_t>,
           to.count);
  instruction.result = to.offset;
  instruction.operands[0] = from.offset;
}

void WorkgroupCompiler::emitCopies(Operation *op, ArrayRef<Slot> from,
                                   ArrayRef<Slot> to) {
  // A source that an earlier copy overwrites is saved first.
  SmallVector<Slot> sources(from);
  for (size_t i = 0; i != from.size(); ++i)
    for (size_t j = 0; j != i; ++j)
      if (from[i].offset == to[j].offset && from[j].offset != to[j].offset) {
        sources[i] = allocate(from[i].storage, from[i].count);
        emitCopy(op, from[i], sources[i]);
        break;
      }
  for (auto [source, target] : llvm::zip_equal(sources, to))
    if (source.offset != target.offset)
      emitCopy(op, source, target);
}

SmallVector<Slot> WorkgroupCompiler::slotsOf(ValueRange values) const {
  return llvm::map_to_vector(values,
                             [&](Value value) { return slotOf(value); });
}

/// Puts a constant into memory.
static void writeNumber(uint8_t *place, const APFloat &number,
                        Storage storage) {
  if (storage == Storage::F32) {
    float value = number.convertToFloat();
    std::memcpy(place, &value, sizeof(value));
    return;
  }
  double value = number.convertToDouble();
  std::memcpy(place, &value, sizeof(value));
}
static void writeNumber(uint8_t *place, const APInt &number, Storage) {
  int64_t value = number.getSExtValue();
  std::memcpy(place, &value, sizeof(value));
}

LogicalResult WorkgroupCompiler::compileConstant(Operation *op,
                                                 Attribute value) {
  Value result = op->getResult(0);
  if (failed(define(op, result)))
    return failure();
  Slot slot = slotOf(result);
  int64_t bytes = getBytes(slot.storage);
  auto write = [&](auto &&numbers) {
    uint8_t *place = program.memory.data() + slot.offset;
    for (const auto &number : numbers) {
      writeNumber(place, number, slot.storage);
      place += bytes;
    }
  };
  if (auto number = dyn_cast<FloatAttr>(value))
    write(SmallVector<APFloat>(slot.count, number.getValue()));
  else if (auto number = dyn_cast<IntegerAttr>(value))
    write(SmallVector<APInt>(slot.count, number.getValue()));
  else if (auto dense = dyn_cast<DenseFPElementsAttr>(value))
    write(dense.getValues<APFloat>());
  else if (auto dense = dyn_cast<DenseIntElementsAttr>(value))
    write(dense.getValues<APInt>());
  else
    return unsupported(op, " of numbers that do not stand in the code");
  return success();
}

LogicalResult WorkgroupCompiler::unsupported(Operation *op,
                                             const Twine &detail) {
  return op->emitError("unsupported operation '")
         << op->getName() << "'" << detail
         << ": the workgroup evaluator does not take it";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult WorkgroupCompiler::compileBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(compile(&op)))
      return failure();
  return success();
}

LogicalResult WorkgroupCompiler::compileFor(scf::ForOp op) {
  if (op.getUnsignedCmp())
    return unsupported(op, " with an unsigned comparison");
  for (Value argument : op.getBody()->getArguments())
    if (failed(define(op, argument)))
      return failure();
  Slot variable = slotOf(op.getInductionVar());
  SmallVector<Slot> carried = slotsOf(op.getRegionIterArgs());
  for (auto [result, slot] : llvm::zip_equal(op.getResults(), carried))
    slots[result] = slot;

  emit(op, runCheckStep).operands[0] = slotOf(op.getStep()).offset;
  emitCopy(op, slotOf(op.getLowerBound()), variable);
  emitCopies(op, slotsOf(op.getInitArgs()), carried);
  size_t start = code->size();
  Instruction &test = emit(op, runEndLoop);
  test.operands[0] = variable.offset;
  test.operands[1] = slotOf(op.getUpperBound()).offset;
  if (failed(compileBlock(*op.getBody())))
    return failure();
  Operation *yield = op.getBody()->getTerminator();
  emitCopies(yield, slotsOf(yield->getOperands()), carried);
  Instruction &next = emit(op, runNextIteration);
  next.operands[0] = variable.offset;
  next.operands[1] = slotOf(op.getUpperBound()).offset;
  next.operands[2] = slotOf(op.getStep()).offset;
  next.number = start;
  (*code)[start].number = code->size();
  return success();
}

LogicalResult WorkgroupCompiler::compileWhile(scf::WhileOp op) {
  for (Block *block : {op.getBeforeBody(), op.getAfterBody()})
    for (Value argument : block->getArguments())
      if (failed(define(op, argument)))
        return failure();
  SmallVector<Slot> before = slotsOf(op.getBeforeArguments());
  SmallVector<Slot> after = slotsOf(op.getAfterArguments());
  for (auto [result, slot] : llvm::zip_equal(op.getResults(), after))
    slots[result] = slot;

  emitCopies(op, slotsOf(op.getInits()), before);
  size_t start = code->size();
  if (failed(compileBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  emitCopies(condition, slotsOf(condition.getArgs()), after);
  size_t test = code->size();
  emit(condition, runJumpIfFalse).operands[0] =
      slotOf(condition.getCondition()).offset;
  if (failed(compileBlock(*op.getAfterBody())))
    return failure();
  Operation *yield = op.getAfterBody()->getTerminator();
  emitCopies(yield, slotsOf(yield->getOperands()), before);
  emit(op, runJump).number = start;
  (*code)[test].number = code->size();
  return success();
}

LogicalResult WorkgroupCompiler::compileIf(scf::IfOp op) {
  for (Value result : op.getResults())
    if (failed(define(op, result)))
      return failure();
  SmallVector<Slot> results = slotsOf(op.getResults());
  auto compileBranch = [&](Block *block) -> LogicalResult {
    if (failed(compileBlock(*block)))
      return failure();
    if (!results.empty())
      emitCopies(block->getTerminator(),
                 slotsOf(block->getTerminator()->getOperands()), results);
    return success();
  };
  size_t test = code->size();
  emit(op, runJumpIfFalse).operands[0] = slotOf(op.getCondition()).offset;
  if (failed(compileBranch(op.thenBlock())))
    return failure();
  size_t end = code->size();
  emit(op, runJump);
  (*code)[test].number = code->size();
  if (Block *otherwise = op.elseBlock())
    if (failed(compileBranch(otherwise)))
      return failure();
  (*code)[end].number = code->size();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult WorkgroupCompiler::compileReduction(SegmentedReduceOp op) {
  Reduction reduction;
  ArrayRef<int32_t> segments = op.getSegments();

  // The chains, longest first.
  struct Chain {
    unsigned segment;
    int64_t lane, first, length, stride;
  };
  std::vector<Chain> chains;
  for (unsigned segment = 0; segment != op.getNumSegments(); ++segment) {
    int64_t lanes = op.getLanesOf(segment);
    int64_t size = segments[segment + 1] - segments[segment];
    for (int64_t lane = 0; lane != lanes; ++lane)
      chains.push_back({segment, lane, segments[segment] + lane,
                        lane < size ? (size - lane - 1) / lanes + 1 : 0,
                        lanes});
  }
  llvm::sort(chains, [](const Chain &a, const Chain &b) {
    return std::tie(b.length, a.segment, a.lane) <
           std::tie(a.length, b.segment, b.lane);
  });
  reduction.numChains = chains.size();
  for (int64_t step = 0; step != chains.front().length; ++step) {
    size_t before = reduction.order.size();
    for (const Chain &chain : chains) {
      if (chain.length <= step)
        break;
      reduction.order.push_back(chain.first + step * chain.stride);
    }
    reduction.active.push_back(reduction.order.size() - before);
  }

  // Where each lane of each segment has gone.
  std::vector<std::vector<int32_t>> numbers(op.getNumSegments());
  int64_t mostLanes = 1;
  for (unsigned segment = 0; segment != op.getNumSegments(); ++segment) {
    numbers[segment].resize(op.getLanesOf(segment));
    mostLanes = std::max(mostLanes, op.getLanesOf(segment));
  }
  for (auto [number, chain] : llvm::enumerate(chains))
    numbers[chain.segment][chain.lane] = number;
  for (const std::vector<int32_t> &lanes : numbers)
    reduction.firstChains.push_back(lanes[0]);
  size_t mostPairs = 1;
  for (int64_t distance = 1; distance < mostLanes; distance *= 2) {
    Reduction::Level &level = reduction.levels.emplace_back();
    for (const std::vector<int32_t> &lanes : numbers)
      for (size_t lane = 0; lane + distance < lanes.size();
           lane += 2 * distance) {
        level.to.push_back(lanes[lane]);
        level.from.push_back(lanes[lane + distance]);
      }
    mostPairs = std::max(mostPairs, level.to.size());
  }

  for (Value result : op.getResults())
    if (failed(define(op, result)))
      return failure();
  std::vector<Instruction> *outside = code;
  auto compileRegion =
      [&](Region &region, size_t count,
          std::vector<Instruction> &instructions) -> LogicalResult {
    width = count;
    code = &instructions;
    for (Value argument : region.getArguments())
      if (failed(define(op, argument)))
        return failure();
    return compileBlock(region.front());
  };

  Region &accumulate = op.getAccumulate();
  if (failed(
          compileRegion(accumulate, reduction.numChains, reduction.accumulate)))
    return failure();
  unsigned numAccumulators = op.getInit().size();
  auto yielded = slotsOf(accumulate.front().getTerminator()->getOperands());
  emitCopies(accumulate.front().getTerminator(), yielded,
             slotsOf(accumulate.getArguments().take_front(numAccumulators)));

  Region &combine = op.getCombine();
  if (failed(compileRegion(combine, mostPairs, reduction.combine)))
    return failure();
  yielded = slotsOf(combine.front().getTerminator()->getOperands());
  width = 0;
  code = outside;

  for (auto [position, elements] : llvm::enumerate(op.getElements())) {
    Slot slot = slotOf(elements);
    reduction.elements.push_back(
        {slot.offset,
         slotOf(accumulate.getArgument(numAccumulators + position)).offset,
         slot.storage});
  }
  for (unsigned i = 0; i != numAccumulators; ++i) {
    Slot result = slotOf(op.getResult(i));
    reduction.accumulators.push_back(
        {slotOf(op.getInit()[i]).offset,
         slotOf(accumulate.getArgument(i)).offset,
         slotOf(combine.getArgument(i)).offset,
         slotOf(combine.getArgument(numAccumulators + i)).offset,
         yielded[i].offset, result.offset, result.storage});
  }
  emit(op, runReduction).number = program.reductions.size();
  program.reductions.push_back(std::move(reduction));
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult WorkgroupCompiler::compile(Operation *op) {
  // Values of other functions' kinds, such as memrefs, have no slot.
  auto checkOperands = [&](ValueRange operands) -> LogicalResult {
    for (Value operand : operands)
      if (!slots.contains(operand))
        return op->emitError("unsupported operand of type ")
               << operand.getType() << " of '" << op->getName() << "'";
    return success();
  };
  auto forStorage = [](const Slot &slot, Kernel f32, Kernel others) {
    return slot.storage == Storage::F32 ? f32 : others;
  };
  if (!isa<LoadZoneOp, StoreZoneOp, memref::DimOp>(op) &&
      failed(checkOperands(op->getOperands())))
    return failure();

  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp op) {
        return compileConstant(op, op.getValue());
      })
      .Case([&](TableOp op) { return compileConstant(op, op.getValue()); })
      .Case([&](scf::ForOp op) { return compileFor(op); })
      .Case([&](scf::WhileOp op) { return compileWhile(op); })
      .Case([&](scf::IfOp op) { return compileIf(op); })
      .Case([&](SegmentedReduceOp op) { return compileReduction(op); })
      .Case<StageOp, ReplicateOp>([&](auto op) -> LogicalResult {
        // Where a value is kept is not what it is.
        slots[op.getResult()] = slotOf(op.getSource());
        return success();
      })
      .Case([&](GatherOp op) -> LogicalResult {
        if (failed(define(op, op.getResult())))
          return failure();
        Slot result = slotOf(op.getResult()), source = slotOf(op.getSource());
        Instruction &instruction =
            emit(op, forStorage(result, runGather<float>, runGather<int64_t>),
                 result.count);
        instruction.result = result.offset;
        instruction.operands[0] = source.offset;
        instruction.operands[1] = slotOf(op.getIndices()).offset;
        instruction.number = source.count;
        return success();
      })
      .Case<LoadZoneOp, StoreZoneOp>([&](auto op) -> LogicalResult {
        constexpr bool isLoad = std::is_same_v<decltype(op), LoadZoneOp>;
        Value memory, value;
        if constexpr (isLoad) {
          memory = op.getSource();
          value = op.getResult();
          if (failed(define(op, value)))
            return failure();
        } else {
          memory = op.getTarget();
          value = op.getValue();
          if (failed(checkOperands(value)))
            return failure();
        }
        auto argument = dyn_cast<BlockArgument>(memory);
        if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
          return unsupported(op, " on memory that is not an argument of the "
                                 "function");
        Slot slot = slotOf(value);
        Kernel kernel =
            slot.storage == Storage::F64
                ? (isLoad ? runLoad<double, double> : runStore<double, double>)
            : slot.storage == Storage::F32
                ? (isLoad ? runLoad<float, float> : runStore<float, float>)
                : (isLoad ? runLoad<int64_t, int32_t>
                          : runStore<int64_t, int32_t>);
        Instruction &instruction = emit(op, kernel, slot.count);
        (isLoad ? instruction.result : instruction.operands[0]) = slot.offset;
        instruction.number = argument.getArgNumber();
        return success();
      })
      .Case([&](memref::DimOp op) -> LogicalResult {
        auto argument = dyn_cast<BlockArgument>(op.getSource());
        if (!argument || failed(checkOperands(op.getIndex())))
          return unsupported(op, " of memory that is not an argument of the "
                                 "function");
        if (failed(define(op, op.getResult())))
          return failure();
        Instruction &instruction = emit(op, runDim);
        instruction.result = slotOf(op.getResult()).offset;
        instruction.operands[0] = slotOf(op.getIndex()).offset;
        instruction.number = argument.getArgNumber();
        return success();
      })
      .Case([&](tensor::SplatOp op) -> LogicalResult {
        if (failed(define(op, op.getResult())))
          return failure();
        Slot result = slotOf(op.getResult());
        Instruction &instruction =
            emit(op, forStorage(result, runSplat<float>, runSplat<int64_t>),
                 result.count);
        instruction.result = result.offset;
        instruction.operands[0] = slotOf(op.getInput()).offset;
        return success();
      })
      .Case([&](tensor::ExtractOp op) -> LogicalResult {
        if (failed(define(op, op.getResult())))
          return failure();
        Slot result = slotOf(op.getResult()), source = slotOf(op.getTensor());
        Instruction &instruction = emit(
            op, forStorage(result, runExtract<float>, runExtract<int64_t>));
        instruction.result = result.offset;
        instruction.operands[0] = source.offset;
        instruction.operands[1] = slotOf(op.getIndices()[0]).offset;
        instruction.number = source.count;
        return success();
      })
      .Case([&](tensor::ExtractSliceOp op) -> LogicalResult {
        std::optional<int64_t> first = firstOfSlice(op);
        if (!first)
          return unsupported(op, " of other than neighbouring elements at a "
                                 "constant place");
        if (failed(define(op, op.getResult())))
          return failure();
        Slot part = slotOf(op.getSource()), place = slotOf(op.getResult());
        part.offset += *first * getBytes(part.storage);
        part.count = place.count;
        emitCopy(op, part, place);
        return success();
      })
      .Case<tensor::ConcatOp, tensor::FromElementsOp>(
          [&](auto op) -> LogicalResult {
            if (failed(define(op, op.getResult())))
              return failure();
            Slot place = slotOf(op.getResult());
            for (Value operand : op->getOperands()) {
              Slot part = slotOf(operand);
              place.count = part.count;
              emitCopy(op, part, place);
              place.offset += part.count * getBytes(part.storage);
            }
            return success();
          })
      .Default([&](Operation *op) -> LogicalResult {
        StringRef dialect = op->getName().getDialectNamespace();
        if (dialect == "arith" || dialect == "math")
          return compileExpression(op);
        return unsupported(op);
      });
}

LogicalResult WorkgroupCompiler::compile(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (isa<MemRefType>(argument.getType())) {
      program.arguments.emplace_back();
      continue;
    }
    if (failed(define(function, argument)))
      return failure();
    program.arguments.push_back(slotOf(argument));
  }
  WorkgroupOp workgroup;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto found = dyn_cast<WorkgroupOp>(op)) {
      if (workgroup)
        return found.emitError("expected one workgroup in function @")
               << function.getSymName() << ", got a second one";
      workgroup = found;
    } else if (failed(compile(&op))) {
      return failure();
    }
  }
  if (!workgroup)
    return function.emitError("expected a 'wavesmith.workgroup' in function @")
           << function.getSymName() << ", got none";
  if (!workgroup.getThreadsPerZone())
    return workgroup.emitError("unsupported workgroup of one thread a zone: "
                               "the workgroup evaluator takes those with "
                               "threads_per_zone");
  program.numZones = slotOf(workgroup.getNumZones());
  code = &program.body;
  return compileBlock(workgroup.getBody().front());
}
