//===- ZoneOnThreads.cpp - Several threads a zone -------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element e of a tensor belongs to thread e mod T of the zone's T threads, as
// that thread's slot e / T. Threads whose last slot is past the end compute the
// last element once more, so that no address is out of bounds, and store
// nothing.
//
//===----------------------------------------------------------------------===//

#include "ZoneOnThreads.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavesmith;

/// A thread's elements of a tensor are unrolled; more would make code whose
/// compilation takes minutes.
static constexpr int64_t kMaxSlots = 256;

SmallVector<MemRefType> wavesmith::getWorkspaces(WorkgroupOp workgroup) {
  SmallVector<MemRefType> types;
  workgroup.walk([&](StageOp op) {
    if (op.getSpace() != MemorySpace::Global)
      return;
    auto type = cast<RankedTensorType>(op.getResult().getType());
    types.push_back(MemRefType::get(
        {ShapedType::kDynamic, type.getDimSize(0)}, type.getElementType(),
        MemRefLayoutAttrInterface(),
        gpu::AddressSpaceAttr::get(op.getContext(),
                                   gpu::AddressSpace::Global)));
  });
  return types;
}

namespace {

/// Where the elements of a tensor are.
struct Home {
  /// In each thread's registers, one value a slot.
  SmallVector<Value> slots;
  /// One value for all elements.
  Value uniform;
  /// Memory that all threads of the zone read, at `prefix` (may be null), then
  /// the element; `offset` (may be null) is added to the element.
  Value memory, prefix, offset;
};

class ZoneBody {
public:
  ZoneBody(WorkgroupOp workgroup, gpu::GPUModuleOp module,
           gpu::GPUFuncOp kernel, ValueRange workspaces,
           const TargetInfo *target)
      : workgroup(workgroup), module(module), kernel(kernel),
        workspaces(workspaces), target(target), builder(kernel.getContext()),
        size(workgroup.getSize()), threads(*workgroup.getThreadsPerZone()),
        wavefront(target ? target->wavefrontSize : 64) {}

  LogicalResult distribute(IRMapping known);

private:
  void findSlotUsers();
  LogicalResult rewrite(Block &block);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteStage(StageOp op);
  LogicalResult rewriteReduce(SegmentedReduceOp op);
  LogicalResult reduceSegmentsInLanes(SegmentedReduceOp op);
  LogicalResult reduceSegmentsAcrossLanes(SegmentedReduceOp op);
  LogicalResult reduceAllAcrossThreads(SegmentedReduceOp op);
  LogicalResult rewriteElementwise(Operation *op);
  LogicalResult rewriteControlFlow(Operation *op);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  int64_t numElements(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(0);
  }
  int64_t numSlots(Value tensor) { return numSlots(tensor.getType()); }
  int64_t numSlots(Type type) {
    return llvm::divideCeil(cast<RankedTensorType>(type).getDimSize(0),
                            threads);
  }
  bool isTensor(Value value) { return isa<TensorType>(value.getType()); }
  /// The element of a thread's slot of a tensor of `count` elements.
  Value elementOfSlot(int64_t slot, int64_t count);
  /// Whether this thread's slot is an element; null if that is so for all.
  Value isElement(int64_t slot, int64_t count);
  /// This thread's value of a slot; null, with an error, if it has none.
  Value slotValue(Operation *user, Value tensor, int64_t slot);
  /// Any element, computed from what stands in memory; null, with an error, if
  /// it is in another thread's registers.
  Value elementValue(Operation *user, Value tensor, Value element);
  Value load(const Home &home, Value element);
  void store(Value value, const Home &home, Value element);
  void guarded(Value condition, llvm::function_ref<void()> build);
  /// Waits until all threads of the zone are here and see what the others have
  /// written.
  void barrier();
  /// Memory of the workgroup, one part a zone.
  Home allocateLDS(int64_t count, Type element);
  /// The value of the lane whose number differs in the bit `distance`, if all
  /// lanes whose numbers differ in lower bits have the same value.
  Value exchange(Value value, int64_t distance);
  SmallVector<Value> inlineRegion(Region &region, ValueRange arguments);
  SmallVector<Value> lookUpAll(ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](Value v) { return mapping.lookup(v); });
  }
  /// acc = combine(acc, the other lane's acc) for distances up to `lanes` / 2.
  void combineLanes(SegmentedReduceOp op, SmallVectorImpl<Value> &accumulators,
                    int64_t lanes);
  Value constantTable(ArrayRef<int32_t> values);
  Value lookUpTable(Value table, Value at) {
    Value number = memref::LoadOp::create(builder, loc, table, at);
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        number);
  }
  Value clamp(Value value, int64_t count) {
    return arith::MinUIOp::create(builder, loc, value, index(count - 1));
  }
  /// Types and values of tensors, slot by slot.
  SmallVector<Type> expand(TypeRange types);
  FailureOr<SmallVector<Value>> expand(Operation *user, ValueRange values);
  void bind(ValueRange tensors, ValueRange expanded);
  Value cloneScalar(Operation *op, ValueRange operands);

  WorkgroupOp workgroup;
  gpu::GPUModuleOp module;
  gpu::GPUFuncOp kernel;
  ValueRange workspaces;
  const TargetInfo *target;
  OpBuilder builder;
  int64_t size, threads, wavefront;
  Location loc = UnknownLoc::get(builder.getContext());
  Value lane, zone, zoneInWorkgroup, thread;
  IRMapping mapping;
  DenseMap<Value, Home> homes;
  DenseSet<Value> needsSlots;
  unsigned nextWorkspace = 0;
  int64_t ldsBytes = 0;
};

} // namespace

