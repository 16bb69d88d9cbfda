//===- PeerKernel.cpp - Code objects of other compilers ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeerKernel.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace wavesmith::bench;

Expected<PeerKernel> wavesmith::bench::readPeerKernel(StringRef description) {
  auto text = MemoryBuffer::getFile(description);
  if (!text)
    return createStringError(description + ": " + text.getError().message());
  auto value = json::parse((*text)->getBuffer());
  if (!value)
    return createStringError(description + ": " + toString(value.takeError()));
  auto bad = [&](const Twine &what) {
    return createStringError(description + ": " + what);
  };
  const json::Object *object = value->getAsObject();
  if (!object)
    return bad("not a JSON object");
  PeerKernel kernel;
  kernel.name = sys::path::stem(description).str();
  SmallString<128> path(description);
  sys::path::replace_extension(path, "hsaco");
  kernel.path = path.str().str();
  for (auto [key, to] : {std::pair("threads", &kernel.threads),
                         std::pair("shared_memory", &kernel.sharedMemory),
                         std::pair("block_m", &kernel.blockM)}) {
    std::optional<int64_t> number = object->getInteger(key);
    if (!number || !isUInt<31>(*number))
      return bad("no number '" + Twine(key) + "'");
    *to = static_cast<uint32_t>(*number);
  }
  if (!kernel.threads || !kernel.blockM)
    return bad("'threads' and 'block_m' have to be positive");
  const json::Array *arguments = object->getArray("arguments");
  if (!arguments)
    return bad("no array 'arguments'");
  for (const json::Value &entry : *arguments) {
    const json::Object *argument = entry.getAsObject();
    auto name = argument ? argument->getString("name") : std::nullopt;
    auto kind = argument ? argument->getString("kind") : std::nullopt;
    if (!name || !kind)
      return bad("an argument without 'name' and 'kind'");
    kernel.arguments.emplace_back(name->str(), kind->str());
  }
  kernel.compileSeconds = object->getNumber("compile_seconds");
  return kernel;
}
