//===- ZoneOnThreads.cpp - Several threads a zone -------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element e of a tensor belongs to thread e mod T of the zone's T threads, as
// that thread's slot e / T; with #wavesmith.per_wavefront, T is the wavefront's
// part of the zone, and each wavefront does the same. Threads whose last slot
// is past the end compute the last element once more, so that no address is out
// of bounds, and store nothing.
//
//===----------------------------------------------------------------------===//

#include "ZoneOnThreads.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "wavesmith/Dialect/Wavesmith/IR/Slices.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"
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
    types.push_back(
        MemRefType::get({ShapedType::kDynamic, type.getDimSize(0)},
                        type.getElementType(), MemRefLayoutAttrInterface(),
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
  /// The number of loops that the memory was written in.
  unsigned depth = 0;
  /// In LDS: room for zeros at the tensor's end, which become +0.0 if a
  /// reduction asks for them.
  bool hasRoomForZeros = false;
  /// Each wavefront has a copy of its own.
  bool isOwn = false;
};

/// Where the elements of a resident reduction come from, for each of a thread's
/// places in it: rounds, and in them the elements it folds.
struct ElementSource {
  /// Read or computed before the loops: one value a place.
  SmallVector<Value> values;
  unsigned depth = 0;
  /// Else memory, read at these positions ...
  Value tensor;
  SmallVector<int32_t> positions;
  /// ... or an operation on other sources.
  Operation *op = nullptr;
  std::vector<ElementSource> operands;
  bool isFixed() const { return !tensor && !op; }
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
  /// Whether each thread folds its own slots.
  bool readsSlots(SegmentedReduceOp op);
  LogicalResult rewrite(Block &block);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteStage(StageOp op);
  LogicalResult rewriteReduce(SegmentedReduceOp op);
  /// Folds every `step`th element from `begin` up to `end`.
  FailureOr<SmallVector<Value>>
  reduceElements(SegmentedReduceOp op, Value begin, Value end, int64_t step);
  LogicalResult reduceSegmentsInLanes(SegmentedReduceOp op);
  LogicalResult reduceSegmentsAcrossLanes(SegmentedReduceOp op);
  LogicalResult reduceAllAcrossThreads(SegmentedReduceOp op);
  LogicalResult reduceExtremum(SegmentedReduceOp op, bool isMaximum,
                               Value &result);
  /// 1 if something holds in all lanes, or in any, if that is what a reduction
  /// asks; else null.
  Value combineTruth(SegmentedReduceOp op, Value value);
  LogicalResult reduceResident(SegmentedReduceOp op);
  /// \param elements of the tensor, one a thread and place
  FailureOr<ElementSource> findSource(Operation *user, Value tensor,
                                      ArrayRef<int32_t> elements);
  Value emitSource(const ElementSource &source, unsigned place);
  /// Makes weights of padding -0.0 and their values a +0.0 in LDS, of a bank
  /// that the lanes around do not read.
  void addZeroPadding(ElementSource &weight, ElementSource &value,
                      ArrayRef<bool> isPadding);
  /// A bit for each wavefront of the zone that has such a part.
  uint32_t wavefrontsWith(const PlacementRound &round,
                          llvm::function_ref<bool(const SegmentPart &)> holds);
  uint32_t allWavefronts() {
    return llvm::maskTrailingOnes<uint32_t>(
        std::max<int64_t>(1, threads / wavefront));
  }
  /// Whether this wavefront's bit is set.
  Value isInWavefronts(uint32_t mask);
  void combinePlaced(SegmentedReduceOp op, const PlacementRound &round,
                     Value lanes, int32_t mostLanes,
                     SmallVectorImpl<Value> &accumulators);
  /// Reads a table of one number a thread and place before the loops.
  SmallVector<Value> loadPlaces(DenseElementsAttr numbers);
  /// Goes to the place before the loop of this depth, if there is one.
  void moveBeforeLoop(unsigned depth) {
    if (depth < loops.size())
      builder.setInsertionPoint(loops[depth]);
  }
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
                            threadsOf(type));
  }
  static bool isPerWavefront(Type type) {
    return isa_and_nonnull<PerWavefrontAttr>(
        cast<RankedTensorType>(type).getEncoding());
  }
  /// Threads that share out a tensor.
  int64_t threadsOf(Type type) {
    return isPerWavefront(type) ? std::min(threads, wavefront) : threads;
  }
  /// This thread's number among them.
  Value laneOf(Type type) {
    return isPerWavefront(type) && threads > wavefront ? laneInWave : lane;
  }
  bool isTensor(Value value) { return isa<TensorType>(value.getType()); }
  /// The element of a thread's slot of a tensor.
  Value elementOfSlot(int64_t slot, Type type);
  /// Whether this thread's slot is an element; null if that is so for all.
  Value isElement(int64_t slot, Type type);
  /// The same, for one thread an element: of those that have the tensor for
  /// themselves, the first wavefront's.
  Value isOwnElement(int64_t slot, Type type);
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
  /// Memory of the workgroup, one part a zone or a wavefront.
  Home allocateLDS(int64_t count, Type element, bool perWavefront = false);
  /// The element of such memory that a wavefront may write and nobody reads.
  Value spareElement(int64_t count, bool perWavefront) {
    Value spare = index(count + kZerosInLDS);
    if (threads <= wavefront || perWavefront)
      return spare;
    return arith::AddIOp::create(builder, loc, spare, wave);
  }
  /// The same for the threads of a wavefront.
  void waitInWavefront();
  /// The value of the lane whose number differs in the bit `distance`, if all
  /// lanes whose numbers differ in lower bits have the same value. For 16 and
  /// 32 only in the last lanes of the whole; what others get means nothing.
  Value exchange(Value value, int64_t distance);
  /// Moves a number of 32 bits, or the halves of one of 64.
  Value inHalves(Value value, llvm::function_ref<Value(Value)> move);
  SmallVector<Value> inlineRegion(Region &region, ValueRange arguments);
  SmallVector<Value> lookUpAll(ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](Value v) { return mapping.lookup(v); });
  }
  /// acc = combine(acc, the other lane's acc) for distances up to `lanes` / 2;
  /// the last of the lanes has the result.
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
  /// A condition that is the same for the zone as one of scalar registers,
  /// where a wavefront has no other zone: a branch instead of a mask.
  Value uniform(Value condition);

  WorkgroupOp workgroup;
  gpu::GPUModuleOp module;
  gpu::GPUFuncOp kernel;
  ValueRange workspaces;
  const TargetInfo *target;
  OpBuilder builder;
  int64_t size, threads, wavefront;
  Location loc = UnknownLoc::get(builder.getContext());
  /// The number of the thread in its zone, and parts of it.
  Value lane, laneInWave, wave;
  Value zone, zoneInWorkgroup, thread;
  /// The loops around the place that is written.
  SmallVector<Operation *> loops;
  /// Where the zone's code begins.
  Operation *start = nullptr;
  DenseSet<Value> zeroed;
  IRMapping mapping;
  DenseMap<Value, Home> homes;
  DenseSet<Value> needsSlots;
  unsigned nextWorkspace = 0;
  int64_t ldsBytes = 0;
};

} // namespace