/// Whether an operation computes each element of its results from one element
/// of each operand.
static bool isElementwise(Operation *op) {
  StringRef dialect =
      op->getDialect() ? op->getDialect()->getNamespace() : StringRef();
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         (dialect == "arith" || dialect == "math") &&
         !isa<arith::ConstantOp>(op);
}

void ZoneBody::findSlotUsers() {
  SmallVector<Value> worklist;
  auto need = [&](Value value) {
    if (isTensor(value) && needsSlots.insert(value).second)
      worklist.push_back(value);
  };
  workgroup.walk([&](Operation *op) {
    if (isa<StoreZoneOp, StageOp, scf::YieldOp, scf::ConditionOp, scf::WhileOp,
            scf::ForOp>(op))
      llvm::for_each(op->getOperands(), need);
    if (auto reduce = dyn_cast<SegmentedReduceOp>(op))
      if (reduce.getNumSegments() == 1 && reduce.getLanesOf(0) == threads &&
          threads > 1)
        llvm::for_each(reduce.getElements(), need);
  });
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (auto gather = dyn_cast<GatherOp>(op))
      need(gather.getIndices());
    else if (isElementwise(op) || isa<tensor::ConcatOp>(op))
      llvm::for_each(op->getOperands(), need);
  }
}

LogicalResult ZoneBody::distribute(IRMapping known) {
  mapping = std::move(known);
  loc = workgroup.getLoc();
  if (threads != size && threads > wavefront)
    return workgroup.emitError("expected threads_per_zone of at most ")
           << wavefront << ", the wavefront, or of all " << size
           << " threads of the workgroup, got " << threads;
  findSlotUsers();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Value workgroupId = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  if (threads == size) {
    lane = thread;
    zone = workgroupId;
  } else {
    lane = arith::RemUIOp::create(builder, loc, thread, index(threads));
    zoneInWorkgroup =
        arith::DivUIOp::create(builder, loc, thread, index(threads));
    zone = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, workgroupId, index(size / threads)),
        zoneInWorkgroup);
  }
  Value isInside =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, zone,
                            mapping.lookup(workgroup.getNumZones()));
  auto guard =
      scf::IfOp::create(builder, loc, isInside, /*withElseRegion=*/false);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(guard.thenBlock());
  if (failed(rewrite(workgroup.getBody().front())))
    return failure();
  if (target && ldsBytes > int64_t(target->ldsBytes))
    return workgroup.emitError("needs ")
           << ldsBytes << " bytes of LDS, " << target->architecture << " has "
           << target->ldsBytes << " a workgroup";
  return success();
}

