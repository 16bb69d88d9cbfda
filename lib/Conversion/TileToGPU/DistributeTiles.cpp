//===- DistributeTiles.cpp - Tiles over wavefronts and lanes --------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace wavesmith {
#define GEN_PASS_DEF_DISTRIBUTETILESPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

using Entry = LayoutAttr::Entry;

/// Bytes that one lane moves with one instruction at most.
static constexpr int64_t kMaxAccessBytes = 16;
/// The last word of a raw buffer's descriptor on gfx9: 32-bit data, the same
/// as upstream's amdgpu.raw_buffer_load sets.
static constexpr int64_t kBufferFlags = 0x27000;
/// An offset outside of every buffer: tiles span less than 2^31 bytes.
static constexpr int64_t kOutsideOffset = int64_t(1) << 31;
/// LLVM's address spaces of global memory and of buffer descriptors.
static constexpr unsigned kGlobalAddressSpace = 1;
static constexpr unsigned kBufferAddressSpace = 8;

namespace {

/// Whether packed f32 instructions stand in the way of matrix instructions: on
/// gfx942 they wait for the last pass of the one before (Timing).
bool avoidsPackedF32(const TargetInfo *target) {
  return target && target->architecture == "gfx942";
}

/// A place in a lane's registers: an element of a fragment.
struct Place {
  int64_t fragment;
  int64_t element;
};

/// Elements of a tile that lie side by side in memory, in one lane.
struct Access {
  int64_t fragment;
  /// Which elements of the fragment, in the order of memory.
  SmallVector<int64_t> elements;
  /// The position in the tile of the first, in lane 0 of wavefront 0.
  SmallVector<int64_t> position;
};

/// How a tile of one type lies in a lane.
class TileShape {
public:
  explicit TileShape(RankedTensorType type)
      : type(type), layout(cast<LayoutAttr>(type.getEncoding())),
        extents(layout.getExtents()) {
    for (auto [size, extent] : llvm::zip_equal(type.getShape(), extents))
      repeats.push_back(size / extent);
  }

  LayoutAttr getLayout() const { return layout; }
  int64_t getRank() const { return type.getRank(); }
  int64_t getNumFragments() const {
    int64_t count = 1;
    for (int64_t repeat : repeats)
      count *= repeat;
    return count;
  }
  VectorType getFragmentType() const {
    return VectorType::get({layout.getFragmentSize()}, type.getElementType());
  }
  /// The position of a register in lane 0 of wavefront 0.
  SmallVector<int64_t> getPosition(Place place) const {
    SmallVector<int64_t> position(getRank());
    int64_t rest = place.fragment;
    for (int64_t d = getRank() - 1; d >= 0; --d) {
      position[d] = rest % repeats[d] * extents[d];
      rest /= repeats[d];
    }
    for (auto [bit, entry] : llvm::enumerate(layout.getRegisterEntries()))
      if (place.element >> bit & 1)
        position[entry.dimension] += entry.step;
    return position;
  }
  /// The register that holds a position in lane 0 of wavefront 0, which must
  /// hold it.
  Place getPlace(ArrayRef<int64_t> position) const {
    Place place{0, 0};
    for (int64_t d = 0; d < getRank(); ++d)
      place.fragment = place.fragment * repeats[d] + position[d] / extents[d];
    for (auto [bit, entry] : llvm::enumerate(layout.getRegisterEntries()))
      if (position[entry.dimension] % extents[entry.dimension] & entry.step)
        place.element |= int64_t(1) << bit;
    return place;
  }
  /// Splits the tile into accesses of up to `width` neighbours along
  /// `contiguous`; none are neighbours if that is negative.
  SmallVector<Access> getAccesses(int64_t contiguous, int64_t width) const {
    SmallVector<Entry> entries = layout.getRegisterEntries();
    SmallVector<size_t> side; // register bits of neighbours
    for (int64_t step = 1; step < width; step *= 2) {
      auto *found = llvm::find(entries, Entry{contiguous, step});
      if (found == entries.end())
        break;
      side.push_back(found - entries.begin());
    }
    SmallVector<Access> accesses;
    for (int64_t fragment = 0; fragment < getNumFragments(); ++fragment)
      for (int64_t first = 0; first < layout.getFragmentSize(); ++first) {
        if (llvm::any_of(side, [&](size_t bit) { return first >> bit & 1; }))
          continue;
        Access access{fragment, {}, getPosition({fragment, first})};
        for (int64_t i = 0; i < int64_t(1) << side.size(); ++i) {
          int64_t element = first;
          for (auto [order, bit] : llvm::enumerate(side))
            element |= (i >> order & 1) << bit;
          access.elements.push_back(element);
        }
        accesses.push_back(std::move(access));
      }
    return accesses;
  }

private:
  RankedTensorType type;
  LayoutAttr layout;
  SmallVector<int64_t> extents, repeats;
};

/// Memory as offset, sizes and strides from a kernel argument.
struct MemoryView {
  Value base;
  OpFoldResult offset;
  SmallVector<OpFoldResult> sizes, strides;
};

/// Rewrites the body of one workgroup for one lane.
class LaneBody {
public:
  LaneBody(gpu::GPUFuncOp kernel, const TargetInfo *target)
      : kernel(kernel), builder(kernel.getContext()), target(target) {}

  LogicalResult distribute(GridWorkgroupOp workgroup, IRMapping known);

private:
  LogicalResult rewrite(Block &block);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteElementwise(Operation *op);
  LogicalResult rewriteLoop(scf::ForOp op);
  LogicalResult rewriteIf(scf::IfOp op);
  LogicalResult rewriteLoad(LoadTileOp op);
  LogicalResult rewriteStore(StoreTileOp op);
  LogicalResult rewriteGather(GatherTileOp op);
  LogicalResult rewriteScalarLoad(memref::LoadOp op);
  LogicalResult rewriteStage(StageTileOp op);
  LogicalResult rewriteRead(ReadTileOp op);
  LogicalResult rewriteDot(DotOp op);
  LogicalResult rewriteReduce(ReduceTileOp op);
  void rewriteAny(AnyTileOp op);
  /// Rounds f32 to bf16 in few instructions; NaN becomes any number.
  Value roundToF8(Value fragment, VectorType type);
  /// An operation of the math dialect on scalars. What is a call of a function
  /// is computed in f64, for which there are functions.
  Value createMath(Operation *op, ArrayRef<Value> operands, Type type);
  Value roundToBF16(Value fragment, VectorType type, bool truncates);
  /// One operation on scalars for each element of the operands.
  Value elementByElement(Operation *op, ArrayRef<Value> operands,
                         VectorType type);
  void rewriteBroadcast(BroadcastTileOp op);
  void rewritePosition(TilePositionOp op);
  /// Compares a position: the lane's part goes to the other side, so that no
  /// register has to hold each position. Not for unsigned comparisons.
  Value comparePosition(arith::CmpIOp op, TilePositionOp position,
                        int64_t fragment, Value other);

  /// A tile in registers, as opposed to a scalar or one in LDS.
  static bool isTile(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa_and_nonnull<LayoutAttr>(tensor.getEncoding());
  }
  /// A tile in LDS.
  static bool isStaged(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa_and_nonnull<LdsLayoutAttr>(tensor.getEncoding());
  }
  /// Checks that the values of `op` are scalars and tiles.
  LogicalResult checkTypes(Operation *op);

