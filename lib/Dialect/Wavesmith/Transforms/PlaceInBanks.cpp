//===- PlaceInBanks.cpp - Elements against conflicts of LDS banks ---------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LDS serves so many lanes at a time as fill its banks once. A cell is what one
// such group of lanes reads by one instruction; it takes as many turns as its
// fullest bank has addresses. Which elements meet in a cell depends on two
// things that may be chosen: the order of a segment's elements, which says at
// what lane and time each is read, and the order of the elements that the loop
// computes and stages, which says in what bank each stands. A search by
// exchanges of two elements, always the same for the same input, lowers the sum
// of the turns of all cells.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SegmentPlacement.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_PLACEINBANKSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

//===----------------------------------------------------------------------===//
// Tensors in another order
//===----------------------------------------------------------------------===//

/// The numbers of a table, also where they are widened or staged.
static TableOp findTable(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto wide = dyn_cast_or_null<arith::ExtUIOp>(op))
    return findTable(wide.getIn());
  if (auto stage = dyn_cast_or_null<StageOp>(op))
    return findTable(stage.getSource());
  return dyn_cast_or_null<TableOp>(op);
}

static SmallVector<int32_t> numbersOf(TableOp table) {
  return llvm::map_to_vector(
      cast<DenseElementsAttr>(table.getValue()).getValues<APInt>(),
      [](const APInt &number) { return int32_t(number.getZExtValue()); });
}

/// The numbers of a table in place of others, in the same types and places.
static Value withNumbers(Value tensor, ArrayRef<int32_t> numbers) {
  Operation *op = tensor.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (auto table = dyn_cast<TableOp>(op)) {
    auto type = cast<ShapedType>(tensor.getType());
    unsigned bits = type.getElementTypeBitWidth();
    auto values = llvm::map_to_vector(
        numbers, [&](int32_t number) { return APInt(bits, number); });
    return TableOp::create(builder, op->getLoc(), type,
                           DenseElementsAttr::get(type, ArrayRef(values)));
  }
  Operation *clone = builder.clone(*op);
  clone->setOperand(0, withNumbers(op->getOperand(0), numbers));
  return clone->getResult(0);
}

/// Whether `reordered` can write a tensor.
static bool canReorder(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || cast<RankedTensorType>(tensor.getType()).getEncoding())
    return false;
  if (isa<TableOp, tensor::SplatOp>(op) ||
      (isa<arith::ConstantOp>(op) &&
       isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue())))
    return true;
  if (auto stage = dyn_cast<StageOp>(op))
    return stage.getSpace() != MemorySpace::Registers ||
           canReorder(stage.getSource());
  if (auto gather = dyn_cast<GatherOp>(op))
    return canReorder(gather.getIndices());
  return isElementwise(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return !isa<TensorType>(operand.getType()) || canReorder(operand);
         });
}

/// A tensor whose element i is element order[i] of the given one.
static Value reordered(Value tensor, ArrayRef<int32_t> order) {
  Operation *op = tensor.getDefiningOp();
  Location loc = op->getLoc();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (isa<arith::ConstantOp, tensor::SplatOp>(op))
    return tensor;
  if (auto table = dyn_cast<TableOp>(op)) {
    auto values = llvm::to_vector(
        cast<DenseElementsAttr>(table.getValue()).getValues<Attribute>());
    auto own = llvm::map_to_vector(order, [&](int32_t i) { return values[i]; });
    return TableOp::create(
        builder, loc, tensor.getType(),
        DenseElementsAttr::get(cast<ShapedType>(tensor.getType()), own));
  }
  auto stage = dyn_cast<StageOp>(op);
  if (stage && stage.getSpace() != MemorySpace::Registers) {
    auto type =
        RankedTensorType::get({int64_t(order.size())}, builder.getI32Type());
    Value at = TableOp::create(builder, loc, type,
                               DenseElementsAttr::get(type, order));
    return GatherOp::create(builder, loc, tensor.getType(), tensor, at);
  }
  auto gather = dyn_cast<GatherOp>(op);
  Operation *clone = op->clone();
  for (OpOperand &operand : clone->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType()) ||
        (gather && operand.get() == gather.getSource()))
      continue;
    operand.set(reordered(operand.get(), order));
  }
  builder.setInsertionPointAfter(op);
  builder.insert(clone);
  return clone->getResult(0);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