LogicalResult ZoneBody::rewrite(Block &block) {
  for (Operation &op : block) {
    loc = op.getLoc();
    for (Value result : op.getResults()) {
      auto type = dyn_cast<TensorType>(result.getType());
      if (!type)
        continue;
      if (type.getRank() != 1 || type.isDynamicDim(0) ||
          type.getDimSize(0) == 0)
        return op.emitError("expected tensors of rank 1 and a fixed number of "
                            "elements, got ")
               << type;
    }
    if (failed(rewrite(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ZoneBody::elementOfSlot(int64_t slot, int64_t count) {
  if (threads == 1)
    return index(slot);
  Value element = lane;
  if (slot != 0)
    element = arith::AddIOp::create(builder, loc, lane, index(slot * threads));
  return (slot + 1) * threads > count ? clamp(element, count) : element;
}

Value ZoneBody::isElement(int64_t slot, int64_t count) {
  int64_t left = count - slot * threads;
  if (left >= threads)
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane,
                               index(left));
}

Value ZoneBody::load(const Home &home, Value element) {
  if (home.offset)
    element = arith::AddIOp::create(builder, loc, home.offset, element);
  SmallVector<Value, 2> at;
  if (home.prefix)
    at.push_back(home.prefix);
  at.push_back(element);
  return memref::LoadOp::create(builder, loc, home.memory, at);
}

void ZoneBody::store(Value value, const Home &home, Value element) {
  if (home.offset)
    element = arith::AddIOp::create(builder, loc, home.offset, element);
  SmallVector<Value, 2> at;
  if (home.prefix)
    at.push_back(home.prefix);
  at.push_back(element);
  memref::StoreOp::create(builder, loc, value, home.memory, at);
}

Value ZoneBody::slotValue(Operation *user, Value tensor, int64_t slot) {
  auto found = homes.find(tensor);
  if (found == homes.end()) {
    user->emitError("reads a tensor that this mapping has no place for");
    return {};
  }
  const Home &home = found->second;
  if (home.uniform)
    return home.uniform;
  if (home.memory)
    return load(home, elementOfSlot(slot, numElements(tensor)));
  return home.slots[slot];
}

Value ZoneBody::elementValue(Operation *user, Value tensor, Value element) {
  auto found = homes.find(tensor);
  if (found != homes.end() && found->second.uniform)
    return found->second.uniform;
  if (found != homes.end() && found->second.memory)
    return load(found->second, element);
  Operation *op = tensor.getDefiningOp();
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    Value at = elementValue(user, gather.getIndices(), element);
    if (!at)
      return {};
    at = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), at);
    return elementValue(user, gather.getSource(), at);
  }
  if (op && isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value value = isTensor(operand) ? elementValue(user, operand, element)
                                      : mapping.lookup(operand);
      if (!value)
        return {};
      operands.push_back(value);
    }
    return cloneScalar(op, operands);
  }
  InFlightDiagnostic diagnostic = user->emitError(
      "reads elements that other threads hold; stage the tensor in lds or "
      "global");
  diagnostic.attachNote(tensor.getLoc()) << "the tensor is defined here";
  return {};
}

void ZoneBody::guarded(Value condition, llvm::function_ref<void()> build) {
  if (!condition)
    return build();
  auto guard =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(guard.thenBlock());
  build();
}

void ZoneBody::barrier() {
  if (threads == 1)
    return;
  if (threads > wavefront) {
    gpu::BarrierOp::create(builder, loc);
    return;
  }
  // The lanes of a wavefront are in step; only the compiler must keep the
  // order.
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel,
                        "wavefront");
}

Home ZoneBody::allocateLDS(int64_t count, Type element) {
  int64_t zones = size / threads;
  auto type = MemRefType::get(
      {count * zones}, element, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::AddressSpace::Workgroup));
  ldsBytes += llvm::alignTo(
      count * zones * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), 8);
  Home home;
  home.memory = kernel.addWorkgroupAttribution(type, loc);
  if (zones > 1)
    home.offset =
        arith::MulIOp::create(builder, loc, zoneInWorkgroup, index(count));
  return home;
}

Value ZoneBody::constantTable(ArrayRef<int32_t> values) {
  auto type =
      RankedTensorType::get({int64_t(values.size())}, builder.getI32Type());
  return createConstantMemory(module, kernel, loc,
                              DenseElementsAttr::get(type, values));
}

