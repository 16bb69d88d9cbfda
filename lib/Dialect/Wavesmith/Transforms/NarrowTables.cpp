//===- NarrowTables.cpp - Tables in few bits ------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_NARROWTABLESPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {
class NarrowTablesPass
    : public wavesmith::impl::NarrowTablesPassBase<NarrowTablesPass> {
public:
  void runOnOperation() override;
};
} // namespace

/// The numbers of a table if all are whole and from 0 to 65535.
static std::optional<SmallVector<uint64_t>> wholeNumbers(TableOp table) {
  auto dense = cast<DenseElementsAttr>(table.getValue());
  SmallVector<uint64_t> result;
  if (dense.getElementType().isInteger(32)) {
    for (const APInt &value : dense.getValues<APInt>())
      result.push_back(value.getZExtValue());
  } else if (dense.getElementType().isF64()) {
    for (double value : dense.getValues<double>()) {
      // Not -0.0 either.
      if (!(value >= 0 && value <= 65535) || value != uint64_t(value) ||
          std::signbit(value))
        return std::nullopt;
      result.push_back(uint64_t(value));
    }
  } else {
    return std::nullopt;
  }
  if (llvm::any_of(result, [](uint64_t value) { return value > 65535; }))
    return std::nullopt;
  return result;
}

void NarrowTablesPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation()))
    workgroup.walk([&](TableOp table) {
      std::optional<SmallVector<uint64_t>> numbers = wholeNumbers(table);
      // Read as a whole and not by a number at a time.
      if (!numbers || llvm::any_of(table->getUsers(), [](Operation *user) {
            return isa<ReplicateOp>(user);
          }))
        return;
      unsigned bits = *llvm::max_element(*numbers) > 255 ? 16 : 8;
      OpBuilder builder(table);
      Type wide = table.getResult().getType();
      auto type = RankedTensorType::get({int64_t(numbers->size())},
                                        builder.getIntegerType(bits));
      auto values = llvm::map_to_vector(
          *numbers, [&](uint64_t value) { return APInt(bits, value); });
      Location loc = table.getLoc();
      Value narrow = TableOp::create(
          builder, loc, type, DenseElementsAttr::get(type, ArrayRef(values)));
      Value widened;
      if (cast<ShapedType>(wide).getElementType().isF64())
        widened = arith::UIToFPOp::create(builder, loc, wide, narrow);
      else
        widened = arith::ExtUIOp::create(builder, loc, wide, narrow);
      sayDone(table, "narrow-tables", "narrowed to i" + llvm::Twine(bits));
      table.replaceAllUsesWith(widened);
    });
  for (WorkgroupOp workgroup : sharedZones(getOperation()))
    eraseUnused(workgroup);
}
