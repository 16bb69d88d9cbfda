//===- CodeObject.cpp - Loading AMDGPU code objects ---------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include <atomic>
#include <cstring>
#include <optional>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

using File = object::ELFFile<object::ELF64LE>;

/// More than any kernel has; keeps damaged files from asking for everything.
static constexpr uint64_t maximumImageBytes = uint64_t(1) << 30;

static Error malformed(const Twine &message) {
  return createStringError("malformed code object: " + message);
}

uint32_t KernelInfo::explicitArgumentSize() const {
  uint32_t size = 0;
  for (const KernelArgument &argument : arguments)
    if (!StringRef(argument.valueKind).starts_with("hidden_"))
      size = std::max(size, argument.offset + argument.size);
  return size;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

namespace {

/// Reads values from a metadata map with checks.
class MetadataMap {
public:
  explicit MetadataMap(msgpack::MapDocNode map, std::string where)
      : map(map), where(std::move(where)) {}

  Expected<uint32_t> number(StringRef key) {
    auto it = map.find(key);
    if (it == map.end())
      return malformed(where + " has no " + key);
    return numberOf(it->second, key);
  }
  Expected<uint32_t> number(StringRef key, uint32_t otherwise) {
    auto it = map.find(key);
    if (it == map.end())
      return otherwise;
    return numberOf(it->second, key);
  }
  Expected<std::string> string(StringRef key) {
    auto it = map.find(key);
    if (it == map.end())
      return malformed(where + " has no " + key);
    if (!it->second.isString())
      return malformed(where + ": " + key + " is no string");
    // A name that cannot be shown could not be asked for either.
    StringRef text = it->second.getString();
    if (!isPrintable(text))
      return malformed(where + ": " + key + " is no text: '" + text + "'");
    return text.str();
  }
  /// Of something that is only shown.
  std::string stringOr(StringRef key) {
    auto it = map.find(key);
    if (it == map.end() || !it->second.isString())
      return "";
    return printable(it->second.getString());
  }
  Expected<bool> boolean(StringRef key) {
    auto it = map.find(key);
    if (it == map.end())
      return false;
    if (it->second.getKind() != msgpack::Type::Boolean)
      return malformed(where + ": " + key + " is no boolean");
    return it->second.getBool();
  }
  msgpack::DocNode *find(StringRef key) {
    auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
  }

  Expected<uint32_t> numberOf(msgpack::DocNode &node, StringRef key) {
    if (node.getKind() == msgpack::Type::UInt && node.getUInt() <= UINT32_MAX)
      return static_cast<uint32_t>(node.getUInt());
    if (node.getKind() == msgpack::Type::Int && node.getInt() >= 0 &&
        node.getInt() <= int64_t(UINT32_MAX))
      return static_cast<uint32_t>(node.getInt());
    return malformed(where + ": " + key + " is no unsigned 32-bit number");
  }

private:
  msgpack::MapDocNode map;
  std::string where;
};

Error readKernel(msgpack::DocNode &node, KernelInfo &info,
                 std::string &symbol) {
  if (!node.isMap())
    return malformed("an entry of amdhsa.kernels is no map");
  MetadataMap anonymous(node.getMap(), "a kernel's metadata");
  auto name = anonymous.string(".name");
  if (!name)
    return name.takeError();
  info.name = *name;
  MetadataMap map(node.getMap(), "the metadata of kernel '" + info.name + "'");
  auto symbolName = map.string(".symbol");
  if (!symbolName)
    return symbolName.takeError();
  symbol = *symbolName;
  struct Field {
    const char *key;
    uint32_t *target;
    bool optional;
  };
  for (Field field :
       {Field{".kernarg_segment_size", &info.kernargSize, false},
        Field{".kernarg_segment_align", &info.kernargAlignment, false},
        Field{".group_segment_fixed_size", &info.groupSegmentFixedSize, false},
        Field{".private_segment_fixed_size", &info.privateSegmentFixedSize,
              false},
        Field{".sgpr_count", &info.sgprCount, false},
        Field{".vgpr_count", &info.vgprCount, false},
        Field{".agpr_count", &info.agprCount, true},
        Field{".sgpr_spill_count", &info.sgprSpillCount, true},
        Field{".vgpr_spill_count", &info.vgprSpillCount, true},
        Field{".max_flat_workgroup_size", &info.maxFlatWorkgroupSize, false},
        Field{".wavefront_size", &info.wavefrontSize, false}}) {
    auto value =
        field.optional ? map.number(field.key, 0) : map.number(field.key);
    if (!value)
      return value.takeError();
    *field.target = *value;
  }
  if (info.agprCount > info.vgprCount)
    return malformed("the metadata of kernel '" + info.name + "' counts " +
                     Twine(info.vgprCount) +
                     " vector registers in all (.vgpr_count) and " +
                     Twine(info.agprCount) +
                     " accumulation registers among them (.agpr_count)");
  if (info.wavefrontSize != lanesPerWave)
    return malformed("kernel '" + info.name + "' has wavefronts of " +
                     Twine(info.wavefrontSize) + " lanes, gfx90a and gfx942 " +
                     "have " + Twine(lanesPerWave));
  auto dynamicStack = map.boolean(".uses_dynamic_stack");
  if (!dynamicStack)
    return dynamicStack.takeError();
  info.usesDynamicStack = *dynamicStack;
  if (msgpack::DocNode *required = map.find(".reqd_workgroup_size")) {
    if (!required->isArray() || required->getArray().size() != 3)
      return malformed("kernel '" + info.name +
                       "': .reqd_workgroup_size is no array of three");
    for (unsigned i = 0; i < 3; ++i) {
      auto value =
          map.numberOf(required->getArray()[i], ".reqd_workgroup_size");
      if (!value)
        return value.takeError();
      info.requiredWorkgroupSize[i] = *value;
    }
  }
  if (msgpack::DocNode *arguments = map.find(".args")) {
    if (!arguments->isArray())
      return malformed("kernel '" + info.name + "': .args is no array");
    for (msgpack::DocNode &entry : arguments->getArray()) {
      if (!entry.isMap())
        return malformed("kernel '" + info.name +
                         "': an argument's metadata is no map");
      MetadataMap argument(entry.getMap(),
                           "an argument of kernel '" + info.name + "'");
      KernelArgument result;
      result.name = argument.stringOr(".name");
      auto kind = argument.string(".value_kind");
      if (!kind)
        return kind.takeError();
      result.valueKind = *kind;
      auto offset = argument.number(".offset");
      if (!offset)
        return offset.takeError();
      auto size = argument.number(".size");
      if (!size)
        return size.takeError();
      result.offset = *offset;
      result.size = *size;
      if (uint64_t(result.offset) + result.size > info.kernargSize)
        return malformed("argument '" + result.name + "' of kernel '" +
                         info.name + "' ends at byte " +
                         Twine(uint64_t(result.offset) + result.size) +
                         " of a kernarg segment of " + Twine(info.kernargSize));
      info.arguments.push_back(std::move(result));
    }
  }
  return Error::success();
}

/// Walks over one value. LLVM's document reader trusts its input: it stops the
/// program at map keys that are no scalars and at types that metadata never
/// has, so they are turned down before.
Error checkMessagePack(msgpack::Reader &reader, unsigned depth) {
  if (depth > 16)
    return malformed("the metadata note is nested too deeply");
  msgpack::Object object;
  auto more = reader.read(object);
  if (!more)
    return more.takeError();
  if (!*more)
    return malformed("the metadata note ends early");
  switch (object.Kind) {
  case msgpack::Type::Nil:
  case msgpack::Type::Int:
  case msgpack::Type::UInt:
  case msgpack::Type::Boolean:
  case msgpack::Type::Float:
  case msgpack::Type::String:
    return Error::success();
  case msgpack::Type::Array:
    for (size_t i = 0; i < object.Length; ++i)
      if (Error error = checkMessagePack(reader, depth + 1))
        return error;
    return Error::success();
  case msgpack::Type::Map:
    for (size_t i = 0; i < object.Length; ++i) {
      msgpack::Object key;
      auto haveKey = reader.read(key);
      if (!haveKey)
        return haveKey.takeError();
      if (!*haveKey || key.Kind != msgpack::Type::String)
        return malformed("a key in the metadata note is no string");
      if (Error error = checkMessagePack(reader, depth + 1))
        return error;
    }
    return Error::success();
  default:
    return malformed("the metadata note holds a value of unexpected type");
  }
}

Error readMetadata(ArrayRef<uint8_t> blob,
                   wavesmith::sim::detail::CodeObjectImage &image,
                   std::vector<std::string> &symbols) {
  msgpack::Document document;
  StringRef text(reinterpret_cast<const char *>(blob.data()), blob.size());
  msgpack::Reader reader(text);
  if (Error error = checkMessagePack(reader, 0))
    return error;
  if (!document.readFromBlob(text, /*Multi=*/false))
    return malformed("the metadata note is no valid MessagePack");
  msgpack::DocNode &root = document.getRoot();
  if (!root.isMap())
    return malformed("the metadata note is no map");
  MetadataMap map(root.getMap(), "the metadata");
  msgpack::DocNode *kernels = map.find("amdhsa.kernels");
  if (!kernels)
    return Error::success();
  if (!kernels->isArray())
    return malformed("amdhsa.kernels is no array");
  for (msgpack::DocNode &node : kernels->getArray()) {
    KernelInfo info;
    std::string symbol;
    if (Error error = readKernel(node, info, symbol))
      return error;
    image.kernels.push_back(std::move(info));
    symbols.push_back(std::move(symbol));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// ELF
//===----------------------------------------------------------------------===//

/// The bytes [offset, offset + size) of the file.
Expected<ArrayRef<uint8_t>> slice(ArrayRef<uint8_t> elf, uint64_t offset,
                                  uint64_t size, const Twine &what) {
  if (offset > elf.size() || elf.size() - offset < size)
    return malformed(what + " lies outside of the file");
  return elf.slice(offset, size);
}

Error readSegments(const File &file,
                   wavesmith::sim::detail::CodeObjectImage &image) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  uint64_t total = 0;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    if (header.p_filesz > header.p_memsz)
      return malformed("a segment is larger in the file than in memory");
    if (header.p_memsz > maximumImageBytes ||
        (total += header.p_memsz) > maximumImageBytes ||
        header.p_vaddr > maximumImageBytes)
      return malformed("the segments take more than 1 GiB");
    auto bytes =
        slice(image.elf, header.p_offset, header.p_filesz, "a loaded segment");
    if (!bytes)
      return bytes.takeError();
    if (header.p_memsz == 0)
      continue;
    Segment segment;
    segment.address = header.p_vaddr;
    segment.size = header.p_memsz;
    segment.contents.assign(bytes->begin(), bytes->end());
    segment.writable = header.p_flags & ELF::PF_W;
    segment.executable = header.p_flags & ELF::PF_X;
    image.segments.push_back(std::move(segment));
  }
  std::sort(
      image.segments.begin(), image.segments.end(),
      [](const Segment &a, const Segment &b) { return a.address < b.address; });
  for (size_t i = 1; i < image.segments.size(); ++i)
    if (image.segments[i].address - image.segments[i - 1].address <
        image.segments[i - 1].size)
      return malformed("loaded segments overlap");
  return Error::success();
}

const Segment *segmentWith(const wavesmith::sim::detail::CodeObjectImage &image,
                           uint64_t address, uint64_t size) {
  for (const Segment &segment : image.segments)
    if (address >= segment.address &&
        address - segment.address <= segment.size &&
        segment.size - (address - segment.address) >= size)
      return &segment;
  return nullptr;
}

Error readKernelDescriptor(const wavesmith::sim::detail::CodeObjectImage &image,
                           KernelInfo &info, KernelCode &code) {
  static_assert(sizeof(amdhsa::kernel_descriptor_t) == 64);
  amdhsa::kernel_descriptor_t descriptor;
  const Segment *segment =
      segmentWith(image, info.descriptorAddress, sizeof(descriptor));
  uint64_t offset = segment ? info.descriptorAddress - segment->address : 0;
  if (!segment || segment->contents.size() < sizeof(descriptor) ||
      offset > segment->contents.size() - sizeof(descriptor))
    return malformed("the descriptor of kernel '" + info.name +
                     "' lies outside of the loaded segments");
  std::memcpy(&descriptor, segment->contents.data() + offset,
              sizeof(descriptor));
  code.rsrc1 = descriptor.compute_pgm_rsrc1;
  code.rsrc2 = descriptor.compute_pgm_rsrc2;
  code.rsrc3 = descriptor.compute_pgm_rsrc3;
  code.properties = descriptor.kernel_code_properties;
  code.kernargPreload = descriptor.kernarg_preload;
  code.groupSegmentSize = descriptor.group_segment_fixed_size;
  code.privateSegmentSize = descriptor.private_segment_fixed_size;
  code.entryAddress =
      info.descriptorAddress +
      static_cast<uint64_t>(descriptor.kernel_code_entry_byte_offset);
  if (code.groupSegmentSize != info.groupSegmentFixedSize ||
      code.privateSegmentSize != info.privateSegmentFixedSize)
    return malformed("descriptor and metadata of kernel '" + info.name +
                     "' disagree on the sizes of LDS or scratch");
  return Error::success();
}

Error readSymbolsAndRelocations(const File &file,
                                wavesmith::sim::detail::CodeObjectImage &image,
                                ArrayRef<std::string> descriptorSymbols) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  std::vector<bool> found(descriptorSymbols.size(), false);
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_DYNSYM ||
        section.sh_type == ELF::SHT_SYMTAB) {
      auto symbols = file.symbols(&section);
      if (!symbols)
        return symbols.takeError();
      auto strings = file.getStringTableForSymtab(section);
      if (!strings)
        return strings.takeError();
      for (const auto &symbol : *symbols) {
        auto name = symbol.getName(*strings);
        if (!name)
          return name.takeError();
        if (symbol.st_shndx == ELF::SHN_UNDEF)
          continue;
        for (size_t k = 0; k < descriptorSymbols.size(); ++k)
          if (*name == descriptorSymbols[k]) {
            image.kernels[k].descriptorAddress = symbol.st_value;
            found[k] = true;
          }
      }
    }
    if (section.sh_type == ELF::SHT_REL && (section.sh_flags & ELF::SHF_ALLOC))
      return malformed("relocations without addends are not supported");
    if (section.sh_type == ELF::SHT_RELA &&
        (section.sh_flags & ELF::SHF_ALLOC)) {
      auto relocations = file.relas(section);
      if (!relocations)
        return relocations.takeError();
      if (section.sh_link >= sections->size())
        return malformed("a relocation section names no symbol table");
      auto symbols = file.symbols(&(*sections)[section.sh_link]);
      if (!symbols)
        return symbols.takeError();
      for (const auto &relocation : *relocations) {
        uint32_t type = relocation.getType(false);
        Relocation result;
        result.address = relocation.r_offset;
        result.size = 8;
        result.value =
            static_cast<uint64_t>(static_cast<int64_t>(relocation.r_addend));
        if (type == ELF::R_AMDGPU_NONE)
          continue;
        if (type == ELF::R_AMDGPU_ABS64) {
          uint32_t index = relocation.getSymbol(false);
          if (index >= symbols->size())
            return malformed("a relocation names symbol " + Twine(index) +
                             " of " + Twine(symbols->size()));
          const auto &symbol = (*symbols)[index];
          if (symbol.st_shndx == ELF::SHN_UNDEF)
            return createStringError(
                "the code object needs a symbol that it does not define");
          result.value += symbol.st_value;
        } else if (type != ELF::R_AMDGPU_RELATIVE64) {
          return createStringError("relocation type " + Twine(type) +
                                   " is not supported");
        }
        if (!segmentWith(image, result.address, 8))
          return malformed("a relocation lies outside of the loaded segments");
        image.relocations.push_back(result);
      }
    }
    if (section.sh_type == ELF::SHT_PROGBITS &&
        (section.sh_flags & ELF::SHF_EXECINSTR) &&
        (section.sh_flags & ELF::SHF_ALLOC) && section.sh_size) {
      auto bytes = slice(image.elf, section.sh_offset, section.sh_size,
                         "an executable section");
      if (!bytes)
        return bytes.takeError();
      const Segment *segment =
          segmentWith(image, section.sh_addr, section.sh_size);
      if (!segment || !segment->executable || section.sh_addr % 4)
        return malformed("an executable section lies in no executable segment");
      TextSection text;
      text.address = section.sh_addr;
      text.bytes = *bytes;
      image.texts.push_back(std::move(text));
    }
  }
  for (size_t k = 0; k < found.size(); ++k)
    if (!found[k])
      return malformed("kernel '" + image.kernels[k].name +
                       "' has no symbol '" + descriptorSymbols[k] + "'");
  return Error::success();
}

