//===- AttentionEvaluator.cpp - The meaning of attention ------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/AttentionEvaluator.h"
#include "AttentionRegion.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/StringSet.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

using namespace mlir;
using namespace wavesmith;

using Array = AttentionEvaluator::Array;

namespace wavesmith {

/// An operation, with its operands as numbers of the function's arguments.
struct AttentionProgram {
  AttentionLayout layout;
  int64_t queryHeads, keyHeads, headDim, valueHeadDim;
  double scale;
  std::optional<double> softcap;
  std::optional<DiagonalAlignment> causal;
  int64_t windowLeft, windowRight;
  DiagonalAlignment windowAlignment;

  unsigned q, k, v;
  std::optional<unsigned> bias, alibi, cumulativeQ, cumulativeKv;
  std::optional<unsigned> descaleQ, descaleK, descaleV;
  SmallVector<unsigned> captures;
  std::optional<RegionProgram> score, mask;
  /// For each result: whether it is the LSE.
  SmallVector<bool> resultIsLse;

  bool isPacked() const { return layout == AttentionLayout::THD; }
};

} // namespace wavesmith

//===----------------------------------------------------------------------===//
// Reading a function
//===----------------------------------------------------------------------===//

bool AttentionEvaluator::isFor(func::FuncOp function) {
  return function.walk([](AttentionOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static std::optional<ElementType> getElementType(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (isa<Float8E4M3FNUZType>(type))
    return ElementType::F8E4M3FNUZ;
  if (type.isSignlessInteger(32))
    return ElementType::I32;
  if (type.isSignlessInteger(64))
    return ElementType::I64;
  return std::nullopt;
}

static std::string getName(DictionaryAttr attributes, const Twine &otherwise) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(kNameAttrName))
      return name.str();
  return otherwise.str();
}

FailureOr<AttentionEvaluator>
AttentionEvaluator::create(func::FuncOp function) {
  if (function.isDeclaration())
    return function.emitError("expected a function with a body, got a "
                              "declaration");
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");
  AttentionOp attention;
  func::ReturnOp returnOp;
  for (Operation &op : function.getBody().front()) {
    if (auto candidate = dyn_cast<AttentionOp>(op)) {
      if (attention)
        return op.emitError("expected one attention in function @")
               << function.getSymName() << ", got a second one";
      attention = candidate;
    } else if (auto candidate = dyn_cast<func::ReturnOp>(op)) {
      returnOp = candidate;
    } else {
      return op.emitError("unsupported operation '")
             << op.getName()
             << "': the reference evaluates a function of one attention and "
                "its return";
    }
  }
  if (!attention)
    return function.emitError("expected wavesmith.attention in function @")
           << function.getSymName() << ", got none";

  AttentionEvaluator evaluator;
  llvm::StringSet<> names;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    Array &description = evaluator.arguments.emplace_back();
    description.name =
        getName(function.getArgAttrDict(index), "arg" + Twine(index));
    if (!names.insert(description.name).second)
      return function.emitError("two arguments or results have the name '")
             << description.name << "'";
    description.isUsed = !argument.use_empty();
    // The operation takes no other types.
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      if (auto element = getElementType(type.getElementType())) {
        description.type = *element;
        description.shape.assign(type.getShape().begin(),
                                 type.getShape().end());
        continue;
      }
    if (description.isUsed)
      return function.emitError("argument '")
             << description.name << "' has the unsupported type "
             << argument.getType();
    description.type = ElementType::F64;
  }

  auto program = std::make_shared<AttentionProgram>();
  program->layout = attention.getLayout();
  program->queryHeads = attention.getNumQueryHeads();
  program->keyHeads = attention.getNumKeyValueHeads();
  program->headDim = attention.getHeadDim();
  program->valueHeadDim = attention.getValueHeadDim();
  program->scale = attention.getScale().convertToDouble();
  if (std::optional<APFloat> softcap = attention.getSoftcap())
    program->softcap = softcap->convertToDouble();
  program->causal = attention.getCausal();
  program->windowLeft = attention.getWindowLeft();
  program->windowRight = attention.getWindowRight();
  program->windowAlignment = attention.getEffectiveWindowAlignment();

  for (auto [index, operand] : llvm::enumerate(attention->getOperands()))
    if (!isa<BlockArgument>(operand))
      return attention.emitError("expected operand #")
             << index << " to be an argument of the function";
  auto numberOf = [](Value value) {
    return cast<BlockArgument>(value).getArgNumber();
  };
  auto optionalNumberOf = [&](Value value) -> std::optional<unsigned> {
    if (!value)
      return std::nullopt;
    return numberOf(value);
  };
  program->q = numberOf(attention.getQ());
  program->k = numberOf(attention.getK());
  program->v = numberOf(attention.getV());
  program->bias = optionalNumberOf(attention.getBias());
  program->alibi = optionalNumberOf(attention.getAlibi());
  program->cumulativeQ = optionalNumberOf(attention.getCumulativeQ());
  program->cumulativeKv = optionalNumberOf(attention.getCumulativeKv());
  program->descaleQ = optionalNumberOf(attention.getDescaleQ());
  program->descaleK = optionalNumberOf(attention.getDescaleK());
  program->descaleV = optionalNumberOf(attention.getDescaleV());
  for (Value capture : attention.getCaptures())
    program->captures.push_back(numberOf(capture));
  for (auto [region, target] :
       {std::pair(&attention.getScore(), &program->score),
        std::pair(&attention.getMask(), &program->mask)}) {
    if (region->empty())
      continue;
    FailureOr<RegionProgram> compiled =
        RegionProgram::create(*region, program->captures.size());
    if (failed(compiled))
      return failure();
    *target = std::move(*compiled);
  }

  for (auto [index, operand] : llvm::enumerate(returnOp.getOperands())) {
    auto value = dyn_cast<OpResult>(operand);
    if (!value || value.getOwner() != attention)
      return returnOp.emitError("expected operand #")
             << index << " to be a result of 'wavesmith.attention'";
    Array &description = evaluator.results.emplace_back();
    description.name =
        getName(function.getResultAttrDict(index), "result" + Twine(index));
    if (!names.insert(description.name).second)
      return function.emitError("two arguments or results have the name '")
             << description.name << "'";
    auto type = cast<RankedTensorType>(value.getType());
    description.type = *getElementType(type.getElementType());
    description.shape.assign(type.getShape().begin(), type.getShape().end());
    program->resultIsLse.push_back(value.getResultNumber() == 1);
  }
  evaluator.program = std::move(program);
  return evaluator;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static std::string formatWanted(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, size] : llvm::enumerate(shape))
    text += (index ? ", " : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

static llvm::Error checkArray(const Array &argument, const HostArray &array) {
  bool fits = array.type == argument.type &&
              array.shape.size() == argument.shape.size();
  if (fits)
    for (auto [size, wanted] : llvm::zip_equal(array.shape, argument.shape))
      fits &= size >= 0 && (ShapedType::isDynamic(wanted) || size == wanted);
  std::optional<uint64_t> bytes = getArrayBytes(array.type, array.shape);
  if (fits && bytes && *bytes == array.bytes.size())
    return llvm::Error::success();
  return llvm::createStringError(
      "argument '" + argument.name + "': expected " + stringify(argument.type) +
      " " + formatWanted(argument.shape) + ", got " + stringify(array.type) +
      " " + formatShape(array.shape) +
      (fits ? " in " + std::to_string(array.bytes.size()) + " bytes" : ""));
}

namespace {

/// A sequence of the batch: its first tokens and its lengths.
struct Sequence {
  int64_t firstQuery = 0, firstKey = 0;
  int64_t queries = 0, keys = 0;
};

/// One run.
class Evaluation {
public:
  Evaluation(const AttentionProgram &program, ArrayRef<Array> arguments)
      : program(program), arguments(arguments), decoded(arguments.size()) {}

  llvm::Error prepare(ArrayRef<HostArray> arrays);
  /// The number of pairs of a sequence and a query head.
  int64_t getNumItems() const {
    return static_cast<int64_t>(sequences.size()) * program.queryHeads;
  }
  /// Evaluates one of them; an error's text is returned.
  std::string evaluate(int64_t item);

  std::vector<double> o, lse;
  SmallVector<int64_t, 4> oShape, lseShape;

private:
  const DecodedArray &get(unsigned argument) const { return decoded[argument]; }
  /// A size of an array that must be what another array says.
  llvm::Error checkSize(unsigned argument, unsigned dimension, int64_t wanted,
                        StringRef what) const {
    int64_t got = get(argument).shape[dimension];
    if (got == wanted)
      return llvm::Error::success();
    return llvm::createStringError(
        "argument '" + arguments[argument].name + "': expected dimension #" +
        Twine(dimension) + ", the " + what + ", to be " + Twine(wanted) +
        ", got " + Twine(got));
  }
  llvm::Error readSequences();
  llvm::Error checkBias() const;
  /// Where the elements of a head of a token begin.
  size_t locate(unsigned argument, int64_t sequence, int64_t head,
                int64_t position) const {
    ArrayRef<int64_t> shape = get(argument).shape;
    switch (program.layout) {
    case AttentionLayout::BSHD:
      return ((sequence * shape[1] + position) * shape[2] + head) * shape[3];
    case AttentionLayout::BHSD:
      return ((sequence * shape[1] + head) * shape[2] + position) * shape[3];
    case AttentionLayout::THD:
      return (position * shape[1] + head) * shape[2];
    }
    llvm_unreachable("all layouts are handled");
  }
  bool isMasked(const Sequence &sequence, int64_t i, int64_t j) const;
  double getBias(int64_t b, int64_t h, int64_t i, int64_t j) const;

  const AttentionProgram &program;
  ArrayRef<Array> arguments;
  std::vector<DecodedArray> decoded;
  SmallVector<const DecodedArray *> captures;
  std::vector<Sequence> sequences;
};

} // namespace

llvm::Error Evaluation::prepare(ArrayRef<HostArray> arrays) {
  for (auto [argument, array, numbers] :
       llvm::zip_equal(arguments, arrays, decoded)) {
    if (!argument.isUsed)
      continue;
    if (llvm::Error error = checkArray(argument, array))
      return error;
    numbers = DecodedArray::decode(array);
  }
  for (unsigned capture : program.captures)
    captures.push_back(&get(capture));

  if (llvm::Error error = readSequences())
    return error;
  if (llvm::Error error = checkBias())
    return error;
  auto numSequences = static_cast<int64_t>(sequences.size());
  if (program.alibi && get(*program.alibi).shape.size() == 2)
    if (llvm::Error error = checkSize(*program.alibi, 0, numSequences, "batch"))
      return error;

  const DecodedArray &q = get(program.q);
  oShape = q.shape;
  oShape.back() = program.valueHeadDim;
  bool isPacked = program.isPacked();
  if (!isPacked)
    lseShape.push_back(numSequences);
  lseShape.push_back(program.queryHeads);
  lseShape.push_back(q.shape[program.layout == AttentionLayout::BHSD ? 2
                             : isPacked                              ? 0
                                                                     : 1]);
  // Tokens that belong to no sequence have these results.
  auto getCount = [](ArrayRef<int64_t> shape) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  };
  o.assign(getCount(oShape), 0.0);
  lse.assign(getCount(lseShape), -std::numeric_limits<double>::infinity());
  return llvm::Error::success();
}

