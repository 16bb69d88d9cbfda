//===- TileOps.cpp - Layouts and checks of tiles --------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/TypeUtilities.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wavesmith;

using Entry = LayoutAttr::Entry;

/// Bits of a lane's number: 64 lanes a wavefront on all targets.
static constexpr int64_t kLaneBits = 6;
/// The most bits of the numbers of registers and wavefronts: a lane has no more
/// than 512 registers, a workgroup no more than 16 wavefronts.
static constexpr int64_t kMaxRegisterBits = 9;
static constexpr int64_t kMaxWaveBits = 4;
/// The largest step, so that sums stay far from overflow.
static constexpr int64_t kMaxStep = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static SmallVector<Entry> readEntries(ArrayRef<int64_t> flat, int64_t rank) {
  SmallVector<Entry> entries;
  for (size_t first = 0; first < flat.size(); first += rank) {
    Entry entry{0, 0};
    for (int64_t dimension = 0; dimension < rank; ++dimension)
      if (flat[first + dimension] != 0)
        entry = {dimension, flat[first + dimension]};
    entries.push_back(entry);
  }
  return entries;
}

SmallVector<Entry> LayoutAttr::getRegisterEntries() const {
  return readEntries(getRegisters(), getRank());
}
SmallVector<Entry> LayoutAttr::getLaneEntries() const {
  return readEntries(getLanes(), getRank());
}
SmallVector<Entry> LayoutAttr::getWaveEntries() const {
  return readEntries(getWaves(), getRank());
}

int64_t LayoutAttr::getFragmentSize() const {
  return int64_t(1) << (getRegisters().size() / getRank());
}

int64_t LayoutAttr::getNumWaves() const {
  return int64_t(1) << (getWaves().size() / getRank());
}

SmallVector<int64_t> LayoutAttr::getExtents() const {
  SmallVector<int64_t> extents(getRank(), 1);
  for (ArrayRef<int64_t> flat : {getRegisters(), getLanes(), getWaves()})
    for (auto [index, step] : llvm::enumerate(flat))
      extents[index % getRank()] += step;
  return extents;
}

LayoutAttr LayoutAttr::withoutDimension(int64_t dimension) const {
  auto strip = [&](ArrayRef<Entry> entries, bool keepsPlace) {
    SmallVector<int64_t> flat;
    for (const Entry &entry : entries) {
      if (entry.step != 0 && entry.dimension != dimension)
        flat.push_back(entry.step);
      else if (keepsPlace)
        flat.push_back(0);
    }
    return flat;
  };
  return LayoutAttr::get(getContext(), getRank() - 1,
                         strip(getRegisterEntries(), /*keepsPlace=*/false),
                         strip(getLaneEntries(), /*keepsPlace=*/true),
                         strip(getWaveEntries(), /*keepsPlace=*/true));
}

