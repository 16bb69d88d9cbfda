//===- InterleaveProducts.cpp - Other work between products ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "llvm/ADT/BitVector.h"
#include <functional>

namespace wavesmith {
#define GEN_PASS_DEF_INTERLEAVEPRODUCTSPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// Fewer products than these hide nothing.
static constexpr size_t kLeastProducts = 8;
/// With less vector work for each, in half instructions, there is nothing to
/// spread: LLVM's order is better for a plain matrix product.
static constexpr int64_t kLeastWork = 2;
/// So many products lie between a load from LDS and the one that needs it.
static constexpr int64_t kLoadAhead = 4;
/// So many between the last load before a barrier and the barrier, which waits
/// for it.
static constexpr int64_t kBarrierBehindLoads = 2;
/// So many until the result of one is there.
static constexpr int64_t kProductLatency = 3;

namespace {

/// One stretch of operations of a block, in a new order.
class Stretch {
public:
  explicit Stretch(ArrayRef<Operation *> operations);

  bool isWorthwhile() const {
    int64_t cost = 0;
    for (const Node &node : nodes)
      cost += node.cost;
    return products.size() >= kLeastProducts &&
           cost >= kLeastWork * int64_t(products.size());
  }
  /// Moves all operations before `end`, in the new order.
  void reorder(Operation *end);

private:
  struct Node {
    Operation *op;
    /// What has to stand before it, in this stretch.
    SmallVector<size_t, 4> needs;
    /// Which of them because of memory.
    SmallVector<size_t, 4> memoryNeeds;
    SmallVector<size_t, 4> users;
    /// Time on the vector unit, in half instructions.
    int64_t cost = 0;
    bool isLoad = false, isDone = false;
    /// The product behind which a result that it needs is there.
    int64_t readyAt = 0;
    /// Whether it is done with what a load from LDS brought.
    bool isOfLoad = false;
  };
  void addMemoryOrder();
  /// Sets which product a load from LDS has to stand before.
  void findSlots();
  /// Writes down a node, behind all that it needs.
  void emit(size_t number);
  /// Keeps LLVM from computing elsewhere what later blocks use.
  void pinResults(OpBuilder &builder);
  bool hasAll(ArrayRef<size_t> numbers) const {
    return llvm::all_of(numbers, [&](size_t n) { return nodes[n].isDone; });
  }