bool ZoneBody::readsSlots(SegmentedReduceOp op) {
  int64_t sharing = threadsOf(op.getElements().front().getType());
  return op.getNumSegments() == 1 && op.getLanesOf(0) == sharing && sharing > 1;
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
      if (readsSlots(reduce))
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
  if (threads > wavefront) {
    laneInWave = arith::RemUIOp::create(builder, loc, lane, index(wavefront));
    wave = arith::DivUIOp::create(builder, loc, lane, index(wavefront));
    // The same in all lanes, which the back end cannot know.
    Type i32 = builder.getI32Type();
    wave = arith::IndexCastUIOp::create(builder, loc, i32, wave);
    wave = ROCDL::ReadfirstlaneOp::create(builder, loc, i32, wave);
    wave = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        wave);
    start = wave.getDefiningOp();
  } else {
    start = index(0).getDefiningOp();
  }
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
      if (!isa<TableOp, tensor::ConcatOp>(op) && numSlots(type) > kMaxSlots)
        return op.emitError("a tensor of ")
               << type.getDimSize(0) << " elements on " << threads
               << " threads makes more than " << kMaxSlots
               << " elements a thread; take more threads a zone";
    }
    if (failed(rewrite(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ZoneBody::elementOfSlot(int64_t slot, Type type) {
  int64_t sharing = threadsOf(type);
  int64_t count = cast<RankedTensorType>(type).getDimSize(0);
  if (sharing == 1)
    return index(slot);
  Value element = laneOf(type);
  if (slot != 0)
    element =
        arith::AddIOp::create(builder, loc, element, index(slot * sharing));
  return (slot + 1) * sharing > count ? clamp(element, count) : element;
}

Value ZoneBody::isElement(int64_t slot, Type type) {
  int64_t sharing = threadsOf(type);
  int64_t left = cast<RankedTensorType>(type).getDimSize(0) - slot * sharing;
  if (left >= sharing)
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                               laneOf(type), index(left));
}

Value ZoneBody::isOwnElement(int64_t slot, Type type) {
  if (!isPerWavefront(type) || threads <= wavefront)
    return isElement(slot, type);
  int64_t left = cast<RankedTensorType>(type).getDimSize(0) - slot * wavefront;
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane,
                               index(std::min(left, wavefront)));
}

Value ZoneBody::load(const Home &home, Value element) {
  if (home.offset)
    element = arith::AddIOp::create(builder, loc, home.offset, element);
  SmallVector<Value, 2> at;
  if (home.prefix)
    at.push_back(home.prefix);
  at.push_back(element);
  auto op = memref::LoadOp::create(builder, loc, home.memory, at);
  if (home.isOwn)
    op->setAttr(kOwnWavefrontAttrName, builder.getUnitAttr());
  return op;
}

void ZoneBody::store(Value value, const Home &home, Value element) {
  if (home.offset)
    element = arith::AddIOp::create(builder, loc, home.offset, element);
  SmallVector<Value, 2> at;
  if (home.prefix)
    at.push_back(home.prefix);
  at.push_back(element);
  auto op = memref::StoreOp::create(builder, loc, value, home.memory, at);
  if (home.isOwn)
    op->setAttr(kOwnWavefrontAttrName, builder.getUnitAttr());
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
    return load(home, elementOfSlot(slot, tensor.getType()));
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

void ZoneBody::waitInWavefront() {
  // The lanes of a wavefront are in step; only the compiler must keep the
  // order.
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel,
                        "wavefront");
}

void ZoneBody::barrier() {
  if (threads > wavefront)
    gpu::BarrierOp::create(builder, loc);
  else if (threads > 1)
    waitInWavefront();
}

Home ZoneBody::allocateLDS(int64_t count, Type element, bool perWavefront) {
  int64_t copies = perWavefront ? threads / wavefront : size / threads;
  int64_t room = roomInLDS(count, threads, perWavefront);
  auto type =
      MemRefType::get({room * copies}, element, MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Workgroup));
  ldsBytes += llvm::alignTo(
      room * copies * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), 8);
  Home home;
  home.hasRoomForZeros = true;
  home.isOwn = perWavefront;
  home.depth = loops.size();
  home.memory = kernel.addWorkgroupAttribution(type, loc);
  if (copies > 1)
    home.offset = arith::MulIOp::create(
        builder, loc, perWavefront ? wave : zoneInWorkgroup, index(room));
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
  // Each wavefront has a copy of its own, and waits for nobody.
  bool hasCopies = false;
  if (op.getSpace() == MemorySpace::Global) {
    home.memory = workspaces[nextWorkspace++];
    home.prefix = zone;
  } else {
    hasCopies = isPerWavefront(op.getResult().getType()) && threads > wavefront;
    home = allocateLDS(count, element, hasCopies);
  }
  home.depth = loops.size();
  auto wait = [&] {
    if (hasCopies)
      waitInWavefront();
    else
      barrier();
  };
  // Others may still read what stood there before.
  wait();
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
      Type layout = part.getType();
      int64_t first = slot * threadsOf(layout);
      Value isWriter =
          hasCopies ? isElement(slot, layout) : isOwnElement(slot, layout);
      Value at = arith::AddIOp::create(builder, loc, laneOf(layout),
                                       index(offset + first));
      // Where most threads write, the others do, too, at a place that nobody
      // reads: a branch would cost more, and keep reads behind it.
      bool writesAll =
          isWriter && op.getSpace() == MemorySpace::LDS &&
          (threads <= wavefront || hasCopies || !isPerWavefront(layout));
      if (writesAll) {
        at = arith::SelectOp::create(builder, loc, isWriter, at,
                                     spareElement(count, hasCopies));
        isWriter = {};
      }
      guarded(isWriter, [&] { store(value, home, at); });
    }
    offset += numElements(part);
  }
  wait();
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
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value v) { return inlined.lookup(v); });
}