LayoutAttr LayoutAttr::withLanesOf(int64_t dimension) const {
  int64_t step = 1;
  auto strip = [&](ArrayRef<Entry> entries, bool keepsPlace, bool keepsLane) {
    SmallVector<int64_t> flat;
    for (const Entry &entry : entries) {
      bool along = entry.step != 0 && entry.dimension == dimension;
      if (along && !keepsPlace)
        continue;
      SmallVector<int64_t> steps(getRank(), 0);
      if (along && keepsLane) {
        steps[dimension] = step;
        step *= 2;
      } else if (!along) {
        steps[entry.dimension] = entry.step;
      }
      llvm::append_range(flat, steps);
    }
    return flat;
  };
  SmallVector<int64_t> registers = strip(getRegisterEntries(), false, false);
  SmallVector<int64_t> lanes = strip(getLaneEntries(), true, true);
  return LayoutAttr::get(getContext(), getRank(), registers, lanes,
                         strip(getWaveEntries(), true, false));
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t rank, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes,
                                 ArrayRef<int64_t> waves) {
  if (rank < 1 || rank > 2)
    return emitError() << "expected entries of one or two dimensions, got "
                       << rank;
  if (int64_t(lanes.size()) != kLaneBits * rank)
    return emitError() << "expected " << kLaneBits << " lane entries, got "
                       << lanes.size() / rank;
  if (int64_t(registers.size()) > kMaxRegisterBits * rank)
    return emitError() << "expected at most " << kMaxRegisterBits
                       << " register entries, got " << registers.size() / rank;
  if (int64_t(waves.size()) > kMaxWaveBits * rank)
    return emitError() << "expected at most " << kMaxWaveBits
                       << " wave entries, got " << waves.size() / rank;
  SmallVector<SmallVector<int64_t>> steps(rank);
  for (auto [flat, mayBeZero] :
       {std::pair(registers, false), std::pair(lanes, true),
        std::pair(waves, true)})
    for (size_t first = 0; first < flat.size(); first += rank) {
      unsigned count = 0;
      for (int64_t dimension = 0; dimension < rank; ++dimension) {
        int64_t step = flat[first + dimension];
        if (step == 0)
          continue;
        if (step < 0 || step > kMaxStep || !llvm::isPowerOf2_64(step))
          return emitError()
                 << "expected an entry that is a power of two, got " << step;
        ++count;
        steps[dimension].push_back(step);
      }
      if (count > 1 || (count == 0 && !mayBeZero))
        return emitError() << "expected an entry that leads along one "
                              "dimension, got one that leads along "
                           << count;
    }
  for (auto [dimension, values] : llvm::enumerate(steps)) {
    llvm::sort(values);
    for (auto [index, value] : llvm::enumerate(values))
      if (value != int64_t(1) << index)
        return emitError() << "expected the entries of dimension " << dimension
                           << " to be 1, 2, 4, ..., each once; "
                           << (value < int64_t(1) << index
                                   ? Twine(value) + " is there twice"
                                   : Twine(int64_t(1) << index) +
                                         " is missing");
  }
  return success();
}

void LayoutAttr::print(AsmPrinter &printer) const {
  auto printEntries = [&](ArrayRef<int64_t> flat) {
    printer << "[";
    for (size_t first = 0; first < flat.size(); first += getRank()) {
      printer << (first ? ", [" : "[");
      llvm::interleaveComma(flat.slice(first, getRank()), printer);
      printer << "]";
    }
    printer << "]";
  };
  printer << "<registers = ";
  printEntries(getRegisters());
  printer << ", lanes = ";
  printEntries(getLanes());
  printer << ", waves = ";
  printEntries(getWaves());
  printer << ">";
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (int64_t(shape.size()) != getRank())
    return emitError() << "expected a layout of rank " << shape.size()
                       << ", got one of rank " << getRank();
  for (auto [dimension, pair] :
       llvm::enumerate(llvm::zip_equal(shape, getExtents()))) {
    auto [size, extent] = pair;
    if (ShapedType::isDynamic(size) || size <= 0 || size % extent != 0 ||
        size > kMaxStep)
      return emitError() << "expected the size of dimension " << dimension
                         << " to be a multiple of the layout's extent "
                         << extent << ", at most " << kMaxStep << ", got "
                         << (ShapedType::isDynamic(size) ? "a dynamic one"
                                                         : Twine(size).str());
  }
  return success();
}

