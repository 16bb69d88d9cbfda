//===- KernelDescription.cpp - What the arguments of a kernel mean --------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/KernelDescription.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace wavesmith;

/// The format that this reader understands.
static constexpr int64_t formatVersion = 1;

llvm::StringRef wavesmith::stringify(ArgumentKind kind) {
  switch (kind) {
  case ArgumentKind::Scalar:
    return "scalar";
  case ArgumentKind::Input:
    return "input";
  case ArgumentKind::Output:
    return "output";
  case ArgumentKind::Workspace:
    return "workspace";
  case ArgumentKind::Zones:
    return "zones";
  case ArgumentKind::Dimension:
    return "dimension";
  }
  return "unknown";
}

int ArgumentDescription::getZonesDimension() const {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i].isZones())
      return i;
  return -1;
}

llvm::SmallVector<int64_t, 4>
ArgumentDescription::getShape(int64_t zones) const {
  llvm::SmallVector<int64_t, 4> sizes;
  for (const ArgumentDimension &dimension : shape)
    sizes.push_back(dimension.isZones() ? zones : dimension.size);
  return sizes;
}

llvm::SmallVector<int64_t, 4>
ArgumentDescription::getShape(const llvm::StringMap<int64_t> &sizes) const {
  llvm::SmallVector<int64_t, 4> result;
  for (const ArgumentDimension &dimension : shape)
    result.push_back(dimension.isFixed() ? dimension.size
                                         : sizes.lookup(dimension.name));
  return result;
}

std::string ArgumentDescription::formatShape() const {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text +=
        (i ? ", " : "") +
        (shape[i].isFixed() ? std::to_string(shape[i].size) : shape[i].name);
  return text + "]";
}