  // Arithmetic on i32 and i64, with constants folded by LLVM.
  Value number(int64_t value, unsigned bits = 32) {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value exclusiveOr(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  /// An index as an integer of 64 bits.
  Value asInteger(OpFoldResult value);

  /// Where this lane's part of a tile begins along a dimension (i32).
  Value lanePosition(LayoutAttr layout, int64_t dimension);
  /// Whether this lane is the one that stores what several lanes hold; null if
  /// all are.
  Value isFirstHolder(LayoutAttr layout);

  Value extract(Value vector, int64_t element) {
    if (auto elements = vector.getDefiningOp<vector::FromElementsOp>())
      return elements.getElements()[element];
    return vector::ExtractOp::create(builder, loc, vector, element);
  }
  /// Some elements of a fragment as a vector.
  Value takeElements(Value fragment, ArrayRef<int64_t> elements);
  /// Fragments made of the elements that accesses brought.
  SmallVector<Value> assemble(const TileShape &shape, ArrayRef<Access> accesses,
                              ArrayRef<Value> vectors);
  /// A fragment made of scalars.
  Value fromElements(VectorType type, ArrayRef<Value> elements) {
    return vector::FromElementsOp::create(builder, loc, type, elements);
  }

  FailureOr<MemoryView> resolve(Operation *op, Value memory);
  /// An element of a kernel argument of rank 1, at a 64-bit index.
  FailureOr<Value> loadElement(Operation *op, Value memory, Value index);
  /// A buffer that begins where the tile does and ends with the memory's last
  /// element in it, and for each access its offset in bytes.
  struct Transfer {
    Value buffer;
    SmallVector<Access> accesses;
    SmallVector<Value> offsets;
  };
  FailureOr<Transfer> prepareTransfer(Operation *op, Value memory,
                                      RankedTensorType type, ValueRange offsets,
                                      int64_t vector, bool isStore);
  /// The accesses to a tile in LDS with their index and common alignment.
  struct LdsTransfer {
    SmallVector<Access> accesses;
    SmallVector<Value> indices;
    int64_t alignment;
  };
  LdsTransfer prepareLds(RankedTensorType type, RankedTensorType staged);
  /// Memory for a staged tile: what a region that is over has left, or new.
  FailureOr<Value> takeLds(StageTileOp op, MemRefType type);

  /// What one operation does with memory in LDS; it is kept under the first of
  /// the instructions that do it.
  struct LdsEvent {
    Value memory;
    bool isWrite;
    Operation *tileOp;
  };
  /// Whether others may still have to read or write memory before the next
  /// barrier.
  struct LdsState {
    llvm::SmallSetVector<Value, 4> read, written;
    /// Whether there was anything to add.
    bool join(const LdsState &other) {
      size_t before = read.size() + written.size();
      read.insert_range(other.read);
      written.insert_range(other.written);
      return read.size() + written.size() != before;
    }
  };
  /// Notes before which events a barrier has to stand, by what may have
  /// happened before a block and behind it.
  LogicalResult findBarriers(Block &block, LdsState &state, bool isDivergent);
  /// Places the barriers.
  LogicalResult placeBarriers();

  gpu::GPUFuncOp kernel;
  OpBuilder builder;
  const TargetInfo *target;
  llvm::MapVector<Operation *, LdsEvent> ldsEvents;
  llvm::SetVector<Operation *> barriers;
  /// Conditions that only a wavefront agrees on.
  llvm::DenseSet<Value> wavefrontConditions;
  Location loc = UnknownLoc::get(kernel.getContext());
  /// The lane of the wavefront, and the wavefront, which all lanes share (i32).
  Value lane, wave;
  int64_t ldsBytes = 0;
  /// Memory of tiles staged so far in the regions around, and what inner
  /// regions that are over have left: nothing outside of them sees their tiles.
  SmallVector<Value> usedLds, freeLds;
  IRMapping mapping;
  llvm::DenseMap<Value, SmallVector<Value>> tiles;
  llvm::DenseMap<Value, Value> staged;
};

class DistributeTilesPass
    : public wavesmith::impl::DistributeTilesPassBase<DistributeTilesPass> {
public:
  void runOnOperation() override;

private:
  LogicalResult distribute(func::FuncOp function, gpu::GPUModuleOp module);
};

} // namespace

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

Value LaneBody::asInteger(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return number(*constant, 64);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    mapping.lookup(cast<Value>(value)));
}

/// Adds up what the set bits of `bits` lead to along a dimension. Neighbouring
/// bits with neighbouring steps are one mask and one shift.
static Value sumOfEntries(OpBuilder &builder, Location loc, Value bits,
                          ArrayRef<Entry> entries, int64_t dimension) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value sum;
  for (size_t bit = 0; bit < entries.size(); ++bit) {
    if (entries[bit].step == 0 || entries[bit].dimension != dimension)
      continue;
    size_t count = 1;
    while (bit + count < entries.size() &&
           entries[bit + count] == Entry{dimension, entries[bit].step << count})
      ++count;
    Value part = arith::AndIOp::create(
        builder, loc, bits, number(((int64_t(1) << count) - 1) << bit));
    int64_t shift = int64_t(llvm::Log2_64(entries[bit].step)) - int64_t(bit);
    if (shift > 0)
      part = arith::ShLIOp::create(builder, loc, part, number(shift));
    else if (shift < 0)
      part = arith::ShRUIOp::create(builder, loc, part, number(-shift));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, part) : part;
    bit += count - 1;
  }
  return sum ? sum : number(0);
}

Value LaneBody::lanePosition(LayoutAttr layout, int64_t dimension) {
  return add(
      sumOfEntries(builder, loc, lane, layout.getLaneEntries(), dimension),
      sumOfEntries(builder, loc, wave, layout.getWaveEntries(), dimension));
}

Value LaneBody::isFirstHolder(LayoutAttr layout) {
  auto mask = [](ArrayRef<Entry> entries) {
    int64_t mask = 0;
    for (auto [bit, entry] : llvm::enumerate(entries))
      if (entry.step == 0)
        mask |= int64_t(1) << bit;
    return mask;
  };
  Value both;
  for (auto [value, bits] : {std::pair(lane, mask(layout.getLaneEntries())),
                             std::pair(wave, mask(layout.getWaveEntries()))}) {
    if (bits == 0)
      continue;
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(builder, loc, value, number(bits)), number(0));
    both = both ? arith::AndIOp::create(builder, loc, both, isFirst).getResult()
                : isFirst;
  }
  return both;
}

Value LaneBody::takeElements(Value fragment, ArrayRef<int64_t> elements) {
  int64_t size = cast<VectorType>(fragment.getType()).getDimSize(0);
  if (int64_t(elements.size()) == size &&
      llvm::equal(elements, llvm::seq<int64_t>(0, size)))
    return fragment;
  return vector::ShuffleOp::create(builder, loc, fragment, fragment, elements);
}