Value ZoneBody::cloneScalar(Operation *op, ValueRange operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<math::RsqrtOp>(op) && type.isF64()) {
    // Not ocml's, whose last place depends on the chip's approximation.
    Value root = math::SqrtOp::create(builder, loc, operands[0]);
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1.0));
    return arith::DivFOp::create(builder, loc, one, root);
  }
  OperationState state(loc, op->getName(), operands, {type}, op->getAttrs());
  return builder.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult ZoneBody::rewriteElementwise(Operation *op) {
  Value result = op->getResult(0);
  if (!isTensor(result)) {
    mapping.map(result, cloneScalar(op, lookUpAll(op->getOperands())));
    return success();
  }
  // Computed where a reduction reads its elements.
  if (!needsSlots.contains(result))
    return success();
  Home home;
  for (int64_t slot = 0; slot < numSlots(result); ++slot) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value value = isTensor(operand) ? slotValue(op, operand, slot)
                                      : mapping.lookup(operand);
      if (!value)
        return failure();
      operands.push_back(value);
    }
    home.slots.push_back(cloneScalar(op, operands));
  }
  homes[result] = std::move(home);
  return success();
}

LogicalResult ZoneBody::rewriteStage(StageOp op) {
  Value source = op.getSource();
  Type element = getElementTypeOrSelf(op.getResult().getType());
  int64_t count = numElements(op.getResult());
  auto concat = source.getDefiningOp<tensor::ConcatOp>();
  if (op.getSpace() == MemorySpace::Registers) {
    if (concat)
      return op.emitError("expected to stage a concatenation in lds or global");
    Home home;
    for (int64_t slot = 0; slot < numSlots(source); ++slot) {
      Value value = slotValue(op, source, slot);
      if (!value)
        return failure();
      home.slots.push_back(value);
    }
    homes[op.getResult()] = std::move(home);
    return success();
  }
  Home home;
  if (op.getSpace() == MemorySpace::Global) {
    home.memory = workspaces[nextWorkspace++];
    home.prefix = zone;
  } else {
    home = allocateLDS(count, element);
  }
  // Others may still read what stood there before.
  barrier();
  SmallVector<Value> parts;
  if (concat)
    parts.append(concat.getInputs().begin(), concat.getInputs().end());
  else
    parts.push_back(source);
  int64_t offset = 0;
  for (Value part : parts) {
    for (int64_t slot = 0; slot < numSlots(part); ++slot) {
      Value value = slotValue(op, part, slot);
      if (!value)
        return failure();
      guarded(isElement(slot, numElements(part)), [&] {
        Value at = arith::AddIOp::create(builder, loc, lane,
                                         index(offset + slot * threads));
        store(value, home, at);
      });
    }
    offset += numElements(part);
  }
  barrier();
  homes[op.getResult()] = home;
  return success();
}

SmallVector<Value> ZoneBody::inlineRegion(Region &region,
                                          ValueRange arguments) {
  IRMapping inlined;
  inlined.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator()) {
    if (isElementwise(&op)) {
      SmallVector<Value> operands = llvm::map_to_vector(
          op.getOperands(), [&](Value v) { return inlined.lookup(v); });
      inlined.map(op.getResult(0), cloneScalar(&op, operands));
    } else {
      builder.clone(op, inlined);
    }
  }
  return llvm::map_to_vector(
      region.front().getTerminator()->getOperands(),
      [&](Value v) { return inlined.lookup(v); });
}

Value ZoneBody::exchange(Value value, int64_t distance) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 64) {
    // Half by half.
    Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
    Value bits = arith::BitcastOp::create(builder, loc, i64, value);
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    auto half = [&](Value part) {
      Value low = arith::TruncIOp::create(builder, loc, i32, part);
      return Value(arith::ExtUIOp::create(builder, loc, i64,
                                          exchange(low, distance)));
    };
    Value low = half(bits);
    Value high = half(arith::ShRUIOp::create(builder, loc, bits, shift));
    high = arith::ShLIOp::create(builder, loc, high, shift);
    return arith::BitcastOp::create(
        builder, loc, type, arith::OrIOp::create(builder, loc, low, high));
  }
  auto permute = [&](amdgpu::DPPPerm kind, Attribute argument) -> Value {
    return amdgpu::DPPOp::create(builder, loc, type, value, value, kind,
                                 argument, /*row_mask=*/0xf, /*bank_mask=*/0xf,
                                 /*bound_ctrl=*/true);
  };
  switch (distance) {
  case 1:
    return permute(amdgpu::DPPPerm::quad_perm,
                   builder.getI32ArrayAttr({1, 0, 3, 2}));
  case 2:
    return permute(amdgpu::DPPPerm::quad_perm,
                   builder.getI32ArrayAttr({2, 3, 0, 1}));
  case 4:
    // Mirrored in eight lanes: the other four, which are all the same.
    return permute(amdgpu::DPPPerm::row_half_mirror, builder.getUnitAttr());
  case 8:
    return permute(amdgpu::DPPPerm::row_mirror, builder.getUnitAttr());
  default:
    return gpu::ShuffleOp::create(builder, loc, value, distance, wavefront,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  }
}