const ArgumentDescription *
KernelDescription::findArgument(llvm::StringRef name) const {
  for (const ArgumentDescription &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

llvm::Expected<const KernelDescription &>
CodeObjectDescription::findKernel(llvm::StringRef name) const {
  std::string names;
  for (const KernelDescription &kernel : kernels) {
    if (kernel.name == name || (name.empty() && kernels.size() == 1))
      return kernel;
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  if (name.empty())
    return llvm::createStringError(
        "the description has several kernels, so one has to be named: " +
        names);
  return llvm::createStringError("the description has no kernel '" + name +
                                 "'; it has " + names);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// llvm::json recurses without a limit, so a hostile file could exhaust the
/// stack. Descriptions nest by five levels, and schedules by few.
static llvm::Error checkNesting(llvm::StringRef json) {
  constexpr unsigned maximum = 64;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maximum)
        return llvm::createStringError("JSON nests deeper than " +
                                       llvm::Twine(maximum) + " levels");
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return llvm::Error::success();
}

/// Text of a value for a message, cut short.
static std::string show(const llvm::json::Value *value) {
  if (!value)
    return "nothing";
  std::string text;
  llvm::raw_string_ostream(text) << *value;
  constexpr size_t maximum = 60;
  if (text.size() > maximum)
    text = text.substr(0, maximum) + "...";
  return text;
}

static llvm::Error fail(const llvm::Twine &path, const llvm::json::Value *got,
                        const llvm::Twine &wanted) {
  return llvm::createStringError(path + ": expected " + wanted + ", got " +
                                 show(got));
}

static llvm::Expected<std::string> readString(const llvm::json::Object &object,
                                              const std::string &path,
                                              llvm::StringRef key) {
  const llvm::json::Value *value = object.get(key);
  if (std::optional<llvm::StringRef> text =
          value ? value->getAsString() : std::nullopt)
    if (!text->empty())
      return text->str();
  return fail(path + key, value, "a string that is not empty");
}

static llvm::Expected<uint32_t> readPositive(const llvm::json::Value *value,
                                             const llvm::Twine &path) {
  std::optional<int64_t> number = value ? value->getAsInteger() : std::nullopt;
  if (!number || *number < 1 || *number > std::numeric_limits<int32_t>::max())
    return fail(path, value, "a positive 32-bit integer");
  return uint32_t(*number);
}

static llvm::Expected<ArgumentDescription>
readArgument(const llvm::json::Value &value, const std::string &place,
             bool isGrid) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail(place, &value, "an object");
  std::string path = place + ".";

  ArgumentDescription argument;
  llvm::Expected<std::string> name = readString(*object, path, "name");
  if (!name)
    return name.takeError();
  argument.name = *name;

  llvm::Expected<std::string> kind = readString(*object, path, "kind");
  if (!kind)
    return kind.takeError();
  bool known = false;
  for (ArgumentKind candidate :
       {ArgumentKind::Scalar, ArgumentKind::Input, ArgumentKind::Output,
        ArgumentKind::Workspace,
        isGrid ? ArgumentKind::Dimension : ArgumentKind::Zones})
    if (*kind == stringify(candidate)) {
      argument.kind = candidate;
      known = true;
    }
  if (!known)
    return fail(path + "kind", object->get("kind"),
                "one of scalar, input, output, workspace, " +
                    llvm::Twine(isGrid ? "dimension" : "zones"));

  llvm::Expected<std::string> type = readString(*object, path, "type");
  if (!type)
    return type.takeError();
  std::optional<ElementType> elementType = parseElementType(*type);
  if (!elementType)
    return fail(path + "type", object->get("type"),
                "one of " + llvm::Twine(elementTypeNames));
  argument.type = *elementType;
  bool isSize = argument.kind == ArgumentKind::Zones ||
                argument.kind == ArgumentKind::Dimension;
  if (isSize && argument.type != ElementType::I64 &&
      argument.type != ElementType::I32)
    return fail(path + "type", object->get("type"),
                isGrid ? "i64 or i32 for a dimension"
                       : "i64 or i32 for the number of zones");

  const llvm::json::Value *shape = object->get("shape");
  if (!argument.isArray()) {
    if (shape)
      return fail(path + "shape", shape, "nothing for a " + llvm::Twine(*kind));
  } else if (shape || !isGrid) {
    const llvm::json::Array *sizes = shape ? shape->getAsArray() : nullptr;
    if (!sizes || sizes->empty())
      return fail(path + "shape", shape,
                  isGrid ? "an array of sizes and names of sizes"
                         : "an array of sizes, at most one of them \"zones\"");
    for (size_t i = 0; i < sizes->size(); ++i) {
      const llvm::json::Value &size = (*sizes)[i];
      std::string sizePath = path + "shape[" + std::to_string(i) + "]";
      ArgumentDimension dimension;
      if (std::optional<llvm::StringRef> text = size.getAsString()) {
        if (isGrid ? text->empty() || *text == "zones" : *text != "zones")
          return fail(sizePath, &size,
                      isGrid ? "a positive integer or the name of a size"
                             : "a positive integer or \"zones\"");
        if (!isGrid && argument.getZonesDimension() >= 0)
          return fail(path + "shape", shape, "\"zones\" at one place only");
        dimension.name = text->str();
      } else {
        llvm::Expected<uint32_t> number = readPositive(&size, sizePath);
        if (!number)
          return number.takeError();
        dimension.size = *number;
      }
      argument.shape.push_back(dimension);
    }
  }

  for (const auto &member : *object) {
    llvm::StringRef key = member.first;
    if (key != "name" && key != "kind" && key != "type" && key != "shape")
      return llvm::createStringError(path + key +
                                     ": unknown member of an argument");
  }
  return argument;
}

/// "8", "batch", "batch + 1" or "queries ceildiv 128"; another expression has
/// no value here.
static GridSize readGridSize(llvm::StringRef text) {
  GridSize size;
  size.text = text.str();
  auto isName = [](llvm::StringRef word) {
    return !word.empty() && !llvm::isDigit(word[0]) &&
           llvm::all_of(word,
                        [](char c) { return llvm::isAlnum(c) || c == '_'; });
  };
  int64_t number = 0;
  if (!text.getAsInteger(10, number)) {
    size.size = number > 0 ? number : 0;
    return size;
  }
  auto [name, rest] = text.split(' ');
  if (!isName(name))
    return size;
  if (rest.consume_front("ceildiv ")) {
    if (rest.getAsInteger(10, number) || number < 1)
      return size;
    size.divisor = number;
  } else if (rest.consume_front("+ ")) {
    if (rest.getAsInteger(10, number) || number < 0 ||
        number > std::numeric_limits<uint32_t>::max())
      return size;
    size.addend = number;
  } else if (name.size() != text.size()) {
    return size;
  }
  size.dimension = name.str();
  return size;
}

static llvm::Expected<KernelDescription>
readKernel(const llvm::json::Value &value, const std::string &place,
           const TargetInfo &target) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail(place, &value, "an object");
  std::string path = place + ".";

  KernelDescription kernel;
  llvm::Expected<std::string> name = readString(*object, path, "name");
  if (!name)
    return name.takeError();
  kernel.name = *name;

  const llvm::json::Value *workgroup = object->get("workgroup_size");
  const llvm::json::Array *sizes =
      workgroup ? workgroup->getAsArray() : nullptr;
  if (!sizes || sizes->size() != 3)
    return fail(path + "workgroup_size", workgroup, "an array of 3 integers");
  uint64_t workItems = 1;
  for (unsigned i = 0; i < 3; ++i) {
    llvm::Expected<uint32_t> size = readPositive(
        &(*sizes)[i], path + "workgroup_size[" + llvm::Twine(i) + "]");
    if (!size)
      return size.takeError();
    kernel.workgroupSize[i] = *size;
    workItems *= *size;
    if (workItems > target.maxWorkgroupSize)
      return fail(path + "workgroup_size", workgroup,
                  "at most " + llvm::Twine(target.maxWorkgroupSize) +
                      " work-items");
  }

  if (const llvm::json::Value *grid = object->get("grid")) {
    const llvm::json::Array *gridSizes = grid->getAsArray();
    if (!gridSizes || gridSizes->size() != 3)
      return fail(path + "grid", grid, "an array of 3 expressions");
    for (unsigned i = 0; i < 3; ++i) {
      std::optional<llvm::StringRef> text = (*gridSizes)[i].getAsString();
      if (!text || text->empty())
        return fail(path + "grid[" + llvm::Twine(i) + "]", &(*gridSizes)[i],
                    "an expression as a string");
      kernel.grid.push_back(readGridSize(*text));
    }
  } else {
    llvm::Expected<uint32_t> zones = readPositive(
        object->get("zones_per_workgroup"), path + "zones_per_workgroup");
    if (!zones)
      return zones.takeError();
    kernel.zonesPerWorkgroup = *zones;
  }

  const llvm::json::Value *list = object->get("arguments");
  const llvm::json::Array *arguments = list ? list->getAsArray() : nullptr;
  if (!arguments)
    return fail(path + "arguments", list, "an array");
  llvm::StringSet<> names;
  bool hasZones = false;
  for (size_t i = 0; i < arguments->size(); ++i) {
    std::string argumentPath = path + "arguments[" + std::to_string(i) + "]";
    llvm::Expected<ArgumentDescription> argument =
        readArgument((*arguments)[i], argumentPath, kernel.isGrid());
    if (!argument)
      return argument.takeError();
    if (!names.insert(argument->name).second)
      return llvm::createStringError(
          argumentPath + ": second argument named '" + argument->name + "'");
    if (argument->kind == ArgumentKind::Zones) {
      if (hasZones)
        return llvm::createStringError(argumentPath +
                                       ": second argument of kind zones");
      hasZones = true;
    }
    kernel.arguments.push_back(std::move(*argument));
  }
  if (const llvm::json::Value *schedule = object->get("schedule"))
    kernel.schedule = *schedule;
  return kernel;
}

llvm::Expected<CodeObjectDescription>
CodeObjectDescription::parse(llvm::StringRef json) {
  if (llvm::Error error = checkNesting(json))
    return error;
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(json);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return fail("kernel description", &*root, "an object");

  const llvm::json::Value *version = object->get("wavesmith");
  std::optional<int64_t> number =
      version ? version->getAsInteger() : std::nullopt;
  if (!number || *number != formatVersion)
    return fail("wavesmith", version,
                "format version " + llvm::Twine(formatVersion));

  CodeObjectDescription description;
  llvm::Expected<std::string> target = readString(*object, "", "target");
  if (!target)
    return target.takeError();
  llvm::Expected<const TargetInfo &> targetInfo = lookupTarget(*target);
  if (!targetInfo)
    return llvm::createStringError("target: " +
                                   llvm::toString(targetInfo.takeError()));
  description.target = *target;

  const llvm::json::Value *list = object->get("kernels");
  const llvm::json::Array *kernels = list ? list->getAsArray() : nullptr;
  if (!kernels || kernels->empty())
    return fail("kernels", list, "an array that is not empty");
  llvm::StringSet<> names;
  for (size_t i = 0; i < kernels->size(); ++i) {
    std::string path = "kernels[" + std::to_string(i) + "]";
    llvm::Expected<KernelDescription> kernel =
        readKernel((*kernels)[i], path, *targetInfo);
    if (!kernel)
      return kernel.takeError();
    if (!names.insert(kernel->name).second)
      return llvm::createStringError(path + ": second kernel named '" +
                                     kernel->name + "'");
    description.kernels.push_back(std::move(*kernel));
  }
  return description;
}