Value ZoneBody::inHalves(Value value, llvm::function_ref<Value(Value)> move) {
  Type type = value.getType();
  if (type.getIntOrFloatBitWidth() != 64)
    return move(value);
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  Value bits = arith::BitcastOp::create(builder, loc, i64, value);
  Value shift =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
  auto half = [&](Value part) -> Value {
    Value low = arith::TruncIOp::create(builder, loc, i32, part);
    return arith::ExtUIOp::create(builder, loc, i64, move(low));
  };
  Value low = half(bits);
  Value high = half(arith::ShRUIOp::create(builder, loc, bits, shift));
  high = arith::ShLIOp::create(builder, loc, high, shift);
  return arith::BitcastOp::create(
      builder, loc, type, arith::OrIOp::create(builder, loc, low, high));
}

Value ZoneBody::exchange(Value value, int64_t distance) {
  Type type = value.getType();
  if (type.getIntOrFloatBitWidth() == 64)
    return inHalves(value,
                    [&](Value half) { return exchange(half, distance); });
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
    // From the last lane of the sixteen, or thirty-two, before.
    return permute(distance == 16 ? amdgpu::DPPPerm::row_bcast_15
                                  : amdgpu::DPPPerm::row_bcast_31,
                   builder.getUnitAttr());
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

FailureOr<SmallVector<Value>> ZoneBody::reduceElements(SegmentedReduceOp op,
                                                       Value begin, Value end,
                                                       int64_t step) {
  bool isValid = true;
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, index(step), lookUpAll(op.getInit()),
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
  return SmallVector<Value>(loop.getResults());
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
      Value segment = elementOfSlot(slot, op.getResult(0).getType());
      begin = lookUpTable(table, segment);
      end = lookUpTable(table,
                        arith::AddIOp::create(builder, loc, segment, index(1)));
    }
    FailureOr<SmallVector<Value>> reduced =
        reduceElements(op, begin, end, /*step=*/1);
    if (failed(reduced))
      return failure();
    for (auto [home, value] : llvm::zip_equal(results, *reduced)) {
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
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tuple(-op.getLanesOf(a), -length(a), a) <
           std::tuple(-op.getLanesOf(b), -length(b), b);
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
    Value group = arith::DivUIOp::create(builder, loc, lane, index(lanes));
    Value part = arith::RemUIOp::create(builder, loc, lane, index(lanes));
    for (size_t at = first; at < last; at += groups) {
      Value position = arith::AddIOp::create(builder, loc, group, index(at));
      Value isSegment;
      if (at + groups > last) {
        isSegment = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ult, position, index(last));
        position = clamp(position, last);
      }
      Value begin = lookUpTable(beginTable, position);
      Value end = lookUpTable(endTable, position);
      begin = arith::AddIOp::create(builder, loc, begin, part);
      FailureOr<SmallVector<Value>> reduced =
          reduceElements(op, begin, end, lanes);
      if (failed(reduced))
        return failure();
      SmallVector<Value> accumulators = std::move(*reduced);
      combineLanes(op, accumulators, lanes);
      Value isLast = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, part, index(lanes - 1));
      if (isSegment)
        isLast = arith::AndIOp::create(builder, loc, isLast, isSegment);
      Value number = lookUpTable(numberTable, position);
      guarded(isLast, [&] {
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

/// Whether a reduction is that of arith.maximumf or of arith.minimumf.
template <typename OpT> static bool isExtremum(SegmentedReduceOp op) {
  return op.getElements().size() == 1 && op.getInit().size() == 1 &&
         llvm::all_of(op->getRegions(), [](Region &region) {
           Block &block = region.front();
           auto most =
               block.getTerminator()->getOperand(0).getDefiningOp<OpT>();
           return most && most.getLhs() == block.getArgument(0) &&
                  most.getRhs() == block.getArgument(1);
         });
}

/// The largest or smallest element of a wavefront. Hardware's instruction
/// leaves NaN out, and the detour around that costs three instructions more for
/// each of the tree's levels; one look at all elements at once costs less.
LogicalResult ZoneBody::reduceExtremum(SegmentedReduceOp op, bool isMaximum,
                                       Value &result) {
  Type layout = op.getElements().front().getType();
  auto noNaN = arith::FastMathFlagsAttr::get(builder.getContext(),
                                             arith::FastMathFlags::nnan);
  auto extremum = [&](Value a, Value b) -> Value {
    if (isMaximum)
      return arith::MaxNumFOp::create(builder, loc, a, b, noNaN);
    return arith::MinNumFOp::create(builder, loc, a, b, noNaN);
  };
  result = mapping.lookup(op.getInit()[0]);
  Value isNaN;
  auto look = [&](Value a, Value b) {
    Value found =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, a, b);
    isNaN =
        isNaN ? Value(arith::OrIOp::create(builder, loc, isNaN, found)) : found;
  };
  // Threads past the end have the last element once more, which changes
  // nothing here.
  Value before = result;
  for (int64_t slot = 0, end = numSlots(layout); slot < end; ++slot) {
    Value value = slotValue(op, op.getElements()[0], slot);
    if (!value)
      return failure();
    result = extremum(result, value);
    if (before)
      look(before, value);
    before = before ? Value() : value;
  }
  if (before)
    look(before, before);
  for (int64_t distance = 1; distance < wavefront; distance *= 2)
    result = extremum(result, exchange(result, distance));
  Value last = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(int32_t(wavefront) - 1));
  result =
      ROCDL::ReadlaneOp::create(builder, loc, result.getType(), result, last);
  auto type = cast<FloatType>(result.getType());
  Value nan = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  result = arith::SelectOp::create(builder, loc, uniform(isNaN), nan, result);
  return success();
}

/// Whether a reduction asks if something holds for all elements, or for any, in
/// numbers that are 0 or 1.
template <typename OpT> static bool asksTruth(SegmentedReduceOp op) {
  Block &accumulate = op.getAccumulate().front(),
        &combine = op.getCombine().front();
  auto fold = accumulate.getTerminator()->getOperand(0).getDefiningOp<OpT>();
  auto both = combine.getTerminator()->getOperand(0).getDefiningOp<OpT>();
  APInt init;
  if (!fold || !both || op.getInit().size() != 1 ||
      both->getOperands() != ValueRange(combine.getArguments()) ||
      fold.getLhs() != accumulate.getArgument(0) ||
      !matchPattern(op.getInit()[0], m_ConstantInt(&init)) || init.ugt(1))
    return false;
  auto own = fold.getRhs().template getDefiningOp<arith::ExtUIOp>();
  return own && own.getIn().getType().isInteger(1);
}

Value ZoneBody::combineTruth(SegmentedReduceOp op, Value value) {
  bool isAll = asksTruth<arith::AndIOp>(op);
  if (!isAll && !asksTruth<arith::OrIOp>(op))
    return {};
  auto number = [&](int32_t n) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(n));
  };
  // One look at all lanes: does any have what decides?
  Value decides = arith::CmpIOp::create(
      builder, loc, isAll ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
      value, number(0));
  return arith::SelectOp::create(builder, loc, uniform(decides),
                                 number(isAll ? 0 : 1), number(isAll ? 1 : 0));
}