SmallVector<Value> LaneBody::assemble(const TileShape &shape,
                                      ArrayRef<Access> accesses,
                                      ArrayRef<Value> vectors) {
  VectorType type = shape.getFragmentType();
  SmallVector<Value> fragments(shape.getNumFragments());
  SmallVector<SmallVector<Value>> scalars(shape.getNumFragments());
  for (auto [access, vector] : llvm::zip_equal(accesses, vectors)) {
    if (vector.getType() == type &&
        llvm::equal(access.elements,
                    llvm::seq<int64_t>(0, type.getDimSize(0)))) {
      fragments[access.fragment] = vector;
      continue;
    }
    auto &elements = scalars[access.fragment];
    elements.resize(type.getDimSize(0));
    for (auto [order, element] : llvm::enumerate(access.elements))
      elements[element] = extract(vector, order);
  }
  for (auto [fragment, elements] : llvm::zip_equal(fragments, scalars))
    if (!fragment)
      fragment = fromElements(type, elements);
  return fragments;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FailureOr<MemoryView> LaneBody::resolve(Operation *op, Value memory) {
  MemoryView view;
  if (auto cast = memory.getDefiningOp<memref::ReinterpretCastOp>()) {
    view.base = cast.getSource();
    view.offset = cast.getMixedOffsets()[0];
    view.sizes = cast.getMixedSizes();
    view.strides = cast.getMixedStrides();
    // What the type knows, the operation may not.
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = mlir::cast<MemRefType>(memory.getType());
    if (succeeded(type.getStridesAndOffset(strides, offset)))
      for (auto [d, stride] : llvm::enumerate(strides)) {
        if (!ShapedType::isDynamic(stride))
          view.strides[d] = builder.getIndexAttr(stride);
        if (!type.isDynamicDim(d))
          view.sizes[d] = builder.getIndexAttr(type.getDimSize(d));
      }
  } else {
    view.base = memory;
    auto type = mlir::cast<MemRefType>(memory.getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!type.hasStaticShape() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return op->emitError("expected a memref.reinterpret_cast of a kernel "
                           "argument, or one of fixed shape, got ")
             << type;
    view.offset = builder.getIndexAttr(offset);
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
      view.sizes.push_back(builder.getIndexAttr(size));
      view.strides.push_back(builder.getIndexAttr(stride));
    }
  }
  auto argument = dyn_cast<BlockArgument>(view.base);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return op->emitError("expected memory that is a kernel argument or a "
                         "memref.reinterpret_cast of one");
  return view;
}

FailureOr<LaneBody::Transfer>
LaneBody::prepareTransfer(Operation *op, Value memory, RankedTensorType type,
                          ValueRange offsets, int64_t vector, bool isStore) {
  FailureOr<MemoryView> view = resolve(op, memory);
  if (failed(view))
    return failure();
  TileShape shape(type);
  int64_t rank = shape.getRank();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t contiguous = -1;
  for (int64_t d = 0; d < rank; ++d)
    if (getConstantIntValue(view->strides[d]) == 1)
      contiguous = d;

  Value zero = number(0, 64);
  // What is left of the memory from the tile on; nothing may be less.
  Value start = asInteger(view->offset);
  SmallVector<Value> strides, inside;
  SmallVector<bool> isInside;
  Value isEmpty;
  Value last = zero;
  for (int64_t d = 0; d < rank; ++d) {
    Value stride = asInteger(view->strides[d]);
    Value offset = asInteger(offsets[d]);
    start = add(start, multiply(offset, stride));
    std::optional<int64_t> size = getConstantIntValue(view->sizes[d]);
    std::optional<int64_t> at = getConstantIntValue(offsets[d]);
    isInside.push_back(size && at && *at >= 0 &&
                       *at + type.getDimSize(d) <= *size);
    Value count;
    if (isInside.back()) {
      count = number(type.getDimSize(d), 64);
    } else {
      Value rest = arith::SubIOp::create(builder, loc,
                                         asInteger(view->sizes[d]), offset);
      rest = arith::MaxSIOp::create(builder, loc, rest, zero);
      count = arith::MinSIOp::create(builder, loc, rest,
                                     number(type.getDimSize(d), 64));
      Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         count, zero);
      isEmpty =
          isEmpty
              ? arith::OrIOp::create(builder, loc, isEmpty, none).getResult()
              : none;
    }
    last = add(last, multiply(add(count, number(-1, 64)), stride));
    strides.push_back(
        arith::TruncIOp::create(builder, loc, builder.getI32Type(), stride));
    inside.push_back(
        arith::TruncIOp::create(builder, loc, builder.getI32Type(), count));
  }
  Value records = multiply(add(last, number(1, 64)), number(bytes, 64));
  if (isEmpty)
    records = arith::SelectOp::create(builder, loc, isEmpty, zero, records);

  Value address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 memref::ExtractAlignedPointerAsIndexOp::create(
                                     builder, loc, mapping.lookup(view->base)));
  address = add(address, multiply(start, number(bytes, 64)));
  MLIRContext *context = builder.getContext();
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(context, kGlobalAddressSpace),
      address);
  Transfer transfer;
  transfer.buffer = ROCDL::MakeBufferRsrcOp::create(
      builder, loc, LLVM::LLVMPointerType::get(context, kBufferAddressSpace),
      pointer, number(0, 16), records, number(kBufferFlags));

  // The buffer's end cuts off what lies past the last row: rows do not overlap.
  // Along the rows, every lane has to look. Without a dimension of stride 1
  // nobody knows which is which.
  SmallVector<bool> mustCheck;
  for (int64_t d = 0; d < rank; ++d)
    mustCheck.push_back(!isInside[d] && rank > 1 &&
                        (contiguous == -1 || d == contiguous));
  SmallVector<Value> positions;
  Value laneOffset = number(0);
  for (int64_t d = 0; d < rank; ++d) {
    positions.push_back(lanePosition(shape.getLayout(), d));
    laneOffset = add(laneOffset, multiply(positions[d], strides[d]));
  }
  laneOffset = multiply(laneOffset, number(bytes));
  Value isHolder = isStore ? isFirstHolder(shape.getLayout()) : Value();
  transfer.accesses = shape.getAccesses(
      contiguous,
      contiguous == -1 ? 1 : std::min(vector, kMaxAccessBytes / bytes));
  for (const Access &access : transfer.accesses) {
    Value distance = number(0);
    Value isValid = isHolder;
    for (int64_t d = 0; d < rank; ++d) {
      distance =
          add(distance, multiply(number(access.position[d]), strides[d]));
      if (!mustCheck[d])
        continue;
      Value here = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult,
          add(positions[d], number(access.position[d])), inside[d]);
      isValid =
          isValid
              ? arith::AndIOp::create(builder, loc, isValid, here).getResult()
              : here;
    }
    Value offset = add(laneOffset, multiply(distance, number(bytes)));
    if (isValid)
      offset = arith::SelectOp::create(builder, loc, isValid, offset,
                                       number(int32_t(kOutsideOffset)));
    transfer.offsets.push_back(offset);
  }
  return transfer;
}

/// The type in which a buffer instruction moves as many bytes.
static Type getBufferType(OpBuilder &builder, int64_t bytes) {
  if (bytes <= 4)
    return builder.getIntegerType(bytes * 8);
  return VectorType::get({bytes / 4}, builder.getI32Type());
}

LogicalResult LaneBody::rewriteLoad(LoadTileOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto transfer = prepareTransfer(op, op.getSource(), type, op.getOffsets(),
                                  op.getVector(), /*isStore=*/false);
  if (failed(transfer))
    return failure();
  TileShape shape(type);
  Type element = type.getElementType();
  SmallVector<Value> vectors;
  for (auto [access, offset] :
       llvm::zip_equal(transfer->accesses, transfer->offsets)) {
    auto wanted = VectorType::get({int64_t(access.elements.size())}, element);
    int64_t bytes =
        wanted.getNumElements() * element.getIntOrFloatBitWidth() / 8;
    Type raw = getBufferType(builder, bytes);
    Value value = ROCDL::RawPtrBufferLoadOp::create(
        builder, loc, raw, transfer->buffer, offset, number(0), number(0),
        /*alias_scopes=*/nullptr, /*noalias_scopes=*/nullptr,
        /*tbaa=*/nullptr);
    if (!isa<VectorType>(raw))
      value = vector::BroadcastOp::create(builder, loc,
                                          VectorType::get({1}, raw), value);
    if (value.getType() != wanted)
      value = vector::BitCastOp::create(builder, loc, wanted, value);
    vectors.push_back(value);
  }
  tiles[op.getResult()] = assemble(shape, transfer->accesses, vectors);
  return success();
}

FailureOr<Value> LaneBody::loadElement(Operation *op, Value memory,
                                       Value index) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto type = cast<MemRefType>(memory.getType());
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()) ||
      type.getRank() != 1 || !type.getLayout().isIdentity())
    return op->emitError("expected memory that is a kernel argument of rank 1, "
                         "got ")
           << type;
  Type element = type.getElementType();
  Value address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 memref::ExtractAlignedPointerAsIndexOp::create(
                                     builder, loc, mapping.lookup(memory)));
  int64_t bits = element.getIntOrFloatBitWidth();
  address = add(address, multiply(index, number(bits / 8, 64)));
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), kGlobalAddressSpace),
      address);
  Type raw = builder.getIntegerType(bits);
  Value value =
      LLVM::LoadOp::create(builder, loc, raw, pointer, /*alignment=*/bits / 8);
  if (raw != element)
    value = arith::BitcastOp::create(builder, loc, element, value);
  return value;
}

LogicalResult LaneBody::rewriteGather(GatherTileOp op) {
  TileShape shape(cast<RankedTensorType>(op.getResult().getType()));
  VectorType type = shape.getFragmentType();
  SmallVector<Value> fragments;
  for (Value indices : SmallVector<Value>(tiles[op.getIndices()])) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      FailureOr<Value> element =
          loadElement(op, op.getSource(), extract(indices, i));
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    fragments.push_back(fromElements(type, elements));
  }
  tiles[op.getResult()] = fragments;
  return success();
}

