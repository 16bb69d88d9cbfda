//===- Annotations.cpp - What of a workgroup's code is meaning ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Annotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wavesmith;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Annotations Annotations::get(func::FuncOp function) {
  Annotations annotations;
  auto bytesOf = [](Type type) -> int64_t {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !tensor.getElementType().isIntOrFloat())
      return 0;
    return tensor.getNumElements() *
           ((tensor.getElementTypeBitWidth() + 7) / 8);
  };
  function.walk([&](Operation *op) {
    ++annotations.numOperations;
    if (auto table = dyn_cast<TableOp>(op)) {
      Type type = table.getResult().getType();
      annotations.tableBytes[print(getElementTypeOrSelf(type))] +=
          bytesOf(type);
    } else if (auto stage = dyn_cast<StageOp>(op)) {
      annotations.stagedBytes[stringifyMemorySpace(stage.getSpace()).str()] +=
          bytesOf(stage.getType());
    } else if (auto reduce = dyn_cast<SegmentedReduceOp>(op)) {
      if (llvm::none_of(reduce.getInit().getTypes(),
                        [](Type type) { return isa<FloatType>(type); }))
        return;
      ArrayRef<int32_t> segments = reduce.getSegments();
      for (unsigned i = 0; i != reduce.getNumSegments(); ++i) {
        int64_t lanes = reduce.getLanesOf(i);
        annotations.lanesOfLength[segments[i + 1] - segments[i]].insert(lanes);
        ++annotations.segmentsOfLanes[lanes];
      }
    } else if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
               !isa<arith::ConstantOp, arith::ExtFOp>(op)) {
      for (Type type : op->getResultTypes()) {
        Type element = getElementTypeOrSelf(type);
        if (isa<FloatType>(element) && !element.isF64())
          annotations.narrowArithmetic.insert(
              op->getName().getStringRef().str() + " in " + print(element));
      }
    }
  });
  return annotations;
}

template <typename Key>
static std::string format(const std::map<Key, int64_t> &counts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &[key, count] : counts)
    os << (text.empty() ? "" : ", ") << key << ": " << count;
  return text.empty() ? "none" : text;
}

std::vector<std::string>
wavesmith::describeAnnotationChanges(const Annotations &before,
                                     const Annotations &after) {
  std::vector<std::string> changes;
  // A reduction may disappear, or stand together with others, without a change
  // of what a segment's sum is.
  bool changed = false;
  for (const auto &[length, lanes] : after.lanesOfLength) {
    auto known = before.lanesOfLength.find(length);
    changed |= known != before.lanesOfLength.end() && known->second != lanes;
  }
  if (changed)
    changes.push_back("segments by lanes {" + format(before.segmentsOfLanes) +
                      "} -> {" + format(after.segmentsOfLanes) + "}");
  for (const std::string &entry : after.narrowArithmetic)
    if (!before.narrowArithmetic.count(entry))
      changes.push_back("new: " + entry);
  for (const std::string &entry : before.narrowArithmetic)
    if (!after.narrowArithmetic.count(entry))
      changes.push_back("gone: " + entry);
  return changes;
}

std::vector<std::string>
wavesmith::describeOtherChanges(const Annotations &before,
                                const Annotations &after) {
  std::vector<std::string> changes;
  if (before.tableBytes != after.tableBytes)
    changes.push_back("table bytes {" + format(before.tableBytes) + "} -> {" +
                      format(after.tableBytes) + "}");
  if (before.stagedBytes != after.stagedBytes)
    changes.push_back("staged bytes {" + format(before.stagedBytes) + "} -> {" +
                      format(after.stagedBytes) + "}");
  if (before.segmentsOfLanes.size() && after.segmentsOfLanes.size() && [&] {
        std::set<int64_t> a, b;
        for (const auto &entry : before.lanesOfLength)
          a.insert(entry.first);
        for (const auto &entry : after.lanesOfLength)
          b.insert(entry.first);
        return a != b;
      }())
    changes.push_back("lengths of segments");
  if (before.numOperations != after.numOperations)
    changes.push_back("operations " + std::to_string(before.numOperations) +
                      " -> " + std::to_string(after.numOperations));
  return changes;
}