/// One segment on all threads, or on those of each wavefront: each thread folds
/// its own slots.
LogicalResult ZoneBody::reduceAllAcrossThreads(SegmentedReduceOp op) {
  Type layout = op.getElements().front().getType();
  int64_t sharing = threadsOf(layout);
  bool isMaximum = isExtremum<arith::MaximumFOp>(op);
  if (sharing == wavefront &&
      (isMaximum || isExtremum<arith::MinimumFOp>(op))) {
    Value result;
    if (failed(reduceExtremum(op, isMaximum, result)))
      return failure();
    homes[op.getResult(0)].uniform = result;
    return success();
  }
  SmallVector<Value> accumulators = lookUpAll(op.getInit());
  for (int64_t slot = 0, end = numSlots(layout); slot < end; ++slot) {
    SmallVector<Value> arguments(accumulators);
    for (Value elements : op.getElements()) {
      Value value = slotValue(op, elements, slot);
      if (!value)
        return failure();
      arguments.push_back(value);
    }
    SmallVector<Value> next = inlineRegion(op.getAccumulate(), arguments);
    if (Value condition = isElement(slot, layout))
      for (auto [value, before] : llvm::zip_equal(next, accumulators))
        value = arith::SelectOp::create(builder, loc, condition, value, before);
    accumulators.assign(next.begin(), next.end());
  }
  int64_t lanes = std::min(sharing, wavefront);
  Value truth;
  if (lanes == wavefront && accumulators.size() == 1)
    truth = combineTruth(op, accumulators[0]);
  if (truth)
    accumulators[0] = truth;
  else
    combineLanes(op, accumulators, lanes);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  if (truth) {
    // All lanes have it.
  } else if (lanes == wavefront) {
    for (Value &accumulator : accumulators)
      accumulator = ROCDL::ReadlaneOp::create(
          builder, loc, accumulator.getType(), accumulator, number(lanes - 1));
  } else if (lanes > 16) {
    // Several zones a wavefront: from the last lane of this one's.
    Value last = arith::OrIOp::create(
        builder, loc,
        arith::IndexCastUIOp::create(
            builder, loc, builder.getI32Type(),
            arith::RemUIOp::create(builder, loc, thread, index(wavefront))),
        number(lanes - 1));
    for (Value &accumulator : accumulators)
      accumulator = inHalves(accumulator, [&](Value half) -> Value {
        return gpu::ShuffleOp::create(builder, loc, half, last,
                                      number(wavefront), gpu::ShuffleMode::IDX)
            .getShuffleResult();
      });
  }
  if (sharing > wavefront) {
    int64_t waves = sharing / wavefront;
    SmallVector<Home> partial;
    for (Value accumulator : accumulators)
      partial.push_back(allocateLDS(waves, accumulator.getType()));
    barrier();
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, laneInWave, index(0));
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

//===----------------------------------------------------------------------===//
// Resident reductions
//===----------------------------------------------------------------------===//

SmallVector<Value> ZoneBody::loadPlaces(DenseElementsAttr numbers) {
  OpBuilder::InsertionGuard guard(builder);
  moveBeforeLoop(0);
  Value memory = createConstantMemory(module, kernel, loc, numbers);
  SmallVector<Value> values;
  for (int64_t first = 0; first < numbers.getNumElements(); first += threads) {
    Value at = lane;
    if (first != 0)
      at = arith::AddIOp::create(builder, loc, lane, index(first));
    values.push_back(memref::LoadOp::create(builder, loc, memory, at));
  }
  return values;
}

FailureOr<ElementSource> ZoneBody::findSource(Operation *user, Value tensor,
                                              ArrayRef<int32_t> elements) {
  size_t places = elements.size() / threads;
  ElementSource source;
  auto found = homes.find(tensor);
  if (found != homes.end() && found->second.uniform) {
    source.values.assign(places, found->second.uniform);
    source.depth = loops.size();
    if (auto constant =
            found->second.uniform.getDefiningOp<arith::ConstantOp>()) {
      // Wherever it is wanted.
      OpBuilder::InsertionGuard guard(builder);
      moveBeforeLoop(0);
      source.values.assign(places, builder.clone(*constant)->getResult(0));
      source.depth = 0;
    }
    return source;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto table = dyn_cast_or_null<TableOp>(op)) {
    auto all = llvm::to_vector(
        cast<DenseElementsAttr>(table.getValue()).getValues<Attribute>());
    auto own = llvm::map_to_vector(elements, [&](int32_t e) { return all[e]; });
    auto type = RankedTensorType::get(
        {int64_t(own.size())}, table.getResult().getType().getElementType());
    source.values = loadPlaces(DenseElementsAttr::get(type, ArrayRef(own)));
    return source;
  }
  if (found != homes.end() && found->second.memory) {
    source.tensor = tensor;
    source.positions.assign(elements.begin(), elements.end());
    auto type =
        RankedTensorType::get({int64_t(elements.size())}, builder.getI32Type());
    for (Value at : loadPlaces(DenseElementsAttr::get(type, elements))) {
      OpBuilder::InsertionGuard guard(builder);
      moveBeforeLoop(0);
      source.values.push_back(arith::IndexCastUIOp::create(
          builder, loc, builder.getIndexType(), at));
    }
    if (found->second.depth < loops.size()) {
      // Does not change in the loops inside of the one that writes it.
      source.depth = found->second.depth;
      OpBuilder::InsertionGuard guard(builder);
      moveBeforeLoop(source.depth);
      for (Value &value : source.values)
        value = load(found->second, value);
      source.tensor = {};
      source.positions.clear();
    }
    return source;
  }
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    Value indices = gather.getIndices();
    if (auto wide = indices.getDefiningOp<arith::ExtUIOp>())
      indices = wide.getIn();
    if (auto table = indices.getDefiningOp<TableOp>()) {
      auto all = llvm::to_vector(
          cast<DenseElementsAttr>(table.getValue()).getValues<APInt>());
      auto at = llvm::map_to_vector(
          elements, [&](int32_t e) { return int32_t(all[e].getZExtValue()); });
      return findSource(user, gather.getSource(), at);
    }
  }
  if (op && isElementwise(op)) {
    source.op = op;
    bool isFixed = true;
    for (Value operand : op->getOperands()) {
      ElementSource part;
      if (isTensor(operand)) {
        FailureOr<ElementSource> found = findSource(user, operand, elements);
        if (failed(found))
          return failure();
        part = std::move(*found);
      } else {
        part.values.assign(places, mapping.lookup(operand));
        part.depth = loops.size();
      }
      isFixed &= part.isFixed();
      source.depth = std::max(source.depth, part.depth);
      source.operands.push_back(std::move(part));
    }
    if (isFixed) {
      OpBuilder::InsertionGuard guard(builder);
      moveBeforeLoop(source.depth);
      SmallVector<Value> values;
      for (unsigned place = 0; place < places; ++place)
        values.push_back(emitSource(source, place));
      source.op = nullptr;
      source.operands.clear();
      source.values = std::move(values);
    }
    return source;
  }
  InFlightDiagnostic diagnostic = user->emitError(
      "reads elements that other threads hold; stage the tensor in lds or "
      "global");
  diagnostic.attachNote(tensor.getLoc()) << "the tensor is defined here";
  return diagnostic;
}

