//===- WorkgroupEvaluator.cpp - Evaluates workgroup code ------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/WorkgroupEvaluator.h"
#include "WorkgroupProgram.h"
#include "wavesmith/Math/DeviceMath.h"
#include "llvm/ADT/StringSet.h"
#include <cstring>
#include <thread>

using namespace mlir;
using namespace wavesmith;

bool WorkgroupEvaluator::isFor(func::FuncOp function) {
  return function.walk([](WorkgroupOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

SmallVector<int64_t, 4>
WorkgroupEvaluator::Argument::getShape(int64_t numZones) const {
  return llvm::map_to_vector<4>(shape, [&](int64_t size) {
    return ShapedType::isDynamic(size) ? numZones : size;
  });
}

static std::optional<ElementType> getElementType(Type type) {
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isSignlessInteger(32))
    return ElementType::I32;
  if (type.isSignlessInteger(64) || type.isIndex())
    return ElementType::I64;
  return std::nullopt;
}

FailureOr<WorkgroupEvaluator>
WorkgroupEvaluator::create(func::FuncOp function) {
  if (function.isDeclaration())
    return function.emitError("expected a function with a body, got a "
                              "declaration");
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");
  if (function.getNumResults() != 0)
    return function.emitError("expected a function without results, which "
                              "writes its results to memory");

  WorkgroupEvaluator evaluator;
  llvm::StringSet<> names;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    Argument &description = evaluator.arguments.emplace_back();
    auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttrName);
    description.name = name ? name.str() : "arg" + std::to_string(index);
    if (!names.insert(description.name).second)
      return function.emitError("two arguments have the name '")
             << description.name << "'";
    auto memory = dyn_cast<MemRefType>(argument.getType());
    std::optional<ElementType> type =
        getElementType(memory ? memory.getElementType() : argument.getType());
    if (!type || (memory && (memory.getElementType().isIndex() ||
                             !memory.getLayout().isIdentity())))
      return function.emitError("unsupported type ")
             << argument.getType() << " of argument '" << description.name
             << "': expected f64, f32, i64, i32, index, or memory of numbers "
                "side by side";
    description.type = *type;
    description.isArray = static_cast<bool>(memory);
    if (memory)
      description.shape.assign(memory.getShape().begin(),
                               memory.getShape().end());
    description.isRead = llvm::any_of(
        argument.getUsers(), [](Operation *op) { return isa<LoadZoneOp>(op); });
    description.isWritten =
        llvm::any_of(argument.getUsers(),
                     [](Operation *op) { return isa<StoreZoneOp>(op); });
    description.isNumZones =
        llvm::any_of(argument.getUsers(),
                     [](Operation *op) { return isa<WorkgroupOp>(op); });
  }

  auto program = std::make_shared<WorkgroupProgram>();
  if (failed(WorkgroupCompiler(*program).compile(function)))
    return failure();
  evaluator.program = std::move(program);
  return evaluator;
}

llvm::Error WorkgroupEvaluator::evaluate(MutableArrayRef<HostArray> arrays,
                                         const Options &options) const {
  if (arrays.size() != arguments.size())
    return llvm::createStringError("expected an array for each of the " +
                                   Twine(arguments.size()) +
                                   " arguments, got " + Twine(arrays.size()));

  // The memory that every zone begins with.
  std::vector<uint8_t> memory = program->memory;
  std::vector<ZoneArray> batches(arguments.size());
  for (auto [argument, array, batch, slot] :
       llvm::zip_equal(arguments, arrays, batches, program->arguments)) {
    bool fits = array.type == argument.type &&
                array.shape.size() == argument.shape.size();
    if (fits)
      for (auto [size, wanted] : llvm::zip_equal(array.shape, argument.shape))
        fits &= size >= 0 && (ShapedType::isDynamic(wanted) || size == wanted);
    std::optional<uint64_t> bytes = getArrayBytes(array.type, array.shape);
    fits &= bytes && *bytes == array.bytes.size();
    if (!fits) {
      std::string wanted;
      for (int64_t size : argument.shape)
        wanted +=
            (wanted.empty() ? "" : ", ") +
            (ShapedType::isDynamic(size) ? "zones" : std::to_string(size));
      return llvm::createStringError(
          "argument '" + argument.name + "': expected " +
          stringify(argument.type) + " [" + wanted + "], got " +
          stringify(array.type) + " " + formatShape(array.shape));
    }
    if (!argument.isArray) {
      uint8_t *place = memory.data() + slot.offset;
      if (argument.type == ElementType::I32) {
        int32_t number;
        std::memcpy(&number, array.bytes.data(), sizeof(number));
        int64_t extended = number;
        std::memcpy(place, &extended, sizeof(extended));
      } else {
        std::memcpy(place, array.bytes.data(), array.bytes.size());
      }
      continue;
    }
    batch.bytes = array.bytes.data();
    batch.shape.assign(array.shape.begin(), array.shape.end());
    // The batches of load_zone and store_zone: of rank 1 or 2.
    if (argument.shape.size() == 1) {
      batch.zoneStride = 1;
    } else if (argument.shape.size() == 2) {
      bool zonesFirst = ShapedType::isDynamic(argument.shape[0]);
      batch.zoneStride = zonesFirst ? array.shape[1] : 1;
      batch.elementStride = zonesFirst ? 1 : array.shape[1];
    }
  }

  devicemath::FloatingPointEnvironment environment;
  Machine prologue(*program, batches, memory.data());
  prologue.run(program->prologue);
  if (!prologue.error.empty())
    return llvm::createStringError(prologue.error);
  int64_t numZones = *prologue.at<int64_t>(program->numZones.offset);
  if (numZones < 0)
    return llvm::createStringError(
        "expected a number of zones from 0 on, got " + Twine(numZones));
  for (auto [argument, array] : llvm::zip_equal(arguments, arrays))
    if (argument.isRead || argument.isWritten)
      for (auto [size, wanted] : llvm::zip_equal(array.shape, argument.shape))
        if (ShapedType::isDynamic(wanted) && size < numZones)
          return llvm::createStringError(
              "argument '" + argument.name + "': expected at least " +
              Twine(numZones) + " zones, got " + Twine(size));

  unsigned cores = options.numThreads
                       ? options.numThreads
                       : std::max(1u, std::thread::hardware_concurrency());
  int64_t parts = std::max<int64_t>(1, std::min<int64_t>(cores, numZones));
  std::vector<std::string> errors(parts);
  auto run = [&](int64_t part) {
    devicemath::FloatingPointEnvironment environment;
    std::vector<uint8_t> own = memory;
    Machine machine(*program, batches, own.data());
    int64_t end = numZones * (part + 1) / parts;
    for (machine.zone = numZones * part / parts; machine.zone != end;
         ++machine.zone) {
      machine.run(program->body);
      if (!machine.error.empty()) {
        errors[part] =
            machine.error + " in zone " + std::to_string(machine.zone);
        return;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part)
    threads.emplace_back(run, part);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
  // The first part's error is that of the lowest zone.
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return llvm::Error::success();
}