llvm::Error Evaluation::readSequences() {
  bool isPacked = program.isPacked();
  unsigned position = program.layout == AttentionLayout::BHSD ? 2
                      : isPacked                              ? 0
                                                              : 1;
  int64_t queries = get(program.q).shape[position];
  int64_t keys = get(program.k).shape[position];
  if (llvm::Error error =
          checkSize(program.v, position, keys, isPacked ? "tokens" : "keys"))
    return error;
  if (!isPacked) {
    int64_t batch = get(program.q).shape[0];
    for (unsigned argument : {program.k, program.v})
      if (llvm::Error error = checkSize(argument, 0, batch, "batch"))
        return error;
    sequences.assign(batch, Sequence{0, 0, queries, keys});
    return llvm::Error::success();
  }

  const DecodedArray &ofQ = get(*program.cumulativeQ);
  if (ofQ.shape[0] == 0)
    return llvm::createStringError("argument '" +
                                   arguments[*program.cumulativeQ].name +
                                   "': expected batch + 1 numbers, got none");
  if (llvm::Error error =
          checkSize(*program.cumulativeKv, 0, ofQ.shape[0], "batch + 1"))
    return error;
  sequences.resize(ofQ.shape[0] - 1);
  for (auto [argument, tokens, first, length] :
       {std::tuple(*program.cumulativeQ, queries, &Sequence::firstQuery,
                   &Sequence::queries),
        std::tuple(*program.cumulativeKv, keys, &Sequence::firstKey,
                   &Sequence::keys)}) {
    int64_t before = 0;
    for (auto [index, number] : llvm::enumerate(get(argument).numbers)) {
      auto value = static_cast<int32_t>(static_cast<uint32_t>(number.bits));
      if (value < before || value > tokens || (index == 0 && value != 0))
        return llvm::createStringError(
            "argument '" + arguments[argument].name + "': expected number #" +
            Twine(index) + " to be " +
            (index == 0 ? "0"
                        : "from " + std::to_string(before) + " to " +
                              std::to_string(tokens)) +
            ", got " + Twine(value));
      if (index != 0) {
        sequences[index - 1].*first = before;
        sequences[index - 1].*length = value - before;
      }
      before = value;
    }
  }
  return llvm::Error::success();
}