Value ZoneBody::emitSource(const ElementSource &source, unsigned place) {
  if (source.tensor)
    return load(homes[source.tensor], source.values[place]);
  if (!source.op)
    return source.values[place];
  SmallVector<Value> operands;
  for (const ElementSource &operand : source.operands)
    operands.push_back(emitSource(operand, place));
  return cloneScalar(source.op, operands);
}

/// If a region's result is fma(x, y, acc) of two elements, their numbers.
static std::optional<std::pair<unsigned, unsigned>>
findWeightedSum(SegmentedReduceOp op) {
  Block &block = op.getAccumulate().front();
  if (op.getElements().size() != 2 || op.getInit().size() != 1)
    return std::nullopt;
  auto fma = block.getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  if (!fma || fma.getC() != block.getArgument(0))
    return std::nullopt;
  if (fma.getA() == block.getArgument(1) && fma.getB() == block.getArgument(2))
    return std::pair(0u, 1u);
  if (fma.getA() == block.getArgument(2) && fma.getB() == block.getArgument(1))
    return std::pair(1u, 0u);
  return std::nullopt;
}

/// Every thread folds its parts of the segments, which placeSegments gives it,
/// in unrolled code.
LogicalResult ZoneBody::reduceResident(SegmentedReduceOp op) {
  int64_t most = std::min(threads, wavefront);
  for (unsigned i = 0; i < op.getNumSegments(); ++i)
    if (op.getLanesOf(i) > most)
      return op.emitOpError("expected at most ")
             << most << " lanes for a segment that is resident, got "
             << op.getLanesOf(i);
  SmallVector<PlacementRound> rounds = placeSegments(op, threads);
  // One slot for each element that a thread folds, in all rounds.
  SmallVector<SmallVector<int32_t>> slots = firstSlots(rounds, threads);
  int32_t numSlots = 0;
  for (ArrayRef<int32_t> own : slots)
    numSlots = std::max(numSlots, own.back());
  if (numSlots > kMaxSlots)
    return op.emitOpError("a resident reduction on ")
           << threads << " threads makes more than " << kMaxSlots
           << " elements a thread; take more threads or lanes";
  SmallVector<int32_t> elements(numSlots * threads,
                                op.getSegments().back() - 1);
  SmallVector<bool> isPadding(numSlots * threads, true);
  int64_t width = std::min(threads, wavefront);
  for (auto [r, round] : llvm::enumerate(rounds))
    for (auto [thread, part] : llvm::enumerate(round))
      for (int32_t k = 0; k < part.count; ++k) {
        size_t place = (slots[thread / width][r] + k) * threads + thread;
        isPadding[place] = false;
        elements[place] = part.begin + k * part.stride;
      }
  SmallVector<ElementSource> sources;
  for (Value tensor : op.getElements()) {
    FailureOr<ElementSource> source = findSource(op, tensor, elements);
    if (failed(source))
      return failure();
    sources.push_back(std::move(*source));
  }
  auto hasPadding = [&](int64_t place) {
    return llvm::is_contained(
        ArrayRef<bool>(isPadding).slice(place * threads, threads), true);
  };
  // Padding costs nothing where it adds -0.0 * +0.0, which changes no number:
  // the weight is kept in a register, and the value read from LDS, which gets
  // one more element.
  bool isFree = false;
  if (auto sum = findWeightedSum(op)) {
    auto [a, b] = *sum;
    if (!sources[a].isFixed())
      std::swap(a, b);
    ElementSource &weight = sources[a], &value = sources[b];
    isFree = weight.isFixed() &&
             weight.depth < std::max<size_t>(1, loops.size()) && value.tensor &&
             homes[value.tensor].hasRoomForZeros;
    if (isFree)
      addZeroPadding(weight, value, isPadding);
  }
  // Else a bit for each slot, in words of 32.
  SmallVector<Value> hasElement;
  if (!isFree) {
    SmallVector<int32_t> words(llvm::divideCeil(numSlots, 32) * threads);
    for (int32_t s = 0; s < numSlots; ++s)
      for (int64_t t = 0; t < threads; ++t)
        if (!isPadding[s * threads + t])
          words[s / 32 * threads + t] |= int32_t(1u << (s % 32));
    auto type =
        RankedTensorType::get({int64_t(words.size())}, builder.getI32Type());
    hasElement = loadPlaces(DenseElementsAttr::get(type, ArrayRef(words)));
  }
  SmallVector<Home> results;
  for (Value result : op.getResults())
    results.push_back(
        allocateLDS(numElements(result), getElementTypeOrSelf(result)));
  auto roundTable = [&](llvm::function_ref<int32_t(const SegmentPart &)> get) {
    SmallVector<int32_t> numbers;
    for (const PlacementRound &round : rounds)
      for (const SegmentPart &part : round)
        numbers.push_back(get(part));
    auto type =
        RankedTensorType::get({int64_t(numbers.size())}, builder.getI32Type());
    return loadPlaces(DenseElementsAttr::get(type, ArrayRef(numbers)));
  };
  // The last lane of a segment writes it; the others write, too, at a place
  // that nobody reads.
  int64_t numSegments = op.getNumSegments();
  SmallVector<Value> targets = roundTable([&](const SegmentPart &part) {
    return part.segment >= 0 && part.lane + 1 == part.lanes ? part.segment : -1;
  });
  for (Value &target : targets) {
    OpBuilder::InsertionGuard guard(builder);
    moveBeforeLoop(0);
    Value isLast = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, target,
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
    target = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                          target);
    target = arith::SelectOp::create(
        builder, loc, isLast, target,
        spareElement(numSegments, /*perWavefront=*/false));
  }
  SmallVector<Value> lanes =
      roundTable([](const SegmentPart &part) { return part.lanes; });

  // A wavefront folds one round after the other; where a round ends, its sums
  // are set aside.
  SmallVector<Value> init = lookUpAll(op.getInit()), accumulators = init;
  SmallVector<SmallVector<Value>> folded(rounds.size(), init);
  auto wavesWith = [&](llvm::function_ref<bool(ArrayRef<int32_t>)> holds) {
    uint32_t mask = 0;
    for (auto [wave, own] : llvm::enumerate(slots))
      if (holds(own))
        mask |= 1u << wave;
    return mask;
  };
  auto endRounds = [&](int32_t slot) {
    for (size_t r = 0; r + 1 < rounds.size(); ++r) {
      uint32_t mask = wavesWith([&](ArrayRef<int32_t> own) {
        return own[r + 1] == slot && own[r + 1] != own[r];
      });
      if (mask == 0)
        continue;
      Value isHere = mask == allWavefronts() ? Value() : isInWavefronts(mask);
      for (auto [value, aside, first] :
           llvm::zip_equal(accumulators, folded[r], init)) {
        aside = isHere ? Value(arith::SelectOp::create(builder, loc, isHere,
                                                       value, aside))
                       : value;
        value = isHere ? Value(arith::SelectOp::create(builder, loc, isHere,
                                                       first, value))
                       : first;
      }
    }
  };
  auto fold = [&](int32_t first, int32_t last) {
    // All reads, then all sums.
    SmallVector<SmallVector<Value>> values;
    for (int32_t s = first; s < last; ++s)
      values.push_back(
          llvm::map_to_vector(sources, [&](const ElementSource &source) {
            return emitSource(source, s);
          }));
    for (int32_t s = first; s < last; ++s) {
      if (s != first)
        endRounds(s);
      SmallVector<Value> arguments(accumulators);
      arguments.append(values[s - first]);
      SmallVector<Value> next = inlineRegion(op.getAccumulate(), arguments);
      if (!isFree && hasPadding(s)) {
        Value bit = arith::AndIOp::create(
            builder, loc, hasElement[s / 32],
            arith::ConstantOp::create(
                builder, loc,
                builder.getI32IntegerAttr(int32_t(1u << (s % 32)))));
        Value has = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne, bit,
            arith::ConstantOp::create(builder, loc,
                                      builder.getI32IntegerAttr(0)));
        for (auto [value, before] : llvm::zip_equal(next, accumulators))
          value = arith::SelectOp::create(builder, loc, has, value, before);
      }
      accumulators.assign(next.begin(), next.end());
    }
  };
  for (int32_t s = 0; s < numSlots;) {
    // Wavefronts that have nothing any more skip the rest.
    int32_t last = numSlots;
    for (ArrayRef<int32_t> own : slots)
      if (own.back() > s)
        last = std::min(last, own.back());
    uint32_t mask =
        wavesWith([&](ArrayRef<int32_t> own) { return own.back() > s; });
    if (s != 0)
      endRounds(s);
    if (mask == allWavefronts()) {
      fold(s, last);
      s = last;
      continue;
    }
    auto all = [&] {
      SmallVector<Value> values(accumulators);
      for (ArrayRef<Value> aside : folded)
        llvm::append_range(values, aside);
      return values;
    };
    auto guard = scf::IfOp::create(builder, loc, TypeRange(ValueRange(all())),
                                   isInWavefronts(mask),
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(guard.elseBlock());
    scf::YieldOp::create(builder, loc, all());
    builder.setInsertionPointToStart(guard.thenBlock());
    fold(s, last);
    scf::YieldOp::create(builder, loc, all());
    ResultRange results = guard.getResults();
    size_t next = 0;
    for (Value &value : accumulators)
      value = results[next++];
    for (SmallVector<Value> &aside : folded)
      for (Value &value : aside)
        value = results[next++];
    s = last;
  }
  if (numSlots != 0)
    endRounds(numSlots);
  folded.back() = accumulators;
  for (auto [r, round] : llvm::enumerate(rounds)) {
    int32_t mostLanes = 1;
    for (const SegmentPart &part : round)
      mostLanes = std::max(mostLanes, part.lanes);
    combinePlaced(op, round, lanes[r], mostLanes, folded[r]);
  }
  barrier();
  for (auto [target, values] : llvm::zip_equal(targets, folded))
    for (auto [home, value] : llvm::zip_equal(results, values))
      store(value, home, target);
  barrier();
  for (auto [result, home] : llvm::zip_equal(op.getResults(), results))
    homes[result] = home;
  return success();
}