void ZoneBody::combineLanes(SegmentedReduceOp op,
                            SmallVectorImpl<Value> &accumulators,
                            int64_t lanes) {
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<Value> both(accumulators.begin(), accumulators.end());
    for (Value accumulator : accumulators)
      both.push_back(exchange(accumulator, distance));
    SmallVector<Value> combined = inlineRegion(op.getCombine(), both);
    accumulators.assign(combined.begin(), combined.end());
  }
}

/// One lane a segment, the segments of a thread one after the other.
LogicalResult ZoneBody::reduceSegmentsInLanes(SegmentedReduceOp op) {
  unsigned numSegments = op.getNumSegments();
  SmallVector<Home> results(op.getNumResults());
  Value table;
  if (numSegments > 1)
    table = constantTable(op.getSegments());
  for (int64_t slot = 0; slot < numSlots(op.getResult(0)); ++slot) {
    Value begin, end;
    if (numSegments == 1) {
      begin = index(0);
      end = index(op.getSegments()[1]);
    } else {
      Value segment = elementOfSlot(slot, numSegments);
      begin = lookUpTable(table, segment);
      end = lookUpTable(table, arith::AddIOp::create(builder, loc, segment,
                                                     index(1)));
    }
    bool isValid = true;
    auto loop = scf::ForOp::create(
        builder, loc, begin, end, index(1), lookUpAll(op.getInit()),
        [&](OpBuilder &, Location, Value element, ValueRange carried) {
          SmallVector<Value> arguments(carried);
          for (Value elements : op.getElements()) {
            Value value = elementValue(op, elements, element);
            if (!value) {
              isValid = false;
              break;
            }
            arguments.push_back(value);
          }
          if (isValid)
            scf::YieldOp::create(builder, loc,
                                 inlineRegion(op.getAccumulate(), arguments));
          else
            scf::YieldOp::create(builder, loc, carried);
        });
    if (!isValid)
      return failure();
    for (auto [home, value] : llvm::zip_equal(results, loop.getResults())) {
      // Every thread has reduced the only segment.
      if (numSegments == 1)
        home.uniform = value;
      else
        home.slots.push_back(value);
    }
  }
  for (auto [result, home] : llvm::zip_equal(op.getResults(), results))
    homes[result] = std::move(home);
  return success();
}