Error readImage(wavesmith::sim::detail::CodeObjectImage &image) {
  StringRef text(reinterpret_cast<const char *>(image.elf.data()),
                 image.elf.size());
  if (text.starts_with("__CLANG_OFFLOAD_BUNDLE__") || text.starts_with("CCOB"))
    return createStringError(
        "an offload bundle, not an ELF file: clang-offload-bundler --unbundle "
        "takes a code object out, clang makes none with "
        "--no-gpu-bundle-output");
  if (image.elf.size() < sizeof(File::Elf_Ehdr) ||
      !text.starts_with(StringRef("\177ELF", 4)))
    return createStringError("not an ELF file");
  if (image.elf[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      image.elf[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return createStringError("not a 64-bit little-endian ELF file");
  auto file = File::create(text);
  if (!file)
    return file.takeError();
  const File::Elf_Ehdr &header = file->getHeader();
  if (header.e_machine != ELF::EM_AMDGPU)
    return createStringError("not an AMDGPU code object: ELF machine " +
                             Twine(unsigned(header.e_machine)));
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return createStringError("not an HSA code object: OS ABI " +
                             Twine(unsigned(header.e_ident[ELF::EI_OSABI])));
  if (header.e_type != ELF::ET_DYN)
    return createStringError("not a linked code object (ELF type " +
                             Twine(unsigned(header.e_type)) +
                             "): link it with ld.lld -shared");
  switch (header.e_ident[ELF::EI_ABIVERSION]) {
  case ELF::ELFABIVERSION_AMDGPU_HSA_V4:
    image.version = 4;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V5:
    image.version = 5;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V6:
    image.version = 6;
    break;
  default:
    return createStringError(
        "code object version not supported: ABI version " +
        Twine(unsigned(header.e_ident[ELF::EI_ABIVERSION])) +
        ", versions 4, 5 and 6 are supported");
  }
  unsigned machine = header.e_flags & ELF::EF_AMDGPU_MACH;
  if (machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A)
    image.target = "gfx90a";
  else if (machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX942)
    image.target = "gfx942";
  else
    return createStringError("code object for machine 0x" +
                             Twine::utohexstr(machine) +
                             ": gfx90a and gfx942 are supported");
  if (Error error = readSegments(*file, image))
    return error;

  std::vector<std::string> symbols;
  bool haveMetadata = false;
  auto headers = file->program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_NOTE)
      continue;
    Error noteError = Error::success();
    for (const auto &note : file->notes(segment, noteError)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != ELF::NT_AMDGPU_METADATA || haveMetadata)
        continue;
      haveMetadata = true;
      if (Error error =
              readMetadata(note.getDesc(segment.p_align), image, symbols)) {
        consumeError(std::move(noteError));
        return error;
      }
    }
    if (noteError)
      return noteError;
  }
  if (!haveMetadata)
    return malformed("there is no AMDGPU metadata note");
  if (Error error = readSymbolsAndRelocations(*file, image, symbols))
    return error;
  image.codes.resize(image.kernels.size());
  for (size_t k = 0; k < image.kernels.size(); ++k)
    if (Error error =
            readKernelDescriptor(image, image.kernels[k], image.codes[k]))
      return error;
  return decode(image);
}

} // namespace