LogicalResult
LdsLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t contiguous, int64_t padding,
                      ArrayRef<int64_t> swizzle) {
  if (contiguous < 0 || contiguous > 1)
    return emitError() << "expected the contiguous dimension to be 0 or 1, got "
                       << contiguous;
  if (padding < 0 || padding > kMaxStep)
    return emitError() << "expected a padding from 0 to " << kMaxStep
                       << ", got " << padding;
  if (!swizzle.empty() && padding != 0)
    return emitError() << "expected either a swizzle or a padding, got both";
  if (swizzle.size() > 3)
    return emitError() << "expected a swizzle of at most 3 bits, got "
                       << swizzle.size();
  for (int64_t rows : swizzle)
    if (rows <= 0 || rows > kMaxStep)
      return emitError() << "expected bits of row numbers from 1 to "
                         << kMaxStep << " in a swizzle, got " << rows;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult GridWorkgroupOp::verify() {
  AffineMap map = getGrid();
  if (map.getNumResults() < 1 || map.getNumResults() > 3)
    return emitOpError("expected a grid of one to three sizes, got ")
           << map.getNumResults();
  if (map.getNumInputs() != getSizes().size() || map.getNumSymbols() != 0)
    return emitOpError("expected as many operands as the grid's map has "
                       "dimensions, ")
           << map.getNumDims() << ", and no symbols, got " << getSizes().size()
           << " operands and " << map.getNumSymbols() << " symbols";
  int64_t waves = getWaves();
  if (waves <= 0 || !llvm::isPowerOf2_64(waves) ||
      waves > int64_t(1) << kMaxWaveBits)
    return emitOpError("expected a number of waves that is a power of two, at "
                       "most ")
           << (int64_t(1) << kMaxWaveBits) << ", got " << waves;
  if (getBody().getNumArguments() != map.getNumResults())
    return emitOpError("expected a body with an argument for each of the "
                       "grid's ")
           << map.getNumResults() << " dimensions, got "
           << getBody().getNumArguments();
  for (Type type : getBody().getArgumentTypes())
    if (!type.isIndex())
      return emitOpError("expected a body with arguments of type index, got ")
             << type;
  return success();
}

/// The layout of a tile in registers; null, with an error, if it has none, or
/// one of another number of wavefronts than the workgroup's.
static LayoutAttr getCheckedLayout(Operation *op, Value tile, StringRef what) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!layout) {
    op->emitOpError("expected ")
        << what << " with a #wavesmith.layout, got " << type;
    return {};
  }
  auto workgroup = op->getParentOfType<GridWorkgroupOp>();
  if (!workgroup) {
    op->emitOpError("expected to stand in a 'wavesmith.grid_workgroup'");
    return {};
  }
  if (layout.getNumWaves() != int64_t(workgroup.getWaves())) {
    op->emitOpError("expected ")
        << what << " with a layout over the workgroup's "
        << workgroup.getWaves() << " wavefronts, got one over "
        << layout.getNumWaves();
    return {};
  }
  return layout;
}

static LogicalResult verifyTransfer(Operation *op, Value tile,
                                    MemRefType memory, ValueRange offsets,
                                    int64_t vector) {
  if (!getCheckedLayout(op, tile, "a tile"))
    return failure();
  auto type = cast<RankedTensorType>(tile.getType());
  if (memory.getRank() != type.getRank() ||
      int64_t(offsets.size()) != type.getRank())
    return op->emitOpError("expected memory and offsets of the tile's rank ")
           << type.getRank() << ", got " << memory << " and " << offsets.size()
           << " offsets";
  if (memory.getElementType() != type.getElementType())
    return op->emitOpError("expected memory of the tile's elements ")
           << type.getElementType() << ", got " << memory;
  if (vector <= 0 || !llvm::isPowerOf2_64(vector) || vector > 16)
    return op->emitOpError("expected a vector of 1, 2, 4, 8 or 16 elements, "
                           "got ")
           << vector;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return op->emitOpError("expected memory with strides, got ") << memory;
  if (vector > 1 && !llvm::is_contained(strides, 1))
    return op->emitOpError("expected memory with a stride of 1 for a vector of "
                           "several elements, got ")
           << memory;
  return success();
}

LogicalResult LoadTileOp::verify() {
  return verifyTransfer(*this, getResult(),
                        cast<MemRefType>(getSource().getType()), getOffsets(),
                        getVector());
}

LogicalResult StoreTileOp::verify() {
  return verifyTransfer(*this, getValue(),
                        cast<MemRefType>(getTarget().getType()), getOffsets(),
                        getVector());
}

LogicalResult GatherTileOp::verify() {
  if (!getCheckedLayout(*this, getResult(), "a tile"))
    return failure();
  auto type = cast<RankedTensorType>(getResult().getType());
  RankedTensorType wanted = type.clone(IntegerType::get(getContext(), 64));
  if (getIndices().getType() != wanted)
    return emitOpError("expected indices of ")
           << wanted << ", got " << getIndices().getType();
  auto memory = cast<MemRefType>(getSource().getType());
  if (memory.getElementType() != type.getElementType())
    return emitOpError("expected memory of the tile's elements ")
           << type.getElementType() << ", got " << memory;
  return success();
}