/// Segments with the same number of lanes stand together, long ones first; the
/// results go to LDS.
LogicalResult ZoneBody::reduceSegmentsAcrossLanes(SegmentedReduceOp op) {
  int64_t most = std::min(threads, wavefront);
  ArrayRef<int32_t> segments = op.getSegments();
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < op.getNumSegments(); ++i) {
    if (op.getLanesOf(i) > most)
      return op.emitError("expected at most ")
             << most << " lanes for one of several segments, got "
             << op.getLanesOf(i);
    order.push_back(i);
  }
  auto length = [&](unsigned i) { return segments[i + 1] - segments[i]; };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-op.getLanesOf(a), -length(a)) <
           std::pair(-op.getLanesOf(b), -length(b));
  });
  SmallVector<int32_t> begins, ends, numbers;
  for (unsigned i : order) {
    begins.push_back(segments[i]);
    ends.push_back(segments[i + 1]);
    numbers.push_back(i);
  }
  Value beginTable = constantTable(begins), endTable = constantTable(ends);
  Value numberTable = constantTable(numbers);

  SmallVector<Home> results;
  for (Value result : op.getResults())
    results.push_back(
        allocateLDS(numElements(result), getElementTypeOrSelf(result)));
  barrier();
  for (size_t first = 0; first < order.size();) {
    int64_t lanes = op.getLanesOf(order[first]);
    size_t last = first;
    while (last < order.size() && op.getLanesOf(order[last]) == lanes)
      ++last;
    int64_t groups = threads / lanes;
    Value group =
        arith::DivUIOp::create(builder, loc, lane, index(lanes));
    Value part = arith::RemUIOp::create(builder, loc, lane, index(lanes));
    for (size_t at = first; at < last; at += groups) {
      Value position = arith::AddIOp::create(builder, loc, group, index(at));
      Value isSegment;
      if (at + groups > last) {
        isSegment = arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::ult, position,
                                          index(last));
        position = clamp(position, last);
      }
      Value begin = lookUpTable(beginTable, position);
      Value end = lookUpTable(endTable, position);
      begin = arith::AddIOp::create(builder, loc, begin, part);
      bool isValid = true;
      auto loop = scf::ForOp::create(
          builder, loc, begin, end, index(lanes), lookUpAll(op.getInit()),
          [&](OpBuilder &, Location, Value element, ValueRange carried) {
            SmallVector<Value> arguments(carried);
            for (Value elements : op.getElements()) {
              Value value = elementValue(op, elements, element);
              if (!value) {
                isValid = false;
                break;
              }
              arguments.push_back(value);
            }
            if (isValid)
              scf::YieldOp::create(builder, loc,
                                   inlineRegion(op.getAccumulate(), arguments));
            else
              scf::YieldOp::create(builder, loc, carried);
          });
      if (!isValid)
        return failure();
      SmallVector<Value> accumulators(loop.getResults());
      combineLanes(op, accumulators, lanes);
      Value isFirst = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, part, index(0));
      if (isSegment)
        isFirst = arith::AndIOp::create(builder, loc, isFirst, isSegment);
      Value number = lookUpTable(numberTable, position);
      guarded(isFirst, [&] {
        for (auto [home, value] : llvm::zip_equal(results, accumulators))
          store(value, home, number);
      });
    }
    first = last;
  }
  barrier();
  for (auto [result, home] : llvm::zip_equal(op.getResults(), results))
    homes[result] = home;
  return success();
}

/// One segment on all threads: each thread folds its own slots.
LogicalResult ZoneBody::reduceAllAcrossThreads(SegmentedReduceOp op) {
  SmallVector<Value> accumulators = lookUpAll(op.getInit());
  int64_t count = op.getSegments()[1];
  for (int64_t slot = 0, end = llvm::divideCeil(count, threads); slot < end; ++slot) {
    SmallVector<Value> arguments(accumulators);
    for (Value elements : op.getElements()) {
      Value value = slotValue(op, elements, slot);
      if (!value)
        return failure();
      arguments.push_back(value);
    }
    SmallVector<Value> next = inlineRegion(op.getAccumulate(), arguments);
    if (Value condition = isElement(slot, count))
      for (auto [value, before] : llvm::zip_equal(next, accumulators))
        value = arith::SelectOp::create(builder, loc, condition, value, before);
    accumulators.assign(next.begin(), next.end());
  }
  combineLanes(op, accumulators, std::min(threads, wavefront));
  if (threads > wavefront) {
    int64_t waves = threads / wavefront;
    SmallVector<Home> partial;
    for (Value accumulator : accumulators)
      partial.push_back(allocateLDS(waves, accumulator.getType()));
    barrier();
    Value inWave = arith::RemUIOp::create(builder, loc, lane, index(wavefront));
    Value wave = arith::DivUIOp::create(builder, loc, lane, index(wavefront));
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, inWave, index(0));
    guarded(isFirst, [&] {
      for (auto [home, value] : llvm::zip_equal(partial, accumulators))
        store(value, home, wave);
    });
    barrier();
    SmallVector<SmallVector<Value>> all;
    for (int64_t i = 0; i < waves; ++i)
      all.push_back(llvm::map_to_vector(
          partial, [&](const Home &home) { return load(home, index(i)); }));
    for (; all.size() > 1; all.resize(all.size() / 2))
      for (size_t i = 0; i < all.size(); i += 2) {
        SmallVector<Value> both(all[i]);
        both.append(all[i + 1]);
        all[i / 2] = inlineRegion(op.getCombine(), both);
      }
    accumulators = all.front();
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), accumulators))
    homes[result].uniform = value;
  return success();
}

