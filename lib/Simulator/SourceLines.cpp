//===- SourceLines.cpp - From addresses to source lines -----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceLines.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include <optional>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

struct SourceLines::State {
  std::unique_ptr<object::ObjectFile> file;
  std::unique_ptr<DWARFContext> context;
};

SourceLines::SourceLines(ArrayRef<uint8_t> elf) : elf(elf) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(uint64_t address) {
  if (broken)
    return "";
  // LLVM's reader crashes on some damaged files. They have no lines then, and
  // what it was at is leaked.
  std::optional<std::string> line;
  Error fatal = containFatalErrors([&] { line = find(address); });
  if (!fatal)
    return *line;
  consumeError(std::move(fatal));
  (void)state.release();
  broken = true;
  return "";
}

std::string SourceLines::find(uint64_t address) {
  if (!state) {
    state = std::make_unique<State>();
    auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(
        StringRef(reinterpret_cast<const char *>(elf.data()), elf.size()),
        "code object"));
    if (!file) {
      consumeError(file.takeError());
      return "";
    }
    state->file = std::move(*file);
    // Whatever is wrong with it, there is no line then.
    auto ignore = [](Error error) { consumeError(std::move(error)); };
    state->context = DWARFContext::create(
        *state->file, DWARFContext::ProcessDebugRelocations::Process, nullptr,
        "", ignore, ignore);
  }
  if (!state->context)
    return "";
  object::SectionedAddress where;
  where.Address = address;
  where.SectionIndex = object::SectionedAddress::UndefSection;
  for (const object::SectionRef &section : state->file->sections())
    if (section.isText() && address >= section.getAddress() &&
        address - section.getAddress() < section.getSize())
      where.SectionIndex = section.getIndex();
  DILineInfoSpecifier specifier(
      DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  std::optional<DILineInfo> info =
      state->context->getLineInfoForAddress(where, specifier);
  if (!info || info->Line == 0 || info->FileName == DILineInfo::BadString)
    return "";
  return printable(info->FileName) + ":" + std::to_string(info->Line) + ":" +
         std::to_string(info->Column);
}