LogicalResult LaneBody::rewriteScalarLoad(memref::LoadOp op) {
  if (op.getIndices().size() != 1)
    return op.emitError("expected memory of rank 1, got ")
           << op.getMemRefType();
  FailureOr<Value> value =
      loadElement(op, op.getMemRef(), asInteger(op.getIndices()[0]));
  if (failed(value))
    return failure();
  mapping.map(op.getResult(), *value);
  return success();
}

LogicalResult LaneBody::rewriteStore(StoreTileOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  auto transfer = prepareTransfer(op, op.getTarget(), type, op.getOffsets(),
                                  op.getVector(), /*isStore=*/true);
  if (failed(transfer))
    return failure();
  Type element = type.getElementType();
  ArrayRef<Value> fragments = tiles[op.getValue()];
  for (auto [access, offset] :
       llvm::zip_equal(transfer->accesses, transfer->offsets)) {
    Value value = takeElements(fragments[access.fragment], access.elements);
    int64_t bytes =
        access.elements.size() * element.getIntOrFloatBitWidth() / 8;
    Type raw = getBufferType(builder, bytes);
    auto rawVector = dyn_cast<VectorType>(raw);
    if (!rawVector)
      rawVector = VectorType::get({1}, raw);
    if (value.getType() != rawVector)
      value = vector::BitCastOp::create(builder, loc, rawVector, value);
    if (!isa<VectorType>(raw))
      value = extract(value, 0);
    ROCDL::RawPtrBufferStoreOp::create(builder, loc, value, transfer->buffer,
                                       offset, number(0), number(0), nullptr,
                                       nullptr, nullptr);
  }
  return success();
}

LaneBody::LdsTransfer LaneBody::prepareLds(RankedTensorType type,
                                           RankedTensorType stagedType) {
  TileShape shape(type);
  auto lds = cast<LdsLayoutAttr>(stagedType.getEncoding());
  int64_t contiguous = lds.getContiguous();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t pitch = type.getDimSize(contiguous) + lds.getPadding();
  int64_t width = kMaxAccessBytes / bytes;
  while (pitch % width != 0)
    width /= 2;
  LdsTransfer transfer;
  transfer.accesses = shape.getAccesses(contiguous, width);
  transfer.alignment = transfer.accesses.front().elements.size() * bytes;
  auto step = [&](int64_t d) { return d == contiguous ? 1 : pitch; };
  // Positions of lanes and of registers have no bit in common, so that what is
  // flipped in the number of a group is the same apart from each other.
  ArrayRef<int64_t> swizzle = lds.getSwizzle();
  int64_t group = kMaxAccessBytes / bytes;
  int64_t mask =
      swizzle.empty() ? 0 : ((int64_t(1) << swizzle.size()) - 1) * group;
  Value laneIndex = number(0), laneGroup = number(0);
  for (int64_t d = 0; d < shape.getRank(); ++d) {
    Value position = lanePosition(shape.getLayout(), d);
    if (mask != 0 && d == contiguous) {
      laneGroup =
          exclusiveOr(laneGroup, arith::AndIOp::create(builder, loc, position,
                                                       number(mask)));
      position = arith::AndIOp::create(builder, loc, position, number(~mask));
    } else {
      for (auto [bit, rows] : llvm::enumerate(swizzle))
        for (int64_t row = 1; row <= rows; row *= 2)
          if (rows & row) {
            Value flips =
                arith::AndIOp::create(builder, loc, position, number(row));
            int64_t shift = llvm::Log2_64(group) + bit - llvm::Log2_64(row);
            laneGroup = exclusiveOr(
                laneGroup,
                shift >= 0
                    ? arith::ShLIOp::create(builder, loc, flips, number(shift))
                          .getResult()
                    : arith::ShRUIOp::create(builder, loc, flips,
                                             number(-shift))
                          .getResult());
          }
    }
    laneIndex = add(laneIndex, multiply(position, number(step(d))));
  }
  llvm::DenseMap<int64_t, Value> indices;
  for (const Access &access : transfer.accesses) {
    int64_t distance = 0, flipped = 0;
    for (int64_t d = 0; d < shape.getRank(); ++d) {
      int64_t position = access.position[d];
      if (mask != 0 && d == contiguous) {
        flipped ^= position & mask;
        position &= ~mask;
      } else {
        for (auto [bit, rows] : llvm::enumerate(swizzle))
          if (llvm::popcount(uint64_t(position & rows)) % 2)
            flipped ^= group << bit;
      }
      distance += position * step(d);
    }
    Value &index = indices[flipped];
    if (!index)
      index = arith::IndexCastUIOp::create(
          builder, loc, builder.getIndexType(),
          add(laneIndex, exclusiveOr(laneGroup, number(flipped))));
    transfer.indices.push_back(
        add(index, arith::ConstantIndexOp::create(builder, loc, distance)));
  }
  return transfer;
}

FailureOr<Value> LaneBody::takeLds(StageTileOp op, MemRefType type) {
  auto *known = llvm::find_if(
      freeLds, [&](Value memory) { return memory.getType() == type; });
  Value memory;
  if (known != freeLds.end()) {
    memory = *known;
    freeLds.erase(known);
  } else {
    ldsBytes +=
        llvm::alignTo(type.getNumElements() * type.getElementTypeBitWidth() / 8,
                      kMaxAccessBytes);
    if (target && ldsBytes > int64_t(target->ldsBytes))
      return op.emitError("the workgroup's staged tiles need ")
             << ldsBytes << " bytes of LDS with this one; "
             << target->architecture << " has " << target->ldsBytes;
    memory = kernel.addWorkgroupAttribution(type, loc);
    kernel.setWorkgroupAttributionAttr(
        kernel.getNumWorkgroupAttributions() - 1,
        LLVM::LLVMDialect::getAlignAttrName(),
        builder.getI64IntegerAttr(kMaxAccessBytes));
  }
  usedLds.push_back(memory);
  return memory;
}

LogicalResult LaneBody::rewriteStage(StageTileOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  auto stagedType = cast<RankedTensorType>(op.getResult().getType());
  auto layout = cast<LayoutAttr>(type.getEncoding());
  if (isFirstHolder(layout))
    return op.emitError("cannot stage a tile that several lanes hold: ")
           << type;
  auto lds = cast<LdsLayoutAttr>(stagedType.getEncoding());
  int64_t rows = type.getNumElements() / type.getDimSize(lds.getContiguous());
  int64_t elements =
      rows * (type.getDimSize(lds.getContiguous()) + lds.getPadding());
  auto memoryType = MemRefType::get(
      {elements}, type.getElementType(), MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::AddressSpace::Workgroup));
  Value memory;
  if (op.getInto()) {
    memory = staged.lookup(op.getInto());
    if (!memory)
      return op->emitError("expected the result of a wavesmith.stage_tile");
  } else {
    FailureOr<Value> taken = takeLds(op, memoryType);
    if (failed(taken))
      return failure();
    memory = *taken;
  }
  staged[op.getResult()] = memory;
  LdsTransfer transfer = prepareLds(type, stagedType);
  ArrayRef<Value> fragments = tiles[op.getSource()];
  Operation *first = nullptr;
  for (auto [access, index] :
       llvm::zip_equal(transfer.accesses, transfer.indices)) {
    Value elements = takeElements(fragments[access.fragment], access.elements);
    auto store = vector::StoreOp::create(builder, loc, elements, memory, index,
                                         /*nontemporal=*/false,
                                         llvm::MaybeAlign(transfer.alignment));
    if (!first)
      first = store;
  }
  ldsEvents[first] = {memory, /*isWrite=*/true, op};
  return success();
}