/// Numbers that look random and are the same in every run (Knuth's MMIX).
class Random {
public:
  uint32_t below(uint32_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t((state >> 33) % limit);
  }

private:
  uint64_t state = 1;
};

/// A reduction whose threads read elements of a stage.
struct Reader {
  SegmentedReduceOp op;
  /// The elements as they stand in the stage, by the reduction's order.
  SmallVector<int32_t> from;
  bool mayReorder = false;
  /// The new order: the old element at each place of it.
  SmallVector<int32_t> order;
};

/// Elements that one operation of the loop computes and that stand together in
/// a stage.
struct Part {
  Value tensor;
  int32_t first = 0, count = 0;
  bool mayReorder = false;
  /// What the part's own elements are read from, each by a table.
  SmallVector<SmallVector<int32_t>> leaves;
};

class Search {
public:
  Search(StageOp stage, int64_t threads, unsigned lanes)
      : stage(stage), threads(threads), lanes(lanes) {}

  /// Finds what reads the stage and what it is computed from; false if there is
  /// nothing to choose.
  bool analyse();
  void run();
  void apply();
  /// Turns of all cells, as they are now.
  int64_t cost() const;
  int64_t numCells() const { return cells.size(); }
  StageOp getStage() const { return stage; }

private:
  /// One lane's read.
  struct Place {
    /// The reader and its place in the order, or a part's leaf and the
    /// element's position.
    bool isReader;
    uint32_t owner, leaf, at;
  };
  using Cell = SmallVector<Place, 16>;

  unsigned addCell() {
    cells.emplace_back();
    return cells.size() - 1;
  }
  int32_t addressOf(const Place &place) const {
    if (place.isReader) {
      const Reader &reader = readers[place.owner];
      return position[reader.from[reader.order[place.at]]];
    }
    const Part &part = parts[place.owner];
    return part.leaves[place.leaf][elementAt[place.at] - part.first];
  }
  /// The turns that a cell takes, and the pairs of different addresses in the
  /// same bank: what the search lowers, since one exchange always shows in it.
  std::pair<int, int> conflicts(const Cell &cell) const;
  int turns(const Cell &cell) const { return conflicts(cell).first; }
  int pairs(ArrayRef<unsigned> list) const {
    int sum = 0;
    for (unsigned cell : list)
      sum += conflicts(cells[cell]).second;
    return sum;
  }
  bool exchangeInSegment(unsigned reader, uint32_t at);
  bool exchangeInStage(int32_t element);
  void collectCellsOf(int32_t element, SmallVectorImpl<unsigned> &list) const;

  StageOp stage;
  int64_t threads;
  unsigned lanes;
  std::vector<Reader> readers;
  std::vector<Part> parts;
  std::vector<Cell> cells;
  /// For each reader, the cell of each place of its order, and the segment.
  std::vector<SmallVector<unsigned>> cellOfPlace;
  std::vector<SmallVector<int32_t>> segmentOfPlace;
  /// Where each element of the stage stands, and which stands there.
  SmallVector<int32_t> position, elementAt;
  /// The cells in which the part's leaves are read for each position.
  std::vector<SmallVector<unsigned, 4>> leafCells;
  /// The places that read each element: reader and old element.
  std::vector<SmallVector<std::pair<uint32_t, int32_t>>> reads;
  /// The place of each old element in the order, for each reader.
  std::vector<SmallVector<uint32_t>> placeOf;
  SmallVector<int32_t> partOf;
  Random random;
};