/// Checks a tile in registers and the same in LDS.
static LogicalResult verifyStaging(Operation *op, Value inRegisters,
                                   Value inLds) {
  if (!getCheckedLayout(op, inRegisters, "a tile in registers"))
    return failure();
  auto type = cast<RankedTensorType>(inRegisters.getType());
  auto staged = cast<RankedTensorType>(inLds.getType());
  if (staged.getShape() != type.getShape() ||
      staged.getElementType() != type.getElementType())
    return op->emitOpError("expected the same shape and elements, got ")
           << type << " and " << staged;
  auto layout = dyn_cast_or_null<LdsLayoutAttr>(staged.getEncoding());
  if (!layout || layout.getContiguous() >= staged.getRank())
    return op->emitOpError("expected a staged tile with a "
                           "#wavesmith.lds_layout of its rank, got ")
           << staged;
  if (type.getElementType().isInteger(1))
    return op->emitOpError("cannot stage bits, got ") << type;
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  int64_t rowBytes = type.getDimSize(layout.getContiguous()) * bits / 8;
  int64_t groups = int64_t(1) << layout.getSwizzle().size();
  if (groups > 1 && rowBytes % (16 * groups) != 0)
    return op->emitOpError("expected rows of a multiple of ")
           << 16 * groups << " bytes for a swizzle of "
           << layout.getSwizzle().size() << " bits, got " << rowBytes;
  return success();
}

LogicalResult StageTileOp::verify() {
  return verifyStaging(*this, getSource(), getResult());
}

LogicalResult ReadTileOp::verify() {
  return verifyStaging(*this, getResult(), getSource());
}

//===----------------------------------------------------------------------===//
// Dot
//===----------------------------------------------------------------------===//

int64_t DotOp::getNumbersPerLane() {
  unsigned bits =
      getElementTypeOrSelf(getLhs().getType()).getIntOrFloatBitWidth();
  return bits == 32 ? 1 : bits == 16 ? 4 : 8;
}

int64_t DotOp::getNumInstructions() {
  auto type = cast<RankedTensorType>(getLhs().getType());
  int64_t lanesAlongK = 64 / getInstructionSize();
  return type.getDimSize(1) / (getNumbersPerLane() * lanesAlongK);
}

int64_t DotOp::getInstructionSize() {
  auto layout = cast<LayoutAttr>(getAccumulator().getType().getEncoding());
  SmallVector<Entry> registers = layout.getRegisterEntries();
  SmallVector<Entry> lanes = layout.getLaneEntries();
  auto leads = [](ArrayRef<Entry> entries, int64_t dimension) {
    return llvm::all_of(entries, [&](const Entry &entry) {
      return entry.step != 0 && entry.dimension == dimension;
    });
  };
  ArrayRef<Entry> all(lanes);
  if (registers.size() == 4 && leads(registers, 0) &&
      leads(all.take_front(5), 1) && leads(all.drop_front(5), 0))
    return 32;
  if (registers.size() == 2 && leads(registers, 0) &&
      leads(all.take_front(4), 1) && leads(all.drop_front(4), 0))
    return 16;
  return 0;
}