LogicalResult LaneBody::rewriteRead(ReadTileOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Value memory = staged.lookup(op.getSource());
  if (!memory)
    return op.emitError("expected the result of a wavesmith.stage_tile");
  LdsTransfer transfer =
      prepareLds(type, cast<RankedTensorType>(op.getSource().getType()));
  SmallVector<Value> vectors;
  for (auto [access, index] :
       llvm::zip_equal(transfer.accesses, transfer.indices))
    vectors.push_back(vector::LoadOp::create(
        builder, loc,
        VectorType::get({int64_t(access.elements.size())},
                        type.getElementType()),
        memory, index, /*nontemporal=*/false,
        llvm::MaybeAlign(transfer.alignment)));
  ldsEvents[vectors.front().getDefiningOp()] = {memory, /*isWrite=*/false, op};
  tiles[op.getResult()] = assemble(TileShape(type), transfer.accesses, vectors);
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult LaneBody::findBarriers(Block &block, LdsState &state,
                                     bool isDivergent) {
  for (Operation &op : block) {
    if (auto *found = ldsEvents.find(&op); found != ldsEvents.end()) {
      auto [memory, isWrite, tileOp] = found->second;
      if (isDivergent)
        return tileOp->emitError("not supported under a condition that only a "
                                 "wavefront agrees on");
      // The lanes' stores of one tile go to places of their own.
      if (state.written.contains(memory) ||
          (isWrite && state.read.contains(memory)))
        barriers.insert(&op);
      if (barriers.contains(&op))
        state = {};
      (isWrite ? state.written : state.read).insert(memory);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (barriers.contains(&op))
        state = {};
      // Around once more for what an iteration leaves to the next.
      auto goAround = [&](LdsState around) -> FailureOr<LdsState> {
        do {
          LdsState behind = around;
          if (failed(findBarriers(*loop.getBody(), behind, isDivergent)))
            return failure();
          if (!around.join(behind))
            return around;
        } while (true);
      };
      FailureOr<LdsState> around = goAround({});
      if (failed(around))
        return failure();
      // A barrier that only the first iteration needs stands before the loop.
      size_t needed = barriers.size();
      llvm::SetVector<Operation *> inside = barriers;
      FailureOr<LdsState> fromOutside = goAround(state);
      if (failed(fromOutside))
        return failure();
      if (barriers.size() > needed) {
        barriers = std::move(inside);
        barriers.insert(&op);
        fromOutside = around;
      }
      // The loop may have no iteration at all: what was before it still holds,
      // if no barrier is there.
      state = *fromOutside;
    } else if (auto branches = dyn_cast<scf::IfOp>(op)) {
      LdsState joined = state;
      for (Region &region : op.getRegions()) {
        if (region.empty())
          continue;
        LdsState behind = state;
        if (failed(findBarriers(region.front(), behind,
                                isDivergent || wavefrontConditions.contains(
                                                   branches.getCondition()))))
          return failure();
        joined.join(behind);
      }
      state = joined;
    }
  }
  return success();
}

LogicalResult LaneBody::placeBarriers() {
  LdsState state;
  if (failed(findBarriers(kernel.getBody().front(), state,
                          /*isDivergent=*/false)))
    return failure();
  for (Operation *op : barriers) {
    builder.setInsertionPoint(op);
    amdgpu::LDSBarrierOp::create(builder, op->getLoc());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

LogicalResult LaneBody::rewriteDot(DotOp op) {
  auto aType = cast<RankedTensorType>(op.getLhs().getType());
  auto bType = cast<RankedTensorType>(op.getRhs().getType());
  auto dType = cast<RankedTensorType>(op.getAccumulator().getType());
  if (isa<Float8E4M3FNUZType>(aType.getElementType()) && target &&
      target->matrixF8FlopsPerClockPerCU == 0)
    return op.emitError(target->architecture)
           << " has no matrix instruction for " << aType.getElementType();
  TileShape aShape(aType), bShape(bType), dShape(dType);
  int64_t size = op.getInstructionSize();
  int64_t perLane = op.getNumbersPerLane();
  int64_t lanesAlongK = 64 / size;
  // Positions of K that lane 0 has in registers, first of each instruction.
  SmallVector<Entry> ar = aShape.getLayout().getRegisterEntries();
  size_t kBits = llvm::Log2_64(perLane);
  int64_t inInstruction = 0;
  for (const Entry &entry : ArrayRef(ar).take_front(kBits))
    inInstruction |= entry.step;
  SmallVector<Entry> al = aShape.getLayout().getLaneEntries();
  for (const Entry &entry : ArrayRef(al).drop_front(llvm::Log2_64(size)))
    inInstruction |= entry.step;
  SmallVector<int64_t> firsts;
  for (int64_t k = 0; k < aType.getDimSize(1); ++k)
    if ((k & inInstruction) == 0)
      firsts.push_back(k);

  auto operand = [&](ArrayRef<Value> fragments, const TileShape &shape,
                     int64_t row, int64_t column) -> Value {
    Place place = shape.getPlace({row, column});
    if (perLane == 1)
      return extract(fragments[place.fragment], place.element);
    SmallVector<int64_t> elements;
    for (int64_t i = 0; i < perLane; ++i)
      elements.push_back(place.element + i);
    return takeElements(fragments[place.fragment], elements);
  };
  ArrayRef<Value> a = tiles[op.getLhs()], b = tiles[op.getRhs()];
  // The partial sums of each fragment that no neighbour was added to yet.
  SmallVector<SmallVector<Value>> sums;
  for (Value fragment : tiles[op.getAccumulator()])
    sums.push_back({fragment});
  int64_t runLength = firsts.size() / op.getPartialSums();
  auto multiply = [&](int64_t fragment, int64_t step) {
    SmallVector<Value> &partial = sums[fragment];
    auto type = cast<VectorType>(partial[0].getType());
    if (step > 0 && step % runLength == 0)
      partial.push_back(
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
    int64_t k = firsts[step];
    SmallVector<int64_t> at = dShape.getPosition({fragment, 0});
    partial.back() = amdgpu::MFMAOp::create(
        builder, loc, type, size, size, perLane * lanesAlongK, /*blocks=*/1,
        operand(a, aShape, at[0], k), operand(b, bShape, k, at[1]),
        partial.back());
    if ((step + 1) % runLength != 0)
      return;
    // Neighbours are added as soon as both are there, so that few registers
    // are needed: sums of 1, 2, 4, ... runs, like the digits of a number.
    for (int64_t run = (step + 1) / runLength; run % 2 == 0; run /= 2) {
      Value last = partial.pop_back_val();
      partial.back() =
          arith::AddFOp::create(builder, loc, partial.back(), last);
    }
  };
  int64_t numFragments = sums.size(), numSteps = firsts.size();
  // Fragments that begin as a constant need registers one after the other. What
  // is added to others may come as K does.
  if (op.getAccumulator().getDefiningOp<arith::ConstantOp>()) {
    for (int64_t fragment = 0; fragment < numFragments; ++fragment)
      for (int64_t step = 0; step < numSteps; ++step)
        multiply(fragment, step);
  } else {
    for (int64_t step = 0; step < numSteps; ++step)
      for (int64_t fragment = 0; fragment < numFragments; ++fragment)
        multiply(fragment, step);
  }
  SmallVector<Value> fragments;
  for (ArrayRef<Value> partial : sums)
    fragments.push_back(partial.front());
  tiles[op.getResult()] = fragments;
  return success();
}

LogicalResult LaneBody::rewriteReduce(ReduceTileOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  Type element = type.getElementType();
  int64_t dimension = op.getDimension();
  TileShape shape(type), result(resultType);
  auto combine = [&](Value a, Value b) -> Value {
    IRMapping inside;
    Block &body = op.getCombine().front();
    inside.map(body.getArgument(0), a);
    inside.map(body.getArgument(1), b);
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, inside);
    return inside.lookupOrDefault(body.getTerminator()->getOperand(0));
  };
  int64_t size = result.getLayout().getFragmentSize();
  SmallVector<SmallVector<Value>> sums(result.getNumFragments(),
                                       SmallVector<Value>(size));
  for (auto [fragment, vector] : llvm::enumerate(tiles[op.getSource()]))
    for (int64_t i = 0; i < shape.getLayout().getFragmentSize(); ++i) {
      SmallVector<int64_t> position = shape.getPosition({int64_t(fragment), i});
      if (resultType.getRank() == 1)
        position.erase(position.begin() + dimension);
      else
        position[dimension] = 0;
      Place place = result.getPlace(position);
      Value &sum = sums[place.fragment][place.element];
      Value value = extract(vector, i);
      sum = sum ? combine(sum, value) : value;
    }
  for (auto [bit, entry] :
       llvm::enumerate(shape.getLayout().getLaneEntries())) {
    if (entry.step == 0 || entry.dimension != dimension ||
        resultType.getRank() != 1)
      continue;
    if (!element.isF32() && !element.isInteger(32))
      return op.emitError("expected elements of 32 bits to combine between "
                          "lanes, got ")
             << element;
    for (auto &fragment : sums)
      for (Value &sum : fragment) {
        Value other =
            gpu::ShuffleOp::create(builder, loc, sum, number(1 << bit),
                                   number(64), gpu::ShuffleMode::XOR)
                .getShuffleResult();
        sum = combine(sum, other);
      }
  }
  SmallVector<Value> fragments;
  for (auto &fragment : sums)
    fragments.push_back(fromElements(result.getFragmentType(), fragment));
  tiles[op.getResult()] = fragments;
  return success();
}

void LaneBody::rewriteAny(AnyTileOp op) {
  Value any;
  for (Value fragment : tiles[op.getSource()])
    for (int64_t i = 0; i < cast<VectorType>(fragment.getType()).getDimSize(0);
         ++i) {
      Value element = extract(fragment, i);
      any = any ? arith::OrIOp::create(builder, loc, any, element).getResult()
                : element;
    }
  // One bit a lane; the same number in all of them.
  Value lanes =
      ROCDL::BallotOp::create(builder, loc, builder.getI64Type(), any);
  Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      lanes, number(0, 64));
  wavefrontConditions.insert(holds);
  mapping.map(op.getResult(), holds);
}

void LaneBody::rewriteBroadcast(BroadcastTileOp op) {
  TileShape shape(cast<RankedTensorType>(op.getResult().getType()));
  TileShape source(cast<RankedTensorType>(op.getSource().getType()));
  ArrayRef<Value> from = tiles[op.getSource()];
  SmallVector<Value> fragments;
  for (int64_t fragment = 0; fragment < shape.getNumFragments(); ++fragment) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < shape.getLayout().getFragmentSize(); ++i) {
      Place place = source.getPlace(
          shape.getPosition({fragment, i})[1 - op.getDimension()]);
      elements.push_back(extract(from[place.fragment], place.element));
    }
    fragments.push_back(
        llvm::all_equal(
            llvm::map_range(llvm::seq<int64_t>(0, elements.size()),
                            [&](int64_t i) {
                              Place place = source.getPlace(shape.getPosition(
                                  {fragment, i})[1 - op.getDimension()]);
                              return std::pair(place.fragment, place.element);
                            }))
            ? vector::BroadcastOp::create(builder, loc, shape.getFragmentType(),
                                          elements.front())
                  .getResult()
            : fromElements(shape.getFragmentType(), elements));
  }
  tiles[op.getResult()] = fragments;
}