llvm::Error Evaluation::checkBias() const {
  if (!program.bias)
    return llvm::Error::success();
  // Where the type says 1, the bias is the same for all.
  ArrayRef<int64_t> type = arguments[*program.bias].shape;
  auto batch = static_cast<int64_t>(sequences.size());
  if (type[0] != 1)
    if (llvm::Error error = checkSize(*program.bias, 0, batch, "batch"))
      return error;
  for (const Sequence &sequence : sequences)
    for (auto [dimension, length, what] :
         {std::tuple(2u, sequence.queries, "queries"),
          std::tuple(3u, sequence.keys, "keys")}) {
      if (dimension == 2 && type[2] == 1)
        continue;
      int64_t size = get(*program.bias).shape[dimension];
      if (program.isPacked() ? size >= length : size == length)
        continue;
      return llvm::createStringError(
          "argument '" + arguments[*program.bias].name +
          "': expected dimension #" + Twine(dimension) + ", the " + what +
          ", to be " + (program.isPacked() ? "at least " : "") + Twine(length) +
          ", got " + Twine(size));
    }
  return llvm::Error::success();
}

bool Evaluation::isMasked(const Sequence &sequence, int64_t i,
                          int64_t j) const {
  int64_t delta = sequence.keys - sequence.queries;
  auto shift = [&](DiagonalAlignment alignment) {
    return alignment == DiagonalAlignment::TopLeft ? 0 : delta;
  };
  if (program.causal && j > i + shift(*program.causal))
    return true;
  int64_t diagonal = i + shift(program.windowAlignment);
  // Written without sums that could overflow: edges may be any number.
  if (program.windowLeft != -1 && diagonal - j > program.windowLeft)
    return true;
  return program.windowRight != -1 && j - diagonal > program.windowRight;
}