class PlaceInBanksPass
    : public wavesmith::impl::PlaceInBanksPassBase<PlaceInBanksPass> {
public:
  void runOnOperation() override;
};

} // namespace

std::pair<int, int> Search::conflicts(const Cell &cell) const {
  // A bank that gives the same address to several lanes does so in one turn.
  int32_t addresses[64][4];
  uint8_t counts[64] = {};
  SmallVector<int32_t, 16> crowded;
  int most = 0, pairs = 0;
  for (const Place &place : cell) {
    int32_t address = addressOf(place);
    unsigned bank = unsigned(address) % lanes;
    uint8_t stored = std::min<uint8_t>(counts[bank], 4);
    if (llvm::is_contained(ArrayRef(addresses[bank], stored), address))
      continue;
    if (counts[bank] >= 4) {
      if (llvm::is_contained(crowded, address))
        continue;
      crowded.push_back(address);
    } else {
      addresses[bank][counts[bank]] = address;
    }
    pairs += counts[bank];
    most = std::max<int>(most, ++counts[bank]);
  }
  return {most, pairs};
}

int64_t Search::cost() const {
  int64_t sum = 0;
  for (const Cell &cell : cells)
    sum += turns(cell);
  return sum;
}

bool Search::analyse() {
  Operation *loop = loopAround(stage);
  if (!loop)
    return false;
  int32_t count = numElements(stage.getResult());
  // Readers: all that read the stage, by tables.
  bool allByTables = true, isTwice = false;
  for (Operation *user : stage->getUsers()) {
    auto gather = dyn_cast<GatherOp>(user);
    TableOp table = gather ? findTable(gather.getIndices()) : TableOp();
    if (!table || gather.getSource() != stage.getResult()) {
      allByTables = false;
      continue;
    }
    for (Operation *reduce : gather->getUsers()) {
      auto op = dyn_cast<SegmentedReduceOp>(reduce);
      if (!op || !op.getResident() || loopAround(op) != loop)
        continue;
      Reader &reader = readers.emplace_back();
      reader.op = op;
      // Two orders for the same reduction would have to agree.
      for (Reader &other : MutableArrayRef(readers).drop_back())
        isTwice |= other.op == op;
      reader.from = numbersOf(table);
      reader.order =
          llvm::to_vector(llvm::seq<int32_t>(0, int32_t(reader.from.size())));
      reader.mayReorder = llvm::all_of(op.getElements(), canReorder);
    }
  }
  if (readers.empty())
    return false;
  if (isTwice)
    for (Reader &reader : readers)
      reader.mayReorder = false;
  position = llvm::to_vector(llvm::seq<int32_t>(0, count));
  elementAt = position;
  partOf.assign(count, -1);
  leafCells.resize(count);
  reads.resize(count);
  for (auto [r, reader] : llvm::enumerate(readers)) {
    size_t numElements = reader.from.size();
    cellOfPlace.emplace_back(numElements, ~0u);
    segmentOfPlace.emplace_back(numElements, -1);
    placeOf.emplace_back(numElements, 0u);
    for (size_t e = 0; e < numElements; ++e) {
      placeOf[r][e] = e;
      reads[reader.from[e]].push_back({uint32_t(r), int32_t(e)});
    }
    for (const PlacementRound &round : placeSegments(reader.op, threads))
      for (int64_t first = 0; first < threads; first += lanes) {
        auto group = ArrayRef(round).slice(
            first, std::min<int64_t>(lanes, threads - first));
        int32_t most = 0;
        for (const SegmentPart &part : group)
          most = std::max(most, part.count);
        for (int32_t k = 0; k < most; ++k) {
          unsigned cell = addCell();
          for (const SegmentPart &part : group) {
            if (k >= part.count)
              continue;
            uint32_t at = part.begin + k * part.stride;
            cells[cell].push_back({true, uint32_t(r), 0, at});
            cellOfPlace[r][at] = cell;
            segmentOfPlace[r][at] = part.segment;
          }
        }
      }
  }
  // What stands in the stage.
  SmallVector<Value> tensors = {stage.getSource()};
  if (auto concat = stage.getSource().getDefiningOp<tensor::ConcatOp>())
    tensors = llvm::to_vector(concat.getInputs());
  int32_t first = 0;
  for (Value tensor : tensors) {
    Part &part = parts.emplace_back();
    part.tensor = tensor;
    part.first = first;
    part.count = numElements(tensor);
    Operation *op = tensor.getDefiningOp();
    part.mayReorder = allByTables && op && op->hasOneUse() &&
                      loopAround(op) == loop && canReorder(tensor) &&
                      !isa<StageOp>(op);
    uint32_t number = parts.size() - 1;
    for (int32_t e = first; e < first + part.count; ++e)
      partOf[e] = number;
    first += part.count;
    if (!part.mayReorder)
      continue;
    SmallVector<Value> worklist = {tensor};
    while (!worklist.empty()) {
      Operation *leaf = worklist.pop_back_val().getDefiningOp();
      if (auto gather = dyn_cast<GatherOp>(leaf)) {
        auto source = gather.getSource().getDefiningOp<StageOp>();
        TableOp table = findTable(gather.getIndices());
        if (source && table && source.getSpace() == MemorySpace::LDS)
          part.leaves.push_back(numbersOf(table));
      } else if (isElementwise(leaf)) {
        for (Value operand : leaf->getOperands())
          if (isa<TensorType>(operand.getType()))
            worklist.push_back(operand);
      }
    }
    for (uint32_t leaf = 0; leaf < part.leaves.size(); ++leaf)
      for (int32_t e = 0; e < part.count; e += lanes) {
        unsigned cell = addCell();
        for (int32_t i = e; i < std::min<int32_t>(e + lanes, part.count); ++i) {
          cells[cell].push_back(
              {false, number, leaf, uint32_t(part.first + i)});
          leafCells[part.first + i].push_back(cell);
        }
      }
  }
  return llvm::any_of(readers,
                      [](auto &reader) { return reader.mayReorder; }) ||
         llvm::any_of(parts, [](auto &part) { return part.mayReorder; });
}