void ZoneBody::addZeroPadding(ElementSource &weight, ElementSource &value,
                              ArrayRef<bool> isPadding) {
  Home &home = homes[value.tensor];
  int64_t count = numElements(value.tensor);
  OpBuilder::InsertionGuard guard(builder);
  if (zeroed.insert(value.tensor).second) {
    // Before the first barrier of all.
    builder.setInsertionPointAfter(start);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
    Home at = home;
    if (home.offset)
      at.offset = arith::MulIOp::create(
          builder, loc, zoneInWorkgroup ? zoneInWorkgroup : wave,
          index(roomInLDS(count, threads, home.isOwn)));
    // By the threads that have this copy for themselves, a zero each if they
    // are enough.
    Value writer = home.isOwn && threads > wavefront ? laneInWave : lane;
    int64_t writers = home.isOwn && threads > wavefront ? wavefront : threads;
    for (int64_t first = 0; first < kZerosInLDS; first += writers) {
      Value isWriter;
      if (kZerosInLDS - first < writers)
        isWriter =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  writer, index(kZerosInLDS - first));
      guarded(isWriter, [&] {
        store(
            zero, at,
            arith::AddIOp::create(builder, loc, writer, index(count + first)));
      });
    }
  }
  // A group of lanes is served at a time, each bank for one of them.
  int64_t group = kZerosInLDS;
  SmallVector<int32_t> positions(value.positions);
  for (int64_t first = 0; first < int64_t(positions.size()); first += group) {
    int64_t size = std::min<int64_t>(group, positions.size() - first);
    SmallVector<bool> isTaken(group);
    for (int64_t i = first; i < first + size; ++i)
      if (!isPadding[i])
        isTaken[positions[i] % group] = true;
    int32_t zero = 0;
    while (zero + 1 < group && isTaken[(count + zero) % group])
      ++zero;
    for (int64_t i = first; i < first + size; ++i)
      if (isPadding[i])
        positions[i] = count + zero;
  }
  auto positionType =
      RankedTensorType::get({int64_t(positions.size())}, builder.getI32Type());
  SmallVector<Value> places =
      loadPlaces(DenseElementsAttr::get(positionType, ArrayRef(positions)));
  for (auto [place, at] : llvm::enumerate(places)) {
    moveBeforeLoop(0);
    value.values[place] =
        arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), at);
  }
  moveBeforeLoop(weight.depth);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(-0.0));
  for (size_t place = 0; place < weight.values.size(); ++place) {
    ArrayRef<bool> own = isPadding.slice(place * threads, threads);
    if (!llvm::is_contained(own, true))
      continue;
    SmallVector<int32_t> flags(own.begin(), own.end());
    auto type =
        RankedTensorType::get({int64_t(flags.size())}, builder.getI32Type());
    Value flag =
        loadPlaces(DenseElementsAttr::get(type, ArrayRef(flags))).front();
    Value isNone = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, flag,
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
    weight.values[place] = arith::SelectOp::create(builder, loc, isNone, none,
                                                   weight.values[place]);
  }
}

