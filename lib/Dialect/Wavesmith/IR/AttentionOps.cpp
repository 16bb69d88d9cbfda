//===- AttentionOps.cpp - Checks of attention -----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include <cmath>

using namespace mlir;
using namespace wavesmith;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t AttentionOp::getNumQueryHeads() {
  return getTensorType(getQ()).getDimSize(getHeadsDimension());
}

int64_t AttentionOp::getNumKeyValueHeads() {
  return getTensorType(getK()).getDimSize(getHeadsDimension());
}

int64_t AttentionOp::getHeadDim() {
  return getTensorType(getQ()).getShape().back();
}

int64_t AttentionOp::getValueHeadDim() {
  return getTensorType(getV()).getShape().back();
}

Type AttentionOp::getInputElementType() {
  return getTensorType(getQ()).getElementType();
}

/// Whether two sizes can be one: a dynamic size can be any.
static bool areCompatible(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// "4", or "?" for a dynamic size.
static std::string formatSize(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

namespace {
/// The sizes that the operands have in common: static where one of them says
/// so.
struct Sizes {
  int64_t batch = ShapedType::kDynamic;
  int64_t queries = ShapedType::kDynamic;
  int64_t keys = ShapedType::kDynamic;
};

/// The checks of one operation, in the order of its operands.
class Verifier {
public:
  explicit Verifier(AttentionOp op) : op(op) {}

  LogicalResult verify() {
    return failure(failed(verifyNames()) || failed(verifyInputs()) ||
                   failed(verifyAttributes()) ||
                   failed(verifyCumulativeLengths()) || failed(verifyBias()) ||
                   failed(verifyAlibi()) || failed(verifyDescales()) ||
                   failed(verifyCaptures()) || failed(verifyResults()));
  }

private:
  /// Checks a dimension, and takes over its size where `size` is not known.
  LogicalResult merge(Value value, StringRef name, unsigned dimension,
                      StringRef what, int64_t &size) {
    int64_t got = getTensorType(value).getDimSize(dimension);
    if (!areCompatible(got, size))
      return op.emitOpError("expected dimension #")
             << dimension << " of " << name << ", the " << what << ", to be "
             << formatSize(size) << ", got " << value.getType();
    if (ShapedType::isDynamic(size))
      size = got;
    return success();
  }

  /// An option that the operation does not have, dropout for one, or one whose
  /// name is misspelt, must not be dropped on the way.
  LogicalResult verifyNames() {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      return op.emitOpError("does not support the attribute '")
             << attribute.getName().getValue() << "', got "
             << attribute.getValue();
    return success();
  }

  LogicalResult verifyInputs() {
    unsigned rank = op.isPacked() ? 3 : 4;
    unsigned heads = op.getHeadsDimension();
    Type elementType = op.getInputElementType();
    for (auto [name, value] :
         {std::pair("q", Value(op.getQ())), std::pair("k", Value(op.getK())),
          std::pair("v", Value(op.getV()))}) {
      RankedTensorType type = getTensorType(value);
      if (type.getRank() != rank)
        return op.emitOpError("expected ")
               << name << " of rank " << rank << " with layout "
               << stringifyAttentionLayout(op.getLayout()) << ", got " << type;
      if (type.getElementType() != elementType)
        return op.emitOpError("expected ")
               << name << " with elements of q's type " << elementType
               << ", got " << type;
      if (type.isDynamicDim(heads) || type.getDimSize(heads) == 0)
        return op.emitOpError("expected a static number of heads, at least 1, "
                              "in dimension #")
               << heads << " of " << name << ", got " << type;
      int64_t dim = type.getShape().back();
      if (ShapedType::isDynamic(dim) || dim < AttentionOp::kMinHeadDim ||
          dim > AttentionOp::kMaxHeadDim ||
          dim % AttentionOp::kHeadDimMultiple != 0)
        return op.emitOpError("expected the head dim of ")
               << name << ", its last dimension, to be a multiple of "
               << AttentionOp::kHeadDimMultiple << " from "
               << AttentionOp::kMinHeadDim << " to " << AttentionOp::kMaxHeadDim
               << ", got " << type;
    }
    if (getTensorType(op.getK()).getShape().back() != op.getHeadDim())
      return op.emitOpError("expected k with the head dim of q, ")
             << op.getHeadDim() << ", got " << op.getK().getType();
    if (getTensorType(op.getV()).getDimSize(heads) != op.getNumKeyValueHeads())
      return op.emitOpError("expected v with as many heads as k, ")
             << op.getNumKeyValueHeads() << ", got " << op.getV().getType();
    if (op.getNumQueryHeads() % op.getNumKeyValueHeads() != 0)
      return op.emitOpError("expected the heads of q to be a multiple of those "
                            "of k and v, ")
             << op.getNumKeyValueHeads() << ", got " << op.getNumQueryHeads();

    if (!op.isPacked())
      for (auto [name, value] :
           {std::pair("q", Value(op.getQ())), std::pair("k", Value(op.getK())),
            std::pair("v", Value(op.getV()))})
        if (failed(merge(value, name, 0, "batch", sizes.batch)))
          return failure();
    unsigned sequence = op.getSequenceDimension();
    StringRef positions = op.isPacked() ? "tokens" : "keys";
    return failure(
        failed(merge(op.getQ(), "q", sequence,
                     op.isPacked() ? "tokens" : "queries", sizes.queries)) ||
        failed(merge(op.getK(), "k", sequence, positions, sizes.keys)) ||
        failed(merge(op.getV(), "v", sequence, positions, sizes.keys)));
  }

  LogicalResult verifyAttributes() {
    if (double scale = op.getScale().convertToDouble(); !std::isfinite(scale))
      return op.emitOpError("expected a finite scale, got ") << scale;
    if (std::optional<APFloat> softcap = op.getSoftcap()) {
      double value = softcap->convertToDouble();
      if (!std::isfinite(value) || value <= 0)
        return op.emitOpError("expected a softcap that is positive and finite, "
                              "got ")
               << value;
    }
    if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
      if (window->size() != 2)
        return op.emitOpError("expected window [left, right], got ")
               << window->size() << " numbers";
      for (int64_t edge : *window)
        if (edge < -1)
          return op.emitOpError("expected the edges of the window to be -1 "
                                "(unlimited) or more, got ")
                 << edge;
    } else if (op.getWindowAlignment()) {
      return op.emitOpError("expected a window with window_alignment, got "
                            "none");
    }
    return success();
  }

  LogicalResult verifyCumulativeLengths() {
    bool hasQ(op.getCumulativeQ()), hasKv(op.getCumulativeKv());
    if (hasQ != hasKv)
      return op.emitOpError("expected cumulative lengths for both q and kv, "
                            "got one of them");
    if (hasQ != op.isPacked())
      return op.emitOpError(op.isPacked()
                                ? "expected cumulative_lengths with layout "
                                  "thd, got none"
                                : "expected layout thd with "
                                  "cumulative_lengths, got ")
             << (op.isPacked() ? "" : stringifyAttentionLayout(op.getLayout()));
    if (!hasQ)
      return success();
    // One number more than there are sequences.
    int64_t numbers = ShapedType::kDynamic;
    for (auto [name, value] :
         {std::pair("the cumulative lengths of q", Value(op.getCumulativeQ())),
          std::pair("the cumulative lengths of kv",
                    Value(op.getCumulativeKv()))}) {
      if (failed(merge(value, name, 0, "batch + 1", numbers)))
        return failure();
      if (getTensorType(value).getDimSize(0) == 0)
        return op.emitOpError("expected batch + 1 numbers in ")
               << name << ", got " << value.getType();
    }
    if (!ShapedType::isDynamic(numbers))
      sizes.batch = numbers - 1;
    return success();
  }

  LogicalResult verifyBias() {
    Value bias = op.getBias();
    if (!bias)
      return success();
    RankedTensorType type = getTensorType(bias);
    int64_t heads = op.getNumQueryHeads();
    if (type.getDimSize(1) != 1 && type.getDimSize(1) != heads)
      return op.emitOpError("expected dimension #1 of bias, the query heads, "
                            "to be 1 or ")
             << heads << ", got " << type;
    if (type.getDimSize(0) != 1 &&
        failed(merge(bias, "bias", 0, "batch (or 1)", sizes.batch)))
      return failure();
    // With packed sequences their lengths are not known.
    if (op.isPacked())
      return success();
    if (type.getDimSize(2) != 1 &&
        failed(merge(bias, "bias", 2, "queries (or 1)", sizes.queries)))
      return failure();
    return merge(bias, "bias", 3, "keys", sizes.keys);
  }

  LogicalResult verifyAlibi() {
    Value alibi = op.getAlibi();
    if (!alibi)
      return success();
    RankedTensorType type = getTensorType(alibi);
    if (type.getRank() != 1 && type.getRank() != 2)
      return op.emitOpError("expected alibi slopes as heads or batch x heads, "
                            "got ")
             << type;
    if (type.getShape().back() != op.getNumQueryHeads())
      return op.emitOpError("expected one alibi slope a query head, ")
             << op.getNumQueryHeads() << ", got " << type;
    if (type.getRank() == 2)
      return merge(alibi, "alibi", 0, "batch", sizes.batch);
    return success();
  }

  LogicalResult verifyDescales() {
    bool isFp8 = isa<Float8E4M3FNUZType>(op.getInputElementType());
    for (auto [name, descale, heads] :
         {std::tuple("descale_q", Value(op.getDescaleQ()),
                     op.getNumQueryHeads()),
          std::tuple("descale_k", Value(op.getDescaleK()),
                     op.getNumKeyValueHeads()),
          std::tuple("descale_v", Value(op.getDescaleV()),
                     op.getNumKeyValueHeads())}) {
      if (!descale)
        continue;
      if (!isFp8)
        return op.emitOpError("expected q, k and v of type f8E4M3FNUZ with ")
               << name << ", got " << op.getInputElementType();
      int64_t size = getTensorType(descale).getDimSize(0);
      if (size != 1 && size != heads)
        return op.emitOpError("expected ")
               << name << " to have one number, or one for each of " << heads
               << " heads, got " << descale.getType();
    }
    return success();
  }

  LogicalResult verifyCaptures() {
    if (!op.getCaptures().empty() && !op.hasScoreRegion() &&
        !op.hasMaskRegion())
      return op.emitOpError("expected a score or mask region with captures, "
                            "got neither");
    return success();
  }

  LogicalResult verifyResults() {
    RankedTensorType q = getTensorType(op.getQ());
    RankedTensorType o = getTensorType(op.getO());
    SmallVector<int64_t> wanted(q.getShape());
    wanted.back() = op.getValueHeadDim();
    if (o.getShape() != ArrayRef(wanted))
      return op.emitOpError("expected o to have the shape of q with the head "
                            "dim of v, ")
             << RankedTensorType::get(wanted, o.getElementType()) << ", got "
             << o;
    if (!op.getLse())
      return success();
    SmallVector<int64_t> lse;
    if (!op.isPacked())
      lse.push_back(q.getDimSize(0));
    lse.push_back(op.getNumQueryHeads());
    lse.push_back(q.getDimSize(op.getSequenceDimension()));
    if (getTensorType(op.getLse()).getShape() != ArrayRef(lse))
      return op.emitOpError("expected lse to be ")
             << (op.isPacked() ? "query heads x tokens, "
                               : "batch x query heads x queries, ")
             << RankedTensorType::get(lse, Float32Type::get(op.getContext()))
             << ", got " << op.getLse().getType();
    return success();
  }

  AttentionOp op;
  Sizes sizes;
};
} // namespace

LogicalResult AttentionOp::verify() { return Verifier(*this).verify(); }

/// Whether a region may compute with values of a type.
static bool isScalarOfRegion(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isIndex() ||
         type.isInteger(1) || type.isInteger(32) || type.isInteger(64);
}

/// Checks one region: `numArguments` before the captured tensors, the first of
/// them the score if `yields` is a float.
static LogicalResult verifyRegion(AttentionOp op, Region &region,
                                  StringRef name, unsigned numArguments,
                                  Type yields) {
  if (region.empty())
    return success();
  MLIRContext *context = op.getContext();
  SmallVector<Type> wanted(numArguments, IndexType::get(context));
  if (isa<FloatType>(yields))
    wanted[0] = yields;
  llvm::append_range(wanted, op.getCaptures().getTypes());
  if (region.getNumArguments() != wanted.size())
    return op.emitOpError("expected the ")
           << name << " region to have " << wanted.size() << " arguments ("
           << (isa<FloatType>(yields) ? "score, " : "")
           << "batch, head, query, key and " << op.getCaptures().size()
           << " captured tensors), got " << region.getNumArguments();
  for (auto [index, got, type] :
       llvm::enumerate(region.getArgumentTypes(), wanted))
    if (got != type)
      return op.emitOpError("expected argument #")
             << index << " of the " << name << " region to be " << type
             << ", got " << got;

  Block &block = region.front();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op.emitOpError("expected the ")
           << name << " region to end with a 'wavesmith.yield'";
  auto yield = cast<YieldOp>(block.back());
  if (yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() != yields) {
    InFlightDiagnostic error = op.emitOpError("expected the ")
                               << name << " region to yield one " << yields
                               << ", got ";
    if (yield.getValues().empty())
      return error << "nothing";
    return error << yield.getValues().getTypes();
  }

  for (Operation &inner : block.without_terminator()) {
    // An operation that is not registered has no dialect.
    StringRef dialect =
        inner.getDialect() ? inner.getDialect()->getNamespace() : StringRef();
    if (inner.getNumRegions() != 0 ||
        (dialect != "arith" && dialect != "math" &&
         !isa<tensor::ExtractOp>(inner)))
      return inner.emitError("expected arith and math operations and "
                             "tensor.extract in a region of attention, got '")
             << inner.getName() << "'";
    for (Type type : inner.getResultTypes())
      if (!isScalarOfRegion(type))
        return inner.emitError("expected scalars of f32, f16, bf16, i1, i32, "
                               "i64 and index in a region of attention, got ")
               << type;
  }
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Builder builder(getContext());
  return failure(
      failed(verifyRegion(*this, getScore(), "score", kNumScoreArguments,
                          builder.getF32Type())) ||
      failed(verifyRegion(*this, getMask(), "mask", kNumMaskArguments,
                          builder.getI1Type())));
}