/// Exchanges two elements of a segment, if that costs no more; says whether it
/// has.
bool Search::exchangeInSegment(unsigned number, uint32_t at) {
  Reader &reader = readers[number];
  int32_t segment = segmentOfPlace[number][at];
  ArrayRef<int32_t> segments = reader.op.getSegments();
  uint32_t begin = segments[segment], size = segments[segment + 1] - begin;
  if (size < 2 || !reader.mayReorder)
    return false;
  uint32_t other = begin + random.below(size);
  unsigned a = cellOfPlace[number][at], b = cellOfPlace[number][other];
  if (a == b)
    return false;
  auto exchange = [&] {
    std::swap(reader.order[at], reader.order[other]);
    placeOf[number][reader.order[at]] = at;
    placeOf[number][reader.order[other]] = other;
  };
  int before = pairs({a, b});
  exchange();
  if (pairs({a, b}) <= before)
    return true;
  exchange();
  return false;
}

void Search::collectCellsOf(int32_t element,
                            SmallVectorImpl<unsigned> &list) const {
  for (auto [reader, old] : reads[element])
    list.push_back(cellOfPlace[reader][placeOf[reader][old]]);
  llvm::append_range(list, leafCells[position[element]]);
}

/// The same for two elements of a part.
bool Search::exchangeInStage(int32_t element) {
  const Part &part = parts[partOf[element]];
  if (!part.mayReorder || part.count < 2)
    return false;
  int32_t other = part.first + int32_t(random.below(part.count));
  if (other == element)
    return false;
  SmallVector<unsigned> list;
  collectCellsOf(element, list);
  collectCellsOf(other, list);
  llvm::sort(list);
  list.erase(llvm::unique(list), list.end());
  auto exchange = [&] {
    std::swap(position[element], position[other]);
    elementAt[position[element]] = element;
    elementAt[position[other]] = other;
  };
  int before = pairs(list);
  exchange();
  if (pairs(list) <= before)
    return true;
  exchange();
  return false;
}