uint32_t
ZoneBody::wavefrontsWith(const PlacementRound &round,
                         llvm::function_ref<bool(const SegmentPart &)> holds) {
  int64_t size = std::min(threads, wavefront);
  uint32_t mask = 0;
  for (int64_t i = 0; i < threads / size; ++i)
    if (llvm::any_of(ArrayRef<SegmentPart>(round).slice(i * size, size), holds))
      mask |= 1u << i;
  return mask;
}

Value ZoneBody::isInWavefronts(uint32_t mask) {
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(int32_t(value)));
  };
  Value number =
      arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), wave);
  Value bit = arith::AndIOp::create(
      builder, loc,
      arith::ShRUIOp::create(builder, loc, constant(mask), number),
      constant(1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit,
                               constant(0));
}

/// The tree over the lanes of each segment; the last of them has the result.
void ZoneBody::combinePlaced(SegmentedReduceOp op, const PlacementRound &round,
                             Value lanes, int32_t mostLanes,
                             SmallVectorImpl<Value> &accumulators) {
  if (mostLanes == 1)
    return;
  // Lanes of smaller segments go on with what is not theirs; their result is
  // taken from where their tree ended.
  auto combine = [&] {
    SmallVector<std::pair<int64_t, SmallVector<Value>>> ended;
    for (int64_t distance = 1; distance < mostLanes; distance *= 2) {
      if (llvm::any_of(round, [&](const SegmentPart &part) {
            return part.lanes == distance && part.segment >= 0;
          }))
        ended.push_back({distance, SmallVector<Value>(accumulators.begin(),
                                                      accumulators.end())});
      SmallVector<Value> both(accumulators.begin(), accumulators.end());
      for (Value accumulator : accumulators)
        both.push_back(exchange(accumulator, distance));
      SmallVector<Value> combined = inlineRegion(op.getCombine(), both);
      accumulators.assign(combined.begin(), combined.end());
    }
    for (auto &[count, values] : ended) {
      Value isTheirs = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, lanes,
          arith::ConstantOp::create(builder, loc,
                                    builder.getI32IntegerAttr(count)));
      for (auto [value, own] : llvm::zip_equal(accumulators, values))
        value = arith::SelectOp::create(builder, loc, isTheirs, own, value);
    }
  };
  // Segments with many lanes are in the first wavefronts.
  uint32_t mask = wavefrontsWith(
      round, [](const SegmentPart &part) { return part.lanes > 1; });
  if (mask == allWavefronts())
    return combine();
  auto guard =
      scf::IfOp::create(builder, loc, TypeRange(ValueRange(accumulators)),
                        isInWavefronts(mask), /*withElseRegion=*/true);
  SmallVector<Value> before(accumulators.begin(), accumulators.end());
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(guard.thenBlock());
  combine();
  scf::YieldOp::create(builder, loc, accumulators);
  builder.setInsertionPointToStart(guard.elseBlock());
  scf::YieldOp::create(builder, loc, before);
  accumulators.assign(guard.getResults().begin(), guard.getResults().end());
}