  SmallVector<Node> nodes;
  /// Products, loads from LDS, and what else reaches memory.
  SmallVector<size_t> products, loads, others;
  /// By node.
  SmallVector<int64_t> slots;
  /// Vector work in the order in which products need it.
  SmallVector<size_t> work;
  SmallVector<Operation *> order;
  int64_t workDone = 0;
};

class InterleaveProductsPass
    : public wavesmith::impl::InterleaveProductsPassBase<
          InterleaveProductsPass> {
public:
  void runOnOperation() override;
};

} // namespace

/// The time that an operation takes the vector unit, in half instructions:
/// pairs of integer operations often become one instruction.
static int64_t costOf(Operation *op) {
  if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  int64_t count = vector ? vector.getNumElements() : 1;
  if (isa<ROCDL::ROCDLExp2, ROCDL::ROCDLLog, math::Exp2Op, math::Log2Op>(op))
    return 8 * count;
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<arith::BitcastOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return 0;
  return isa<FloatType>(getElementTypeOrSelf(type)) ? 2 * count : count;
}

/// Memory in LDS that an operation loads from or stores to.
static Value getLds(Operation *op) {
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return load.getBase();
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getBase();
  return {};
}

Stretch::Stretch(ArrayRef<Operation *> operations) {
  llvm::DenseMap<Operation *, size_t> numbers;
  // What is the same in every iteration is computed before the loop.
  llvm::DenseSet<Operation *> varies;
  for (Operation *op : operations) {
    Node node;
    node.op = op;
    bool isFree = isMemoryEffectFree(op);
    node.isLoad = isa<vector::LoadOp>(op);
    bool changes = !isFree || node.isLoad;
    size_t number = nodes.size();
    for (Value operand : op->getOperands()) {
      if (isa<BlockArgument>(operand))
        changes |= operand.getParentBlock() == op->getBlock();
      Operation *from = operand.getDefiningOp();
      if (!from || from->getBlock() != op->getBlock())
        continue;
      auto found = numbers.find(from);
      if (found == numbers.end()) {
        changes = true;
        continue;
      }
      changes |= varies.contains(from);
      Node &source = nodes[found->second];
      node.needs.push_back(found->second);
      source.users.push_back(number);
      if (isa<amdgpu::MFMAOp>(from)) {
        int64_t product =
            llvm::find(products, found->second) - products.begin();
        node.readyAt = std::max(node.readyAt, product + kProductLatency);
        continue;
      }
      node.readyAt = std::max(node.readyAt, source.readyAt);
      node.isOfLoad |= source.isOfLoad || source.isLoad;
    }
    if (changes)
      varies.insert(op);
    if (isa<amdgpu::MFMAOp>(op))
      products.push_back(number);
    else if (node.isLoad)
      loads.push_back(number);
    else if (!isFree)
      others.push_back(number);
    else if (changes)
      node.cost = costOf(op);
    numbers[op] = number;
    nodes.push_back(std::move(node));
  }
  addMemoryOrder();
}

void Stretch::addMemoryOrder() {
  std::optional<size_t> lastBarrier, lastOther;
  SmallVector<size_t> sinceBarrier;
  for (size_t number = 0; number < nodes.size(); ++number) {
    Node &node = nodes[number];
    auto after = [&](size_t other) { node.memoryNeeds.push_back(other); };
    Value memory = getLds(node.op);
    bool isBarrier = isa<amdgpu::LDSBarrierOp>(node.op);
    if (!node.isLoad && !llvm::is_contained(others, number))
      continue;
    if (memory) {
      if (lastBarrier)
        after(*lastBarrier);
      for (size_t other : sinceBarrier)
        if (getLds(nodes[other].op) == memory &&
            !(node.isLoad && nodes[other].isLoad))
          after(other);
      sinceBarrier.push_back(number);
    } else if (isBarrier) {
      for (size_t other : sinceBarrier)
        after(other);
      sinceBarrier.clear();
      if (lastBarrier)
        after(*lastBarrier);
      lastBarrier = number;
    }
    if (!node.isLoad) {
      if (lastOther)
        after(*lastOther);
      lastOther = number;
    }
    llvm::append_range(node.needs, node.memoryNeeds);
  }
}

void Stretch::findSlots() {
  int64_t never = products.size();
  slots.assign(nodes.size(), never);
  // From the products backwards to the loads that they need.
  for (auto [order, product] : llvm::enumerate(products))
    slots[product] = order;
  for (size_t number = nodes.size(); number-- > 0;) {
    Node &node = nodes[number];
    int64_t needed = never;
    for (size_t user : node.users)
      if (!nodes[user].isLoad)
        needed = std::min(needed, slots[user]);
    if (node.isLoad)
      needed -= kLoadAhead;
    slots[number] = std::min(slots[number], needed);
    // Loads behind a barrier need what is before it.
    for (size_t before : node.memoryNeeds) {
      int64_t distance =
          isa<amdgpu::LDSBarrierOp>(node.op) ? kBarrierBehindLoads : 0;
      slots[before] = std::min(slots[before], slots[number] - distance);
    }
  }
}

void Stretch::emit(size_t number) {
  Node &node = nodes[number];
  if (node.isDone)
    return;
  for (size_t before : node.needs)
    emit(before);
  node.isDone = true;
  order.push_back(node.op);
  workDone += node.cost;
  if (isa<amdgpu::MFMAOp>(node.op))
    order.push_back(nullptr); // a barrier of the scheduler
}

void Stretch::pinResults(OpBuilder &builder) {
  for (size_t number : work) {
    Operation *op = nodes[number].op;
    if (op->getNumResults() != 1)
      continue;
    Value result = op->getResult(0);
    Type type = result.getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isF32() ||
        (vector && vector.getNumElements() != 1) ||
        !llvm::any_of(result.getUsers(), [&](Operation *user) {
          return user->getBlock() != op->getBlock();
        }))
      continue;
    Location loc = op->getLoc();
    Value scalar =
        vector ? vector::ExtractOp::create(builder, loc, result, 0).getResult()
               : result;
    LLVM::InlineAsmOp::create(
        builder, loc, TypeRange(), scalar, "", "v", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  }
}

void Stretch::reorder(Operation *end) {
  findSlots();
  // Vector work by the product that needs it first; what none needs follows
  // what it is made of. And how much of it has to be done before each product.
  SmallVector<int64_t> wanted;
  {
    llvm::BitVector isListed(nodes.size());
    auto isWork = [&](size_t number) {
      return !nodes[number].isLoad && !nodes[number].isOfLoad &&
             !isa<amdgpu::MFMAOp>(nodes[number].op) &&
             isMemoryEffectFree(nodes[number].op);
    };
    std::function<void(size_t)> list = [&](size_t number) {
      if (isListed[number] || !isWork(number))
        return;
      for (size_t before : nodes[number].needs)
        list(before);
      isListed.set(number);
      work.push_back(number);
      for (size_t user : nodes[number].users)
        if (slots[user] == int64_t(products.size()) &&
            llvm::all_of(nodes[user].needs,
                         [&](size_t n) { return isListed[n]; }))
          list(user);
    };
    int64_t sum = 0;
    size_t counted = 0;
    auto count = [&] {
      for (; counted < work.size(); ++counted)
        sum += nodes[work[counted]].cost;
      wanted.push_back(sum);
    };
    for (size_t product : products) {
      for (size_t before : nodes[product].needs)
        list(before);
      count();
    }
    for (size_t number = 0; number < nodes.size(); ++number)
      if (nodes[number].cost > 0)
        list(number);
    count();
  }
  llvm::sort(loads, [&](size_t a, size_t b) {
    return std::pair(slots[a], a) < std::pair(slots[b], b);
  });
  size_t nextLoad = 0, nextWork = 0, nextOther = 0;
  int64_t lastLoad = 0;
  for (auto [i, product] : llvm::enumerate(products)) {
    for (; nextLoad < loads.size() && slots[loads[nextLoad]] <= int64_t(i);
         ++nextLoad) {
      emit(loads[nextLoad]);
      lastLoad = i;
    }
    // Stores and loads of other memory as soon as they may be; barriers when
    // the loads before them have had time.
    for (; nextOther < others.size(); ++nextOther) {
      const Node &other = nodes[others[nextOther]];
      if (!hasAll(other.memoryNeeds) ||
          (isa<amdgpu::LDSBarrierOp>(other.op) &&
           int64_t(i) < lastLoad + kBarrierBehindLoads))
        break;
      emit(others[nextOther]);
    }
    // As much as keeps the rest even, whichever product sets the pace.
    int64_t share = 0;
    for (int64_t j = i; j < int64_t(wanted.size()); ++j)
      share = std::max(share, (wanted[j] - workDone) / (j - int64_t(i) + 1));
    for (int64_t end = workDone + share;
         nextWork < work.size() && workDone < end &&
         nodes[work[nextWork]].readyAt <= int64_t(i);
         ++nextWork)
      emit(work[nextWork]);
    emit(product);
  }
  for (size_t number = 0; number < nodes.size(); ++number)
    emit(number);
  OpBuilder builder(end);
  for (Operation *op : order)
    if (op)
      op->moveBefore(end);
    else
      ROCDL::SchedBarrier::create(builder, end->getLoc(), 0);
  pinResults(builder);
}

void InterleaveProductsPass::runOnOperation() {
  SmallVector<Block *> blocks;
  getOperation().walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks) {
    SmallVector<Operation *> stretch;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      bool isEnd = op.getNumRegions() != 0 ||
                   isa<ROCDL::SetPrioOp, ROCDL::SchedBarrier>(op) ||
                   op.hasTrait<OpTrait::IsTerminator>();
      if (!isEnd) {
        stretch.push_back(&op);
        continue;
      }
      if (stretch.size() >= kLeastProducts)
        if (Stretch ordered(stretch); ordered.isWorthwhile())
          ordered.reorder(&op);
      stretch.clear();
    }
  }
}