void Search::run() {
  // Enough for some thousand elements to settle; well below a second.
  constexpr int kTries = 400000;
  SmallVector<unsigned> crowded;
  for (int i = 0; i < kTries; ++i) {
    // Only cells that take more than one turn are worth an exchange.
    if (i % 4096 == 0) {
      crowded.clear();
      for (auto [number, cell] : llvm::enumerate(cells))
        if (turns(cell) > 1)
          crowded.push_back(number);
      if (crowded.empty())
        return;
    }
    const Cell &cell = cells[crowded[random.below(crowded.size())]];
    const Place place = cell[random.below(cell.size())];
    if (place.isReader && random.below(4) != 0) {
      exchangeInSegment(place.owner, place.at);
      continue;
    }
    exchangeInStage(
        place.isReader
            ? readers[place.owner].from[readers[place.owner].order[place.at]]
            : elementAt[place.at]);
  }
}

void Search::apply() {
  // The parts: what stands at each position.
  for (Part &part : parts) {
    if (!part.mayReorder)
      continue;
    SmallVector<int32_t> order;
    for (int32_t i = 0; i < part.count; ++i)
      order.push_back(elementAt[part.first + i] - part.first);
    Operation *user = *part.tensor.getUsers().begin();
    user->replaceUsesOfWith(part.tensor, reordered(part.tensor, order));
  }
  // All tables that point into the stage.
  for (Operation *user : llvm::make_early_inc_range(stage->getUsers())) {
    auto gather = dyn_cast<GatherOp>(user);
    if (!gather || gather.getSource() != stage.getResult())
      continue;
    TableOp table = findTable(gather.getIndices());
    if (!table)
      continue;
    auto numbers = llvm::map_to_vector(
        numbersOf(table), [&](int32_t at) { return position[at]; });
    gather.getIndicesMutable().assign(
        withNumbers(gather.getIndices(), numbers));
  }
  for (Reader &reader : readers)
    if (reader.mayReorder)
      for (OpOperand &operand : reader.op.getElementsMutable())
        operand.set(reordered(operand.get(), reader.order));
}

void PlaceInBanksPass::runOnOperation() {
  FailureOr<const TargetInfo *> target = findTarget(getOperation());
  if (succeeded(target) && !*target)
    target = getOperation().emitError("expected a module with a target");
  if (failed(target))
    return signalPassFailure();
  for (WorkgroupOp workgroup : sharedZones(getOperation())) {
    int64_t threads = *workgroup.getThreadsPerZone();
    SmallVector<StageOp> stages;
    workgroup.walk([&](StageOp op) {
      if (op.getSpace() == MemorySpace::LDS)
        stages.push_back(op);
    });
    for (StageOp stage : stages) {
      unsigned bits = getElementTypeOrSelf(stage.getResult().getType())
                          .getIntOrFloatBitWidth();
      unsigned lanes = (*target)->ldsBanks * (*target)->ldsBankBytes * 8 / bits;
      // Zones that share a group of lanes have the same elements at other
      // addresses.
      if (bits < 32 || threads < int64_t(lanes) || lanes > 64)
        continue;
      Search search(stage, threads, lanes);
      if (!search.analyse())
        continue;
      int64_t before = search.cost();
      search.run();
      int64_t after = search.cost();
      if (after >= before)
        continue;
      search.apply();
      sayDone(stage, "place-in-banks",
              "read in " + llvm::Twine(after) + " turns of LDS, before " +
                  llvm::Twine(before) + "; " + llvm::Twine(search.numCells()) +
                  " without a conflict");
    }
    eraseUnused(workgroup);
  }
}