void LaneBody::rewritePosition(TilePositionOp op) {
  TileShape shape(cast<RankedTensorType>(op.getResult().getType()));
  int64_t dimension = op.getDimension();
  Value start =
      vector::BroadcastOp::create(builder, loc, shape.getFragmentType(),
                                  lanePosition(shape.getLayout(), dimension));
  SmallVector<Value> fragments;
  for (int64_t fragment = 0; fragment < shape.getNumFragments(); ++fragment) {
    SmallVector<int32_t> steps;
    for (int64_t i = 0; i < shape.getLayout().getFragmentSize(); ++i)
      steps.push_back(shape.getPosition({fragment, i})[dimension]);
    Value constant = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(shape.getFragmentType(),
                               ArrayRef<int32_t>(steps)));
    fragments.push_back(add(start, constant));
  }
  tiles[op.getResult()] = fragments;
}

Value LaneBody::comparePosition(arith::CmpIOp op, TilePositionOp position,
                                int64_t fragment, Value other) {
  TileShape shape(cast<RankedTensorType>(position.getResult().getType()));
  int64_t dimension = position.getDimension();
  Value start = lanePosition(shape.getLayout(), dimension);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < shape.getLayout().getFragmentSize(); ++i) {
    // Element by element: what is the same in all of them is one register then,
    // not a vector. Positions are not negative: where the difference saturates,
    // all of them are larger.
    Value rest = LLVM::SSubSat::create(builder, loc, builder.getI32Type(),
                                       extract(other, i), start);
    elements.push_back(arith::CmpIOp::create(
        builder, loc, op.getPredicate(),
        number(shape.getPosition({fragment, i})[dimension]), rest));
  }
  return fromElements(
      VectorType::get({int64_t(elements.size())}, builder.getI1Type()),
      elements);
}

Value LaneBody::roundToBF16(Value fragment, VectorType type, bool truncates) {
  int64_t count = type.getDimSize(0);
  Type i32 = builder.getI32Type();
  auto bits = [&](int64_t i) -> Value {
    Value x = arith::BitcastOp::create(builder, loc, i32, extract(fragment, i));
    if (truncates)
      return x;
    // Half a unit less one, and one more where the last bit kept is set: ties
    // to even.
    Value last = arith::AndIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, x, number(16)),
        number(1));
    return add(add(x, last), number(0x7fff));
  };
  // The upper halves, two to a register: one instruction.
  SmallVector<Value> words;
  SmallVector<int64_t> upper;
  for (int64_t i = 0; i < count; ++i) {
    words.push_back(bits(i));
    upper.push_back(2 * i + 1);
  }
  Value halves = vector::BitCastOp::create(
      builder, loc, VectorType::get({2 * count}, type.getElementType()),
      fromElements(VectorType::get({count}, i32), words));
  return vector::ShuffleOp::create(builder, loc, halves, halves, upper);
}

Value LaneBody::roundToF8(Value fragment, VectorType type) {
  // Four to a register, two an instruction.
  auto word = VectorType::get({4}, type.getElementType());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); i += 4) {
    Value packed;
    for (uint32_t half = 0; half < 2; ++half)
      packed = amdgpu::PackedTrunc2xFp8Op::create(
          builder, loc, word, extract(fragment, i + 2 * half),
          extract(fragment, i + 2 * half + 1), half, packed);
    for (int64_t j = 0; j < 4; ++j)
      elements.push_back(extract(packed, j));
  }
  return fromElements(type, elements);
}

Value LaneBody::createMath(Operation *op, ArrayRef<Value> operands, Type type) {
  Type f64 = builder.getF64Type();
  bool isCall = isa<FloatType>(type) && type != f64 &&
                !isa<math::AbsFOp, math::CeilOp, math::CopySignOp,
                     math::FloorOp, math::FmaOp, math::Exp2Op, math::Log2Op,
                     math::RoundEvenOp, math::TruncOp>(op);
  SmallVector<Value> wide(operands);
  if (isCall)
    for (Value &operand : wide)
      if (isa<FloatType>(operand.getType()))
        operand = arith::ExtFOp::create(builder, loc, f64, operand);
  OperationState state(op->getLoc(), op->getName(), wide, isCall ? f64 : type,
                       op->getAttrs());
  Value result = builder.create(state)->getResult(0);
  return isCall
             ? arith::TruncFOp::create(builder, loc, type, result).getResult()
             : result;
}

Value LaneBody::elementByElement(Operation *op, ArrayRef<Value> operands,
                                 VectorType type) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    SmallVector<Value> scalars;
    for (Value operand : operands)
      scalars.push_back(isa<VectorType>(operand.getType()) ? extract(operand, i)
                                                           : operand);
    if (isa<math::MathDialect>(op->getDialect())) {
      elements.push_back(createMath(op, scalars, type.getElementType()));
      continue;
    }
    OperationState state(op->getLoc(), op->getName(), scalars,
                         type.getElementType(), op->getAttrs());
    elements.push_back(builder.create(state)->getResult(0));
  }
  return fromElements(type, elements);
}