double Evaluation::getBias(int64_t b, int64_t h, int64_t i, int64_t j) const {
  const DecodedArray &bias = get(*program.bias);
  ArrayRef<int64_t> type = arguments[*program.bias].shape;
  b = type[0] == 1 ? 0 : b;
  h = type[1] == 1 ? 0 : h;
  i = type[2] == 1 ? 0 : i;
  return bias.at(((b * bias.shape[1] + h) * bias.shape[2] + i) * bias.shape[3] +
                 j);
}

std::string Evaluation::evaluate(int64_t item) {
  int64_t b = item / program.queryHeads, h = item % program.queryHeads;
  int64_t g = h / (program.queryHeads / program.keyHeads);
  const Sequence &sequence = sequences[b];
  auto descale = [&](std::optional<unsigned> argument, int64_t head) {
    if (!argument)
      return 1.0;
    const DecodedArray &numbers = get(*argument);
    return numbers.at(numbers.shape[0] == 1 ? 0 : head);
  };
  double descaleScore =
      descale(program.descaleQ, h) * descale(program.descaleK, g);
  double descaleValue = descale(program.descaleV, g);
  double slope = 0;
  if (program.alibi) {
    const DecodedArray &slopes = get(*program.alibi);
    slope = slopes.at(slopes.shape.size() == 2 ? b * slopes.shape[1] + h : h);
  }
  const DecodedArray &q = get(program.q), &k = get(program.k),
                     &v = get(program.v);

  std::optional<RegionProgram::Frame> scoreFrame, maskFrame;
  if (program.score)
    scoreFrame = program.score->makeFrame(captures);
  if (program.mask)
    maskFrame = program.mask->makeFrame(captures);

  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> scores(sequence.keys);
  std::vector<long double> sums(program.valueHeadDim);
  for (int64_t i = 0; i < sequence.queries; ++i) {
    size_t qAt = locate(program.q, b, h, sequence.firstQuery + i);
    bool isNaN = false;
    double largest = -infinity;
    for (int64_t j = 0; j < sequence.keys; ++j) {
      bool isMasked = this->isMasked(sequence, i, j);
      // The regions run for masked pairs too: they must be defined there.
      if (maskFrame) {
        for (auto [slot, index] : llvm::enumerate(ArrayRef{b, h, i, j}))
          maskFrame->slots[slot].bits = index;
        isMasked |= program.mask->run(*maskFrame).bits == 0;
        if (!maskFrame->error.empty())
          return maskFrame->error;
      }
      double score = -infinity;
      if (!isMasked || scoreFrame) {
        size_t kAt = locate(program.k, b, g, sequence.firstKey + j);
        long double dot = 0;
        for (int64_t d = 0; d < program.headDim; ++d)
          dot += static_cast<long double>(q.at(qAt + d)) * k.at(kAt + d);
        score = program.scale * (descaleScore * static_cast<double>(dot));
        if (program.softcap)
          score = *program.softcap * std::tanh(score / *program.softcap);
        if (program.bias)
          score += getBias(b, h, i, j);
        if (program.alibi)
          score -= slope * std::fabs(static_cast<double>(i + sequence.keys -
                                                         sequence.queries - j));
      }
      if (scoreFrame) {
        scoreFrame->slots[0].real = score;
        for (auto [slot, index] : llvm::enumerate(ArrayRef{b, h, i, j}))
          scoreFrame->slots[slot + 1].bits = index;
        score = program.score->run(*scoreFrame).real;
        if (!scoreFrame->error.empty())
          return scoreFrame->error;
      }
      scores[j] = isMasked ? -infinity : score;
      isNaN |= std::isnan(scores[j]);
      largest = std::max(largest, scores[j]);
    }

    long double sum = 0;
    llvm::fill(sums, 0.0L);
    for (int64_t j = 0; j < sequence.keys; ++j) {
      // Such a pair takes no part, so nothing of v reaches the result.
      if (scores[j] == -infinity)
        continue;
      long double weight = std::exp(scores[j] - largest);
      sum += weight;
      size_t vAt = locate(program.v, b, g, sequence.firstKey + j);
      for (int64_t d = 0; d < program.valueHeadDim; ++d)
        sums[d] += weight * v.at(vAt + d);
    }
    int64_t token = sequence.firstQuery + i;
    size_t lseAt = program.isPacked() ? h * lseShape[1] + token
                                      : (b * lseShape[1] + h) * lseShape[2] + i;
    // The place of o is that of q with another head dim.
    size_t oAt = qAt / program.headDim * program.valueHeadDim;
    // A +inf has no weights.
    bool isBroken = isNaN || largest == infinity;
    if (isBroken || largest != -infinity) {
      lse[lseAt] = isBroken ? std::numeric_limits<double>::quiet_NaN()
                            : largest + std::log(static_cast<double>(sum));
      for (int64_t d = 0; d < program.valueHeadDim; ++d)
        o[oAt + d] = isBroken
                         ? std::numeric_limits<double>::quiet_NaN()
                         : descaleValue * static_cast<double>(sums[d] / sum);
    }
  }
  return "";
}