LogicalResult ZoneBody::rewriteReduce(SegmentedReduceOp op) {
  bool isSequential = true;
  for (unsigned i = 0; i < op.getNumSegments(); ++i)
    isSequential &= op.getLanesOf(i) == 1;
  if (isSequential)
    return reduceSegmentsInLanes(op);
  if (op.getNumSegments() == 1 && op.getLanesOf(0) == threads)
    return reduceAllAcrossThreads(op);
  return reduceSegmentsAcrossLanes(op);
}

SmallVector<Type> ZoneBody::expand(TypeRange types) {
  SmallVector<Type> expanded;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      expanded.append(numSlots(type), tensor.getElementType());
    else
      expanded.push_back(type);
  return expanded;
}

FailureOr<SmallVector<Value>> ZoneBody::expand(Operation *user,
                                               ValueRange values) {
  SmallVector<Value> expanded;
  for (Value value : values) {
    if (!isTensor(value)) {
      expanded.push_back(mapping.lookup(value));
      continue;
    }
    for (int64_t slot = 0; slot < numSlots(value); ++slot) {
      Value part = slotValue(user, value, slot);
      if (!part)
        return failure();
      expanded.push_back(part);
    }
  }
  return expanded;
}

void ZoneBody::bind(ValueRange values, ValueRange expanded) {
  for (Value value : values) {
    if (!isTensor(value)) {
      mapping.map(value, expanded.front());
      expanded = expanded.drop_front();
      continue;
    }
    Home &home = homes[value];
    home = Home();
    home.slots.assign(expanded.begin(), expanded.begin() + numSlots(value));
    expanded = expanded.drop_front(numSlots(value));
  }
}

LogicalResult ZoneBody::rewriteControlFlow(Operation *op) {
  FailureOr<SmallVector<Value>> operands = expand(op, op->getOperands());
  if (failed(operands))
    return failure();
  OperationState state(op->getLoc(), op->getName(), *operands,
                       expand(op->getResultTypes()), op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *branches = builder.create(state);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branches->getRegions())) {
    if (from.empty())
      continue;
    SmallVector<Type> types = expand(from.getArgumentTypes());
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(
        &to, {}, types, SmallVector<Location>(types.size(), op->getLoc()));
    bind(from.getArguments(), block->getArguments());
    if (failed(rewrite(from.front())))
      return failure();
  }
  bind(op->getResults(), branches->getResults());
  return success();
}