LogicalResult ZoneBody::rewriteReduce(SegmentedReduceOp op) {
  bool isSequential = true;
  for (unsigned i = 0; i < op.getNumSegments(); ++i)
    isSequential &= op.getLanesOf(i) == 1;
  Type layout = op.getElements().front().getType();
  if (isPerWavefront(layout) && op.getLanesOf(0) != threadsOf(layout))
    return op.emitOpError("expected ")
           << threadsOf(layout)
           << " lanes for elements that every wavefront has, got "
           << op.getLanesOf(0);
  if (readsSlots(op))
    return reduceAllAcrossThreads(op);
  if (op.getResident())
    return reduceResident(op);
  if (isSequential)
    return reduceSegmentsInLanes(op);
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

Value ZoneBody::uniform(Value condition) {
  if (threads < wavefront)
    return condition;
  Value lanes =
      ROCDL::BallotOp::create(builder, loc, builder.getI64Type(), condition);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, lanes,
                               none);
}

LogicalResult ZoneBody::rewriteControlFlow(Operation *op) {
  FailureOr<SmallVector<Value>> operands = expand(op, op->getOperands());
  if (failed(operands))
    return failure();
  if (isa<scf::IfOp>(op))
    operands->front() = uniform(operands->front());
  OperationState state(op->getLoc(), op->getName(), *operands,
                       expand(op->getResultTypes()), op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *branches = builder.create(state);
  bool isLoop = isa<LoopLikeOpInterface>(op);
  if (isLoop)
    loops.push_back(branches);
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
  if (isLoop)
    loops.pop_back();
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
          mapping.map(
              op.getResult(),
              memref::LoadOp::create(builder, loc, memory, zone).getResult());
          return success();
        }
        Home home;
        for (int64_t slot = 0; slot < numSlots(op.getResult()); ++slot) {
          SmallVector<Value> at = {
              elementOfSlot(slot, op.getResult().getType()), zone};
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
          auto one = RankedTensorType::get({1}, builder.getI1Type());
          guarded(isElement(0, one), [&] {
            memref::StoreOp::create(builder, loc, mapping.lookup(op.getValue()),
                                    memory, zone);
          });
          return success();
        }
        Type layout = op.getValue().getType();
        for (int64_t slot = 0; slot < numSlots(layout); ++slot) {
          Value value = slotValue(op, op.getValue(), slot);
          if (!value)
            return failure();
          guarded(isOwnElement(slot, layout), [&] {
            SmallVector<Value> at = {elementOfSlot(slot, layout), zone};
            if (type.isDynamicDim(0))
              std::swap(at[0], at[1]);
            memref::StoreOp::create(builder, loc, value, memory, at);
          });
        }
        return success();
      })
      .Case([&](StageOp op) { return rewriteStage(op); })
      .Case([&](ReplicateOp op) -> LogicalResult {
        auto source = homes.find(op.getSource());
        if (source == homes.end() ||
            (!source->second.memory && !source->second.uniform)) {
          InFlightDiagnostic diagnostic =
              op.emitOpError("expected a source that all threads can read; "
                             "stage it in lds or global");
          diagnostic.attachNote(op.getSource().getLoc())
              << "the source is defined here";
          return diagnostic;
        }
        Home home = source->second;
        homes[op.getResult()] = std::move(home);
        return success();
      })
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
      .Case([&](tensor::ExtractSliceOp op) -> LogicalResult {
        std::optional<int64_t> first = firstOfSlice(op);
        auto source = homes.find(op.getSource());
        if (!first || source == homes.end() || !source->second.memory)
          return op.emitError("expected neighbouring elements, at a constant "
                              "place, of a tensor that all threads can read");
        Home home = source->second;
        home.hasRoomForZeros = false;
        home.depth = loops.size();
        if (*first != 0) {
          Value place = index(*first);
          home.offset = home.offset ? arith::AddIOp::create(builder, loc,
                                                            home.offset, place)
                                    : place;
        }
        homes[op.getResult()] = std::move(home);
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
            if (isa<scf::ConditionOp>(op))
              operands->front() = uniform(operands->front());
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
  return ZoneBody(workgroup, module, kernel, workspaces, target)
      .distribute(std::move(known));
}