llvm::Expected<std::vector<HostArray>>
AttentionEvaluator::evaluate(ArrayRef<HostArray> arrays,
                             const Options &options) const {
  if (arrays.size() != arguments.size())
    return llvm::createStringError("expected an array for each of the " +
                                   Twine(arguments.size()) +
                                   " arguments, got " + Twine(arrays.size()));
  Evaluation evaluation(*program, arguments);
  if (llvm::Error error = evaluation.prepare(arrays))
    return error;

  int64_t numItems = evaluation.getNumItems();
  std::vector<std::string> errors(numItems);
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t item = next++; item < numItems; item = next++)
      errors[item] = evaluation.evaluate(item);
  };
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  unsigned numThreads = options.numThreads ? options.numThreads : cores;
  numThreads = std::min<int64_t>(std::min(numThreads, cores),
                                 std::max<int64_t>(numItems, 1));
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < numThreads; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);

  std::vector<HostArray> outputs;
  for (auto [result, isLse] : llvm::zip_equal(results, program->resultIsLse)) {
    HostArray &output = outputs.emplace_back();
    output.type = options.roundResults ? result.type : ElementType::F64;
    output.shape = isLse ? evaluation.lseShape : evaluation.oShape;
    const std::vector<double> &numbers = isLse ? evaluation.lse : evaluation.o;
    unsigned bytes = getElementBytes(output.type);
    output.bytes.resize(numbers.size() * bytes);
    for (auto [index, number] : llvm::enumerate(numbers)) {
      uint64_t bits = encodeFloat(output.type, number);
      std::memcpy(output.bytes.data() + index * bytes, &bits, bytes);
    }
  }
  return outputs;
}