LogicalResult ZoneBody::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](TableOp op) -> LogicalResult {
        homes[op.getResult()].memory = createConstantMemory(
            module, kernel, loc, cast<DenseElementsAttr>(op.getValue()));
        return success();
      })
      .Case([&](arith::ConstantOp op) -> LogicalResult {
        if (!isTensor(op)) {
          mapping.map(op.getResult(), builder.clone(*op)->getResult(0));
          return success();
        }
        auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
        if (!dense || !dense.isSplat())
          return op.emitError("expected the same number for all elements; "
                              "constants that differ are a wavesmith.table");
        homes[op.getResult()].uniform = arith::ConstantOp::create(
            builder, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
        return success();
      })
      .Case([&](LoadZoneOp op) -> LogicalResult {
        auto type = cast<MemRefType>(op.getSource().getType());
        Value memory = mapping.lookup(op.getSource());
        if (type.getRank() == 1) {
          mapping.map(op.getResult(),
                      memref::LoadOp::create(builder, loc, memory, zone)
                          .getResult());
          return success();
        }
        Home home;
        int64_t count = numElements(op.getResult());
        for (int64_t slot = 0; slot < numSlots(op.getResult()); ++slot) {
          SmallVector<Value> at = {elementOfSlot(slot, count), zone};
          if (type.isDynamicDim(0))
            std::swap(at[0], at[1]);
          home.slots.push_back(
              memref::LoadOp::create(builder, loc, memory, at));
        }
        homes[op.getResult()] = std::move(home);
        return success();
      })
      .Case([&](StoreZoneOp op) -> LogicalResult {
        auto type = cast<MemRefType>(op.getTarget().getType());
        Value memory = mapping.lookup(op.getTarget());
        if (type.getRank() == 1) {
          guarded(isElement(0, 1), [&] {
            memref::StoreOp::create(builder, loc, mapping.lookup(op.getValue()),
                                    memory, zone);
          });
          return success();
        }
        int64_t count = numElements(op.getValue());
        for (int64_t slot = 0; slot < numSlots(op.getValue()); ++slot) {
          Value value = slotValue(op, op.getValue(), slot);
          if (!value)
            return failure();
          guarded(isElement(slot, count), [&] {
            SmallVector<Value> at = {elementOfSlot(slot, count), zone};
            if (type.isDynamicDim(0))
              std::swap(at[0], at[1]);
            memref::StoreOp::create(builder, loc, value, memory, at);
          });
        }
        return success();
      })
      .Case([&](StageOp op) { return rewriteStage(op); })
      .Case([&](GatherOp op) -> LogicalResult {
        auto source = homes.find(op.getSource());
        bool isThere = source != homes.end() &&
                       (source->second.memory || source->second.uniform);
        if (!isThere) {
          InFlightDiagnostic diagnostic =
              op.emitError("expected a source that all threads can read; "
                           "stage it in lds or global");
          diagnostic.attachNote(op.getSource().getLoc())
              << "the source is defined here";
          return diagnostic;
        }
        if (!needsSlots.contains(op.getResult()))
          return success();
        Home home;
        for (int64_t slot = 0; slot < numSlots(op.getResult()); ++slot) {
          Value at = slotValue(op, op.getIndices(), slot);
          if (!at)
            return failure();
          at = arith::IndexCastUIOp::create(builder, loc,
                                            builder.getIndexType(), at);
          home.slots.push_back(elementValue(op, op.getSource(), at));
        }
        homes[op.getResult()] = std::move(home);
        return success();
      })
      .Case([&](SegmentedReduceOp op) { return rewriteReduce(op); })
      .Case([&](tensor::SplatOp op) {
        homes[op.getResult()].uniform = mapping.lookup(op.getInput());
        return success();
      })
      .Case([&](tensor::FromElementsOp op) -> LogicalResult {
        if (op.getElements().size() != 1)
          return op.emitError("expected one element, got ")
                 << op.getElements().size();
        homes[op.getResult()].uniform = mapping.lookup(op.getElements()[0]);
        return success();
      })
      .Case([&](tensor::ExtractOp op) -> LogicalResult {
        Value value = elementValue(op, op.getTensor(),
                                   mapping.lookup(op.getIndices()[0]));
        if (!value)
          return failure();
        mapping.map(op.getResult(), value);
        return success();
      })
      .Case([&](tensor::ConcatOp op) -> LogicalResult {
        for (Operation *user : op->getUsers())
          if (!isa<StageOp>(user))
            return user->emitError("reads a concatenation that is not staged");
        return success();
      })
      .Case<scf::WhileOp, scf::ForOp, scf::IfOp>(
          [&](Operation *op) { return rewriteControlFlow(op); })
      .Case<scf::YieldOp, scf::ConditionOp>(
          [&](Operation *op) -> LogicalResult {
            FailureOr<SmallVector<Value>> operands =
                expand(op, op->getOperands());
            if (failed(operands))
              return failure();
            OperationState state(loc, op->getName(), *operands, TypeRange(),
                                 op->getAttrs());
            builder.create(state);
            return success();
          })
      .Default([&](Operation *op) -> LogicalResult {
        if (isElementwise(op))
          return rewriteElementwise(op);
        return op->emitError("not supported in a workgroup with several "
                             "threads a zone");
      });
}

LogicalResult wavesmith::distributeZone(WorkgroupOp workgroup,
                                        gpu::GPUModuleOp module,
                                        gpu::GPUFuncOp kernel, IRMapping known,
                                        ValueRange workspaces,
                                        const TargetInfo *target) {
  for (Operation &op : workgroup.getBody().front()) {
    // Unrolled slots bound the code.
    WalkResult walk = op.walk([&](Operation *inner) {
      for (Type type : inner->getResultTypes()) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        if (!tensor || isa<TableOp, tensor::ConcatOp>(inner) ||
            tensor.getRank() != 1 || tensor.isDynamicDim(0))
          continue;
        int64_t slots =
            llvm::divideCeil(tensor.getDimSize(0),
                             int64_t(*workgroup.getThreadsPerZone()));
        if (slots > kMaxSlots) {
          inner->emitError("a tensor of ")
              << tensor.getDimSize(0) << " elements on "
              << *workgroup.getThreadsPerZone()
              << " threads makes more than " << kMaxSlots
              << " elements a thread; take more threads a zone";
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return ZoneBody(workgroup, module, kernel, workspaces, target)
      .distribute(std::move(known));
}