LogicalResult LaneBody::rewriteElementwise(Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitError("expected one result, got ") << op->getNumResults();
  TileShape shape(cast<RankedTensorType>(op->getResult(0).getType()));
  VectorType type = shape.getFragmentType();
  SmallVector<Value> fragments;
  for (int64_t fragment = 0; fragment < shape.getNumFragments(); ++fragment) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTile(operand.getType()) ? tiles[operand][fragment]
                                                   : mapping.lookup(operand));
    // The hardware's own instructions, not ocml's sequences around them.
    if (isa<math::Exp2Op, math::Log2Op>(op) && type.getElementType().isF32()) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < type.getDimSize(0); ++i) {
        Value x = extract(operands[0], i);
        elements.push_back(
            isa<math::Exp2Op>(op)
                ? ROCDL::ROCDLExp2::create(builder, loc, x.getType(), x)
                      .getResult()
                : ROCDL::ROCDLLog::create(builder, loc, x.getType(), x)
                      .getResult());
      }
      fragments.push_back(fromElements(type, elements));
      continue;
    }
    if (isa<arith::TruncFOp>(op) &&
        isa<Float8E4M3FNUZType>(type.getElementType()) &&
        type.getDimSize(0) % 4 == 0 &&
        getElementTypeOrSelf(operands[0].getType()).isF32()) {
      fragments.push_back(roundToF8(operands[0], type));
      continue;
    }
    if (auto rounding = dyn_cast<arith::TruncFOp>(op);
        rounding && type.getElementType().isBF16() &&
        type.getDimSize(0) % 2 == 0 &&
        getElementTypeOrSelf(operands[0].getType()).isF32()) {
      bool truncates =
          rounding.getRoundingmode() == arith::RoundingMode::toward_zero;
      arith::FastMathFlags flags =
          rounding.getFastmath().value_or(arith::FastMathFlags::none);
      if (truncates || bitEnumContainsAll(flags, arith::FastMathFlags::nnan)) {
        fragments.push_back(roundToBF16(operands[0], type, truncates));
        continue;
      }
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      if (auto position = compare.getLhs().getDefiningOp<TilePositionOp>();
          position && compare.getPredicate() < arith::CmpIPredicate::ult) {
        fragments.push_back(
            comparePosition(compare, position, fragment, operands[1]));
        continue;
      }
    // Calls of ocml take one number.
    if (isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op)) {
      fragments.push_back(elementByElement(op, operands, type));
      continue;
    }
    if (avoidsPackedF32(target) && type.getElementType().isF32()) {
      fragments.push_back(elementByElement(op, operands, type));
      continue;
    }
    OperationState state(op->getLoc(), op->getName(), operands, type,
                         op->getAttrs());
    fragments.push_back(builder.create(state)->getResult(0));
  }
  tiles[op->getResult(0)] = fragments;
  return success();
}

LogicalResult LaneBody::rewriteLoop(scf::ForOp op) {
  SmallVector<Value> initial;
  for (auto [init, argument, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    if (isStaged(init.getType())) {
      // One at a time: the map may move when it grows.
      Value buffer = staged.lookup(init);
      staged[argument] = buffer;
      staged[result] = buffer;
    } else if (isTile(init.getType()))
      llvm::append_range(initial, tiles[init]);
    else
      initial.push_back(mapping.lookup(init));
  }
  auto loop =
      scf::ForOp::create(builder, loc, mapping.lookup(op.getLowerBound()),
                         mapping.lookup(op.getUpperBound()),
                         mapping.lookup(op.getStep()), initial);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  auto take = [&](ValueRange from, ValueRange to) {
    auto next = to.begin();
    for (Value value : from) {
      if (isStaged(value.getType()))
        continue;
      if (!isTile(value.getType())) {
        mapping.map(value, *next++);
        continue;
      }
      SmallVector<Value> fragments;
      TileShape shape(cast<RankedTensorType>(value.getType()));
      for (int64_t i = 0; i < shape.getNumFragments(); ++i)
        fragments.push_back(*next++);
      tiles[value] = fragments;
    }
  };
  take(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(builder);
    // The builder of a loop without carried values adds a terminator.
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(rewrite(*op.getBody())))
      return failure();
  }
  for (auto [argument, yielded] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getYieldedValues()))
    if (isStaged(argument.getType()) &&
        staged.lookup(argument) != staged.lookup(yielded))
      return op.emitError("expected staged tiles that a loop carries to keep "
                          "their memory: stage 'into' them");
  take(op.getResults(), loop.getResults());
  return success();
}

LogicalResult LaneBody::rewriteIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    if (!isTile(type)) {
      types.push_back(type);
      continue;
    }
    TileShape shape(cast<RankedTensorType>(type));
    types.append(shape.getNumFragments(), shape.getFragmentType());
  }
  bool hasElse = !op.getElseRegion().empty();
  auto branches =
      scf::IfOp::create(builder, loc, types, mapping.lookup(op.getCondition()),
                        /*addThenBlock=*/true, hasElse);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branches->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&to.front());
    if (failed(rewrite(from.front())))
      return failure();
  }
  auto next = branches.getResults().begin();
  for (Value value : op.getResults()) {
    if (!isTile(value.getType())) {
      mapping.map(value, *next++);
      continue;
    }
    SmallVector<Value> fragments;
    TileShape shape(cast<RankedTensorType>(value.getType()));
    for (int64_t i = 0; i < shape.getNumFragments(); ++i)
      fragments.push_back(*next++);
    tiles[value] = fragments;
  }
  return success();
}

LogicalResult LaneBody::checkTypes(Operation *op) {
  auto isKnown = [&](Value value, bool isOperand) {
    Type type = value.getType();
    if (isTile(type))
      return cast<RankedTensorType>(type).getRank() <= 2;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return isOperand ? isa<ReadTileOp, StageTileOp>(op) ||
                             (isStaged(type) &&
                              (isa<scf::ForOp>(op) ||
                               (isa<scf::YieldOp>(op) &&
                                isa<scf::ForOp>(op->getParentOp()))))
                       : isa<StageTileOp>(op) ||
                             (isStaged(type) && isa<scf::ForOp>(op));
    return !isa<ShapedType>(type) ||
           (isa<MemRefType>(type) &&
            isa<LoadTileOp, StoreTileOp, GatherTileOp, memref::LoadOp,
                memref::ReinterpretCastOp>(op));
  };
  for (Value operand : op->getOperands())
    if (!isKnown(operand, /*isOperand=*/true))
      return op->emitError("operand of type ")
             << operand.getType() << " is neither a scalar nor a tile with a "
             << "#wavesmith.layout";
  for (Value result : op->getResults())
    if (!isKnown(result, /*isOperand=*/false))
      return op->emitError("result of type ")
             << result.getType() << " is neither a scalar nor a tile with a "
             << "#wavesmith.layout";
  return success();
}

LogicalResult LaneBody::rewrite(Block &block) {
  size_t usedBefore = usedLds.size();
  for (Operation &op : block)
    if (failed(checkTypes(&op)) || failed(rewrite(&op)))
      return failure();
  freeLds.append(usedLds.begin() + usedBefore, usedLds.end());
  usedLds.truncate(usedBefore);
  return success();
}