//===----------------------------------------------------------------------===//
// CodeObject
//===----------------------------------------------------------------------===//

CodeObject::CodeObject()
    : impl(std::make_unique<wavesmith::sim::detail::CodeObjectImage>()) {}
CodeObject::~CodeObject() = default;

Expected<std::shared_ptr<const CodeObject>>
CodeObject::load(ArrayRef<uint8_t> elf) {
  static std::atomic<uint64_t> nextIdentity{1};
  std::shared_ptr<CodeObject> result(new CodeObject());
  result->impl->identity = nextIdentity++;
  result->impl->elf.assign(elf.begin(), elf.end());
  // LLVM's readers end the process where a file is damaged in ways that they do
  // not expect.
  std::optional<std::string> problem;
  if (Error fatal = containFatalErrors([&] {
        if (Error error = readImage(*result->impl))
          problem = toString(std::move(error));
      })) {
    // Half built: to be leaked.
    (void)new std::shared_ptr<CodeObject>(std::move(result));
    return malformed("the reader gave up: " +
                     printable(toString(std::move(fatal))));
  }
  // Messages of LLVM and ours quote what stands in the file.
  if (problem)
    return createStringError(printable(*problem));
  return std::shared_ptr<const CodeObject>(std::move(result));
}

StringRef CodeObject::target() const { return impl->target; }
unsigned CodeObject::version() const { return impl->version; }
ArrayRef<KernelInfo> CodeObject::kernels() const { return impl->kernels; }