LogicalResult DotOp::verify() {
  LayoutAttr a = getCheckedLayout(*this, getLhs(), "lhs");
  LayoutAttr b = a ? getCheckedLayout(*this, getRhs(), "rhs") : a;
  LayoutAttr d =
      b ? getCheckedLayout(*this, getAccumulator(), "an accumulator") : b;
  if (!d)
    return failure();
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto sum = cast<RankedTensorType>(getAccumulator().getType());
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || sum.getRank() != 2 ||
      lhs.getDimSize(1) != rhs.getDimSize(0) ||
      lhs.getDimSize(0) != sum.getDimSize(0) ||
      rhs.getDimSize(1) != sum.getDimSize(1))
    return emitOpError("expected lhs of M x K, rhs of K x N and an accumulator "
                       "of M x N, got ")
           << lhs << ", " << rhs << " and " << sum;
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError("expected lhs and rhs of the same elements, got ")
           << lhs.getElementType() << " and " << rhs.getElementType();
  if (!sum.getElementType().isF32())
    return emitOpError("expected an accumulator of f32, got ")
           << sum.getElementType();

  int64_t size = getInstructionSize();
  if (size == 0)
    return emitOpError("expected an accumulator in the layout of a 32x32 or "
                       "16x16 matrix instruction, got ")
           << d;
  SmallVector<Entry> dr = d.getRegisterEntries(), dl = d.getLaneEntries();
  SmallVector<Entry> wantedRows =
      size == 32 ? SmallVector<Entry>{dr[0], dr[1], dl[5], dr[2], dr[3]}
                 : SmallVector<Entry>{dr[0], dr[1], dl[4], dl[5]};
  SmallVector<Entry> al = a.getLaneEntries(), bl = b.getLaneEntries();
  size_t rowBits = wantedRows.size();
  for (size_t bit = 0; bit < rowBits; ++bit) {
    if (!(al[bit] == wantedRows[bit]))
      return emitOpError("expected lane entry ")
             << bit << " of lhs to lead to row " << wantedRows[bit].step
             << " as the accumulator does, got " << a;
    if (!(bl[bit] == dl[bit]))
      return emitOpError("expected lane entry ")
             << bit << " of rhs to lead to column " << dl[bit].step
             << " as the accumulator does, got " << b;
  }
  auto sameK = [](const Entry &inA, const Entry &inB) {
    return inA.step != 0 && inA.dimension == 1 && inB.dimension == 0 &&
           inA.step == inB.step;
  };
  for (size_t bit = rowBits; bit < al.size(); ++bit)
    if (!sameK(al[bit], bl[bit]))
      return emitOpError("expected lane entry ")
             << bit << " of lhs and rhs to lead to the same place along K, got "
             << a << " and " << b;
  size_t kBits = llvm::Log2_64(getNumbersPerLane());
  SmallVector<Entry> ar = a.getRegisterEntries(), br = b.getRegisterEntries();
  if (ar.size() < kBits || br.size() < kBits)
    return emitOpError("expected lhs and rhs with at least ")
           << getNumbersPerLane() << " elements in a fragment, got "
           << a.getFragmentSize() << " and " << b.getFragmentSize();
  for (size_t bit = 0; bit < kBits; ++bit)
    if (!sameK(ar[bit], br[bit]))
      return emitOpError("expected register entry ")
             << bit << " of lhs and rhs to lead to the same place along K, got "
             << a << " and " << b;
  for (auto [bit, entries] : llvm::enumerate(llvm::zip_equal(
           d.getWaveEntries(), a.getWaveEntries(), b.getWaveEntries()))) {
    auto [ofD, ofA, ofB] = entries;
    Entry nowhere{0, 0};
    bool alongM = ofD.step != 0 && ofD.dimension == 0;
    bool alongN = ofD.step != 0 && ofD.dimension == 1;
    if (!(ofA == (alongM ? ofD : nowhere)) ||
        !(ofB == (alongN ? ofD : nowhere)))
      return emitOpError("expected wave entry ")
             << bit << " of lhs and rhs to lead where the accumulator's does, "
             << "or nowhere, got " << a << ", " << b << " and " << d;
  }
  // What waves of D cover must not be repeated by A or B with another meaning:
  // positions of M and N lie the same way in all, which the entries above and
  // the extents say.
  if (a.getExtents()[0] % d.getExtents()[0] != 0 &&
      d.getExtents()[0] % a.getExtents()[0] != 0)
    return emitOpError("expected extents along M that divide each other");
  int64_t partialSums = getPartialSums();
  if (partialSums < 1 || !llvm::isPowerOf2_64(partialSums) ||
      getNumInstructions() % partialSums != 0)
    return emitOpError("expected partial_sums to be a power of two that "
                       "divides the instructions along K, ")
           << getNumInstructions() << ", got " << partialSums;
  return success();
}