LogicalResult LaneBody::rewrite(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LoadTileOp op) { return rewriteLoad(op); })
      .Case([&](StoreTileOp op) { return rewriteStore(op); })
      .Case([&](GatherTileOp op) { return rewriteGather(op); })
      .Case([&](memref::LoadOp op) { return rewriteScalarLoad(op); })
      .Case([&](StageTileOp op) { return rewriteStage(op); })
      .Case([&](ReadTileOp op) { return rewriteRead(op); })
      .Case([&](DotOp op) { return rewriteDot(op); })
      .Case([&](ReduceTileOp op) { return rewriteReduce(op); })
      .Case([&](AnyTileOp op) {
        rewriteAny(op);
        return success();
      })
      .Case([&](BroadcastTileOp op) {
        rewriteBroadcast(op);
        return success();
      })
      .Case([&](TilePositionOp op) {
        rewritePosition(op);
        return success();
      })
      .Case<ROCDL::SetPrioOp, ROCDL::SchedBarrier>([&](auto op) {
        builder.clone(*op);
        return success();
      })
      // Resolved where it is used.
      .Case([&](memref::ReinterpretCastOp) { return success(); })
      .Case([&](scf::ForOp op) { return rewriteLoop(op); })
      .Case([&](scf::IfOp op) { return rewriteIf(op); })
      .Case([&](scf::YieldOp op) {
        SmallVector<Value> operands;
        for (Value operand : op.getOperands()) {
          if (isStaged(operand.getType()))
            continue;
          if (isTile(operand.getType()))
            llvm::append_range(operands, tiles[operand]);
          else
            operands.push_back(mapping.lookup(operand));
        }
        scf::YieldOp::create(builder, loc, operands);
        return success();
      })
      .Case([&](tensor::SplatOp op) {
        TileShape shape(cast<RankedTensorType>(op.getType()));
        Value fragment =
            vector::BroadcastOp::create(builder, loc, shape.getFragmentType(),
                                        mapping.lookup(op.getInput()));
        tiles[op.getResult()] =
            SmallVector<Value>(shape.getNumFragments(), fragment);
        return success();
      })
      .Case([&](arith::ConstantOp op) -> LogicalResult {
        if (!isTile(op.getType())) {
          mapping.map(op.getResult(), builder.clone(*op)->getResult(0));
          return success();
        }
        auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
        if (!dense || !dense.isSplat())
          return op.emitError("expected the same number in the whole tile");
        TileShape shape(cast<RankedTensorType>(op.getType()));
        Value fragment = arith::ConstantOp::create(
            builder, loc,
            DenseElementsAttr::get(shape.getFragmentType(),
                                   dense.getSplatValue<Attribute>()));
        tiles[op.getResult()] =
            SmallVector<Value>(shape.getNumFragments(), fragment);
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        StringRef dialect =
            op->getDialect() ? op->getDialect()->getNamespace() : StringRef();
        if (op->getNumRegions() != 0 ||
            (dialect != "arith" && dialect != "math"))
          return op->emitError("not supported in a workgroup of a grid");
        bool hasTile = llvm::any_of(op->getResultTypes(), isTile);
        if (hasTile)
          return rewriteElementwise(op);
        if (dialect == "math" && op->getNumResults() == 1) {
          SmallVector<Value> operands;
          for (Value operand : op->getOperands())
            operands.push_back(mapping.lookup(operand));
          mapping.map(op->getResult(0),
                      createMath(op, operands, op->getResult(0).getType()));
          return success();
        }
        builder.clone(*op, mapping);
        return success();
      });
}

LogicalResult LaneBody::distribute(GridWorkgroupOp workgroup, IRMapping known) {
  mapping = std::move(known);
  loc = workgroup.getLoc();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Type i32 = builder.getI32Type();
  Value thread = arith::IndexCastOp::create(
      builder, loc, i32,
      gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  lane = arith::AndIOp::create(builder, loc, thread, number(63));
  // The same in all lanes, which LLVM does not see by itself.
  wave = ROCDL::ReadfirstlaneOp::create(
      builder, loc, i32,
      arith::ShRUIOp::create(builder, loc, thread, number(6)));
  gpu::Dimension dimensions[] = {gpu::Dimension::x, gpu::Dimension::y,
                                 gpu::Dimension::z};
  for (auto [argument, dimension] :
       llvm::zip(workgroup.getBody().getArguments(), dimensions))
    mapping.map(argument,
                gpu::BlockIdOp::create(builder, loc, dimension).getResult());
  if (failed(rewrite(workgroup.getBody().front())))
    return failure();
  gpu::ReturnOp::create(builder, workgroup.getLoc());
  return placeBarriers();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The sizes of the grid as expressions over the names of the arguments; null,
/// with an error, if an operand is no argument.
static ArrayAttr describeGrid(GridWorkgroupOp workgroup,
                              func::FuncOp function) {
  Builder builder(workgroup.getContext());
  SmallVector<std::string> names;
  for (Value size : workgroup.getSizes()) {
    auto argument = dyn_cast<BlockArgument>(size);
    if (!argument || argument.getOwner() != &function.getBody().front()) {
      workgroup.emitError("expected sizes of the grid that are arguments of "
                          "the function");
      return {};
    }
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttrName);
    names.push_back(name ? name.str()
                         : "arg" + std::to_string(argument.getArgNumber()));
  }
  SmallVector<Attribute> sizes;
  for (AffineExpr expression : workgroup.getGrid().getResults()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    expression.print(os);
    // The map's own names, d0, d1, ..., from the last on: d1 begins d10.
    for (size_t i = names.size(); i-- > 0;) {
      std::string from = "d" + std::to_string(i);
      for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
        text.replace(at, from.size(), names[i]);
        at += names[i].size();
      }
    }
    sizes.push_back(builder.getStringAttr(text));
  }
  return builder.getArrayAttr(sizes);
}

LogicalResult DistributeTilesPass::distribute(func::FuncOp function,
                                              gpu::GPUModuleOp module) {
  Block &entry = function.getBody().front();
  auto workgroups = llvm::to_vector(entry.getOps<GridWorkgroupOp>());
  if (!function.getBody().hasOneBlock() || workgroups.size() != 1 ||
      entry.getOperations().size() != 2)
    return function.emitError("expected one wavesmith.grid_workgroup and a "
                              "return, nothing else");
  GridWorkgroupOp workgroup = workgroups.front();
  if (function.getNumResults() != 0)
    return function.emitError("expected a kernel without results, got ")
           << function.getNumResults();
  for (Type type : function.getArgumentTypes())
    if (isa<TensorType>(type))
      return function.emitError("expected arrays in memory and scalars as "
                                "arguments, got ")
             << type;
  FailureOr<const TargetInfo *> found = findTarget(workgroup);
  if (failed(found))
    return failure();
  const TargetInfo *target = *found;
  int64_t size = workgroup.getWaves() * 64;
  if (target && size > int64_t(target->maxWorkgroupSize))
    return workgroup.emitError("expected at most ")
           << target->maxWorkgroupSize << " threads on " << target->architecture
           << ", got " << size;
  ArrayAttr grid = describeGrid(workgroup, function);
  if (!grid)
    return failure();

  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(module.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      builder, function.getLoc(), function.getName(),
      builder.getFunctionType(function.getArgumentTypes(), {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(kGridAttrName, grid);
  StringRef waves = ROCDL::ROCDLDialect::WavesPerEuAttrHelper::getNameStr();
  if (Attribute perSIMD = function->getAttr(waves))
    kernel->setAttr(waves, perSIMD);
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(size), 1, 1}));
  // Else LLVM packs f32 again what is written one by one here.
  if (avoidsPackedF32(target))
    kernel->setAttr("passthrough",
                    builder.getStrArrayAttr({"noimplicitfloat"}));
  IRMapping mapping;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      kernel.setArgAttrs(i, attributes);
    mapping.map(function.getArgument(i), kernel.getArgument(i));
  }
  return LaneBody(kernel, target).distribute(workgroup, mapping);
}

void DistributeTilesPass::runOnOperation() {
  SmallVector<func::FuncOp> functions;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() &&
        !function.getBody().front().getOps<GridWorkgroupOp>().empty())
      functions.push_back(function);
  if (functions.empty())
    return;
  // One module for all kernels, of zones and of grids.
  auto module = getOperation().lookupSymbol<gpu::GPUModuleOp>("kernels");
  if (!module) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(getOperation().getBody());
    module =
        gpu::GPUModuleOp::create(builder, getOperation().getLoc(), "kernels");
  }
  for (func::FuncOp function : functions) {
    if (failed(distribute(function, module)))
      return signalPassFailure();
    function.erase();
  }
  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                          UnitAttr::get(&getContext()));
}