const KernelInfo *CodeObject::findKernel(StringRef name) const {
  for (const KernelInfo &kernel : impl->kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

int32_t
wavesmith::sim::detail::CodeObjectImage::indexAt(uint64_t address) const {
  for (const TextSection &text : texts) {
    uint64_t offset = address - text.address;
    if (address < text.address || offset % 4 ||
        offset / 4 >= text.indexOfWord.size())
      continue;
    return text.indexOfWord[offset / 4];
  }
  return -1;
}

Expected<std::vector<CodeObject::DecodedInstruction>>
CodeObject::disassemble(StringRef kernel) const {
  const KernelInfo *info = findKernel(kernel);
  if (!info)
    return createStringError("no kernel '" + kernel + "' in the code object");
  const KernelCode &code = impl->codes[info - impl->kernels.data()];
  int32_t index = impl->indexAt(code.entryAddress);
  if (index < 0)
    return malformed("kernel '" + kernel + "' starts at no instruction");
  // To the first end of program that is followed by padding or another kernel.
  std::vector<DecodedInstruction> result;
  uint32_t text = impl->textOf[index];
  uint32_t end = index;
  for (uint32_t i = index;
       i < impl->instructions.size() && impl->textOf[i] == text; ++i) {
    uint64_t address = impl->addressOf(i);
    bool other = false;
    for (const KernelCode &c : impl->codes)
      other |= c.entryAddress == address && i != uint32_t(index);
    if (other)
      break;
    StringRef name = impl->opcodeNames[impl->instructions[i].opcodeName];
    if (name != "S_NOP" && name != "")
      end = i + 1;
  }
  Handler unknown = opcodeTable().unknown;
  for (uint32_t i = index; i < end; ++i) {
    const Instruction &instruction = impl->instructions[i];
    result.push_back({impl->addressOf(i), impl->textOfInstruction(i),
                      impl->opcodeNames[instruction.opcodeName],
                      instruction.handler != unknown});
  }
  return result;
}