//===----------------------------------------------------------------------===//
// Rank changes
//===----------------------------------------------------------------------===//

/// Checks a tile of rank 2 and what is left of it without a dimension.
static LogicalResult verifySlice(Operation *op, Value tile, Value slice,
                                 int64_t dimension) {
  LayoutAttr layout = getCheckedLayout(op, tile, "a tile");
  if (!layout || !getCheckedLayout(op, slice, "a tile"))
    return failure();
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getRank() != 2 || dimension < 0 || dimension > 1)
    return op->emitOpError("expected dimension 0 or 1 of a tile of rank 2, got "
                           "dimension ")
           << dimension << " of " << type;
  auto wanted = RankedTensorType::get({type.getDimSize(1 - dimension)},
                                      type.getElementType(),
                                      layout.withoutDimension(dimension));
  if (slice.getType() != wanted)
    return op->emitOpError("expected ")
           << wanted << " for dimension " << dimension << " of " << type
           << ", got " << slice.getType();
  return success();
}

LogicalResult ReduceTileOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (cast<RankedTensorType>(getResult().getType()).getRank() == 1) {
    if (failed(verifySlice(*this, getSource(), getResult(), getDimension())))
      return failure();
  } else {
    LayoutAttr layout = getCheckedLayout(*this, getSource(), "a tile");
    if (!layout)
      return failure();
    int64_t dimension = getDimension();
    if (type.getRank() != 2 || dimension < 0 || dimension > 1)
      return emitOpError("expected dimension 0 or 1 of a tile of rank 2, got "
                         "dimension ")
             << dimension << " of " << type;
    LayoutAttr left = layout.withLanesOf(dimension);
    SmallVector<int64_t> shape(type.getShape());
    shape[dimension] = left.getExtents()[dimension];
    auto wanted = RankedTensorType::get(shape, type.getElementType(), left);
    if (getResult().getType() != wanted)
      return emitOpError("expected ")
             << wanted << " for what the lanes along dimension " << dimension
             << " of " << type << " hold, got " << getResult().getType();
  }
  for (const Entry &entry :
       cast<LayoutAttr>(type.getEncoding()).getWaveEntries())
    if (entry.step != 0 && entry.dimension == int64_t(getDimension()))
      return emitOpError(
                 "expected wavefronts that do not lead along dimension ")
             << getDimension() << ", got " << type;
  return success();
}

LogicalResult ReduceTileOp::verifyRegions() {
  Type element = getElementTypeOrSelf(getSource().getType());
  Block &body = getCombine().front();
  if (body.getNumArguments() != 2 || body.getArgument(0).getType() != element ||
      body.getArgument(1).getType() != element)
    return emitOpError("expected a region with two arguments of type ")
           << element;
  if (body.getTerminator()->getOperandTypes() != TypeRange(element))
    return emitOpError("expected a region that yields one ") << element;
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions() != 0 || !isPure(&op))
      return op.emitOpError("not supported in a reduction of a tile");
  return success();
}

LogicalResult AnyTileOp::verify() {
  if (!getCheckedLayout(*this, getSource(), "a tile"))
    return failure();
  if (!getElementTypeOrSelf(getSource().getType()).isInteger(1))
    return emitOpError("expected a tile of i1, got ") << getSource().getType();
  return success();
}

LogicalResult BroadcastTileOp::verify() {
  return verifySlice(*this, getResult(), getSource(), getDimension());
}

LogicalResult TilePositionOp::verify() {
  if (!getCheckedLayout(*this, getResult(), "a tile"))
    return failure();
  auto type = cast<RankedTensorType>(getResult().getType());
  if (!type.getElementType().isInteger(32))
    return emitOpError("expected a tile of i32, got ") << type;
  if (int64_t(getDimension()) < 0 || int64_t(getDimension()) >= type.getRank())
    return emitOpError("expected a dimension of ")
           << type << ", got " << getDimension();
  return success();
}
