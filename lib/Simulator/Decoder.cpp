//===- Decoder.cpp - From machine code to decoded instructions ----------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "wavesmith/Simulator/MatrixInstruction.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

using namespace llvm;
using namespace wavesmith::sim;

// llvm::Instruction is visible as well.
using DecodedInstruction = wavesmith::sim::Instruction;

namespace {

/// LLVM's description of a processor. Not shared between threads.
class MachineCode {
public:
  static Expected<std::unique_ptr<MachineCode>> create(StringRef processor);

  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembler;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
  std::unique_ptr<MCInstPrinter> printer;
};

Expected<std::unique_ptr<MachineCode>>
MachineCode::create(StringRef processor) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  auto result = std::make_unique<MachineCode>();
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + message);
  MCTargetOptions options;
  result->registers.reset(target->createMCRegInfo(triple));
  result->assembler.reset(
      target->createMCAsmInfo(*result->registers, triple, options));
  result->subtarget.reset(target->createMCSubtargetInfo(triple, processor, ""));
  result->instructions.reset(target->createMCInstrInfo());
  if (!result->registers || !result->assembler || !result->subtarget ||
      !result->instructions)
    return createStringError("LLVM cannot describe " + processor);
  result->context = std::make_unique<MCContext>(triple, result->assembler.get(),
                                                result->registers.get(),
                                                result->subtarget.get());
  result->disassembler.reset(
      target->createMCDisassembler(*result->subtarget, *result->context));
  result->printer.reset(
      target->createMCInstPrinter(triple, 0, *result->assembler,
                                  *result->instructions, *result->registers));
  if (!result->disassembler || !result->printer)
    return createStringError("LLVM cannot disassemble " + processor);
  return std::move(result);
}

/// A MachineCode that this thread alone has while it lives. Making one takes a
/// millisecond, so they are kept for the next user; not for ever, because their
/// contexts keep what disassembling allocates. One whose user is left by a jump
/// (containFatalErrors) is lost, and no lock is held meanwhile.
class BorrowedMachineCode {
public:
  static Expected<BorrowedMachineCode> take(StringRef processor) {
    BorrowedMachineCode result(processor);
    {
      Shelf &shelf = theShelf();
      std::lock_guard<std::mutex> lock(shelf.mutex);
      auto &free = shelf.free[processor];
      if (!free.empty()) {
        result.kept = std::move(free.back());
        free.pop_back();
      }
    }
    if (!result.kept.code) {
      auto code = MachineCode::create(processor);
      if (!code)
        return code.takeError();
      result.kept.code = std::move(*code);
    }
    return std::move(result);
  }
  BorrowedMachineCode(BorrowedMachineCode &&) = default;
  ~BorrowedMachineCode() {
    if (!kept.code || ++kept.uses >= maximumUses)
      return;
    Shelf &shelf = theShelf();
    std::lock_guard<std::mutex> lock(shelf.mutex);
    shelf.free[processor].push_back(std::move(kept));
  }
  MachineCode &operator*() { return *kept.code; }
  MachineCode *operator->() { return kept.code.get(); }

private:
  struct Kept {
    std::unique_ptr<MachineCode> code;
    unsigned uses = 0;
  };
  struct Shelf {
    std::mutex mutex;
    StringMap<std::vector<Kept>> free;
  };
  static constexpr unsigned maximumUses = 1000;

  explicit BorrowedMachineCode(StringRef processor) : processor(processor) {}
  static Shelf &theShelf() {
    static Shelf shelf;
    return shelf;
  }

  std::string processor;
  Kept kept;
};

/// What a register operand means to the simulator.
struct RegisterMeaning {
  Operand operand;
  bool known = false;
};

/// Meanings by register number, from the registers' names: VGPR4_VGPR5,
/// AGPR3, SGPR0_SGPR1, VCC_LO, FLAT_SCR_vi, M0_gfxpre11, SRC_SHARED_BASE...
std::vector<RegisterMeaning> registerMeanings(const MCRegisterInfo &info) {
  std::vector<RegisterMeaning> result(info.getNumRegs());
  for (unsigned r = 1; r < info.getNumRegs(); ++r) {
    StringRef name = info.getName(r);
    RegisterMeaning &meaning = result[r];
    Operand &o = meaning.operand;
    unsigned encoding = info.getEncodingValue(r) & 0xff;
    auto tuple = [&](StringRef prefix, unsigned limit, OperandKind kind,
                     unsigned base) {
      if (!name.starts_with(prefix))
        return false;
      SmallVector<StringRef, 32> parts;
      name.split(parts, '_');
      unsigned first;
      if (parts[0].drop_front(prefix.size()).getAsInteger(10, first))
        return false;
      unsigned count = 0;
      for (StringRef part : parts) {
        unsigned number;
        if (!part.consume_front(prefix) || part.getAsInteger(10, number) ||
            number != first + count)
          break;
        ++count;
      }
      if (count == 0 || first + count > limit || name.ends_with("_LO16") ||
          name.ends_with("_HI16"))
        return false;
      o.kind = kind;
      o.index = static_cast<uint16_t>(base + first);
      o.dwords = static_cast<uint8_t>(count);
      return true;
    };
    if (tuple("VGPR", 256, OperandKind::VGPR, 0) ||
        tuple("AGPR", 256, OperandKind::VGPR, agprBase) ||
        tuple("SGPR", generalSGPRs, OperandKind::SGPR, 0)) {
      meaning.known = true;
      continue;
    }
    if (name.starts_with("TTMP"))
      continue; // trap handlers only
    auto scalar = [&](unsigned index, unsigned dwords) {
      o.kind = OperandKind::SGPR;
      o.index = static_cast<uint16_t>(index);
      o.dwords = static_cast<uint8_t>(dwords);
      meaning.known = true;
    };
    auto special = [&](SpecialRegister which) {
      o.kind = OperandKind::Special;
      o.index = static_cast<uint16_t>(which);
      o.dwords = 2;
      meaning.known = true;
    };
    if (name == "VCC")
      scalar(sgprVCC, 2);
    else if (name == "VCC_LO" || name == "VCC_HI")
      scalar(encoding, 1);
    else if (name == "EXEC")
      scalar(sgprEXEC, 2);
    else if (name == "EXEC_LO" || name == "EXEC_HI")
      scalar(encoding, 1);
    else if (name == "M0_gfxpre11" || name == "M0")
      scalar(sgprM0, 1);
    else if (name == "FLAT_SCR_vi" || name == "FLAT_SCR")
      scalar(sgprFlatScratch, 2);
    else if (name == "FLAT_SCR_LO_vi" || name == "FLAT_SCR_LO")
      scalar(sgprFlatScratch, 1);
    else if (name == "FLAT_SCR_HI_vi" || name == "FLAT_SCR_HI")
      scalar(sgprFlatScratch + 1, 1);
    else if (name == "XNACK_MASK")
      scalar(104, 2);
    else if (name == "XNACK_MASK_LO" || name == "XNACK_MASK_HI")
      scalar(encoding, 1);
    else if (name.starts_with("SRC_SHARED_BASE"))
      special(SpecialRegister::SharedBase);
    else if (name.starts_with("SRC_SHARED_LIMIT"))
      special(SpecialRegister::SharedLimit);
    else if (name.starts_with("SRC_PRIVATE_BASE"))
      special(SpecialRegister::PrivateBase);
    else if (name.starts_with("SRC_PRIVATE_LIMIT"))
      special(SpecialRegister::PrivateLimit);
    else if (name == "SRC_VCCZ")
      special(SpecialRegister::VCCZ);
    else if (name == "SRC_EXECZ")
      special(SpecialRegister::EXECZ);
    else if (name == "SRC_SCC")
      special(SpecialRegister::SCC);
  }
  return result;
}

/// Whether LLVM 22's disassembler or printer stops the program at an encoding.
/// None of these is an instruction of gfx90a or gfx942: they name a literal
/// where the format has none, or selectors that do not exist. Found by decoding
/// random words.
bool stopsDisassembler(uint32_t first, uint32_t second) {
  unsigned top = first >> 24;
  constexpr uint32_t literal = 0xff, sdwa = 0xf9;
  // VOP3 and VOP3P: three 9-bit sources; comparisons and v_readlane_b32 name an
  // SGPR below.
  if (top >= 0xd0 && top <= 0xd3)
    for (unsigned i = 0; i < 3; ++i)
      if (((second >> (9 * i)) & 0x1ff) == literal)
        return true;
  if ((top == 0xd0 || (first >> 16) == 0xd289) && (first & 0xff) == literal)
    return true;
  // MUBUF and MTBUF: the scalar offset.
  if (((top >= 0xe0 && top <= 0xe3) || (top >= 0xe8 && top <= 0xeb)) &&
      (second >> 24) == literal)
    return true;
  // SDWA: selectors 7, and unused modes 3 except in comparisons.
  if (top < 0x80 && (first & 0x1ff) == sdwa) {
    bool isCompare = (first >> 25) == 0x3e;
    auto field = [&](unsigned at) { return (second >> at) & 7; };
    if (field(16) == 7 || field(24) == 7)
      return true;
    if (!isCompare && (field(8) == 7 || ((second >> 11) & 3) == 3))
      return true;
  }
  return false;
}

bool consumeEncodingSuffix(StringRef &name) {
  // The last is that of atomics whose data and result are in AGPRs.
  for (StringRef suffix : {"_vi", "_gfx9", "_gfx90a", "_gfx940", "_vcd", "_acd",
                           "_gfx8", "_mac", "_agpr"})
    if (name.consume_back(suffix))
      return true;
  return false;
}

/// Decodes one image.
class Decoder {
public:
  Decoder(wavesmith::sim::detail::CodeObjectImage &image, MachineCode &mc)
      : image(image), mc(mc), table(opcodeTable()), meanings(meaningsFor(mc)),
        modifierType(modifierTypeFor(mc)) {}

  Error run();

private:
  /// Both are the same for all processors: found once.
  static const std::vector<RegisterMeaning> &meaningsFor(MachineCode &mc) {
    static const std::vector<RegisterMeaning> result =
        registerMeanings(*mc.registers);
    return result;
  }
  /// The operand type of source modifiers is private to LLVM's target: it is
  /// taken from an instruction known to have them.
  static unsigned modifierTypeFor(MachineCode &mc) {
    static const unsigned result = [&] {
      for (unsigned i = 0; i < mc.instructions->getNumOpcodes(); ++i)
        if (mc.instructions->getName(i) == "V_ADD_F64_vi")
          return unsigned(mc.instructions->get(i).operands()[1].OperandType);
      return ~0u;
    }();
    return result;
  }

  void decodeOne(const MCInst &mi, DecodedInstruction &out);
  uint8_t scheduleTurns(const MCInst &mi) const;
  RegisterUse registersOf(const MCInst &mi,
                          const DecodedInstruction &decoded) const;
  bool decodeVector(const MCInst &mi, const MCInstrDesc &desc,
                    const OpcodeEntry &entry, Format format, StringRef base,
                    DecodedInstruction &out);
  bool decodeScalar(const MCInst &mi, const MCInstrDesc &desc, StringRef base,
                    DecodedInstruction &out);
  bool decodeScalarMemory(const MCInst &mi, const MCInstrDesc &desc,
                          DecodedInstruction &out);
  bool decodeVectorMemory(const MCInst &mi, const MCInstrDesc &desc,
                          DecodedInstruction &out);
  bool decodeLDS(const MCInst &mi, const MCInstrDesc &desc, StringRef base,
                 DecodedInstruction &out);
  bool operand(const MCOperand &from, Operand &to);
  uint32_t nameIndex(StringRef name);

  wavesmith::sim::detail::CodeObjectImage &image;
  MachineCode &mc;
  const OpcodeTable &table;
  const std::vector<RegisterMeaning> &meanings;
  unsigned modifierType;
  StringMap<uint32_t> names;
};

uint32_t Decoder::nameIndex(StringRef name) {
  auto [it, inserted] =
      names.try_emplace(name, static_cast<uint32_t>(image.opcodeNames.size()));
  if (inserted)
    image.opcodeNames.push_back(name.str());
  return it->second;
}

bool Decoder::operand(const MCOperand &from, Operand &to) {
  if (from.isImm()) {
    to.kind = OperandKind::Constant;
    to.value = static_cast<uint64_t>(from.getImm());
    to.dwords = 2;
    return true;
  }
  // A literal whose value an inline constant could have had is an expression.
  if (from.isExpr()) {
    int64_t value;
    if (!from.getExpr()->evaluateAsAbsolute(value))
      return false;
    to.kind = OperandKind::Constant;
    to.value = static_cast<uint64_t>(value);
    to.dwords = 2;
    return true;
  }
  if (!from.isReg() || !from.getReg())
    return false;
  const RegisterMeaning &meaning = meanings[from.getReg()];
  if (!meaning.known)
    return false;
  to = meaning.operand;
  return true;
}

/// The source modifier of SDWA that sign-extends an integer.
constexpr unsigned signExtendBit = 16;

bool isTied(const MCInstrDesc &desc, unsigned index) {
  return desc.getOperandConstraint(index, MCOI::TIED_TO) >= 0;
}

bool Decoder::decodeVector(const MCInst &mi, const MCInstrDesc &desc,
                           const OpcodeEntry &entry, Format format,
                           StringRef base, DecodedInstruction &out) {
  unsigned count =
      std::min<unsigned>(mi.getNumOperands(), desc.getNumOperands());
  unsigned defs = desc.getNumDefs();
  bool isCompare = base.starts_with("V_CMP");
  bool isSwap = base == "V_SWAP_B32";
  for (unsigned i = 0; i < defs && i < count; ++i) {
    Operand &target = isCompare || i == 1 ? out.sdst : out.dst;
    if (isSwap && i == 1)
      continue; // the second result is the source
    // SDWA comparisons name a mask that may be VCC.
    if (!operand(mi.getOperand(i), target))
      return false;
  }
  if (out.sdst.kind == OperandKind::None) {
    // e32, DPP and SDWA forms write VCC without naming it.
    out.sdst.kind = OperandKind::SGPR;
    out.sdst.index = sgprVCC;
    out.sdst.dwords = 2;
  }
  unsigned sources = 0, modifiers = 0;
  SmallVector<int64_t, 8> immediates;
  for (unsigned i = defs; i < count; ++i) {
    const MCOperand &o = mi.getOperand(i);
    unsigned type = desc.operands()[i].OperandType;
    if (type == modifierType && o.isImm()) {
      modifiers = static_cast<unsigned>(o.getImm());
      continue;
    }
    if (format == Format::DPP && sources == 0 && isTied(desc, i))
      continue; // the old value: the result register itself
    if (isSwap && isTied(desc, i)) {
      if (sources == 0 && !operand(o, out.src[sources++]))
        return false;
      continue;
    }
    if (o.isImm() &&
        (type == MCOI::OPERAND_IMMEDIATE || type == MCOI::OPERAND_UNKNOWN)) {
      immediates.push_back(o.getImm());
      continue;
    }
    if (sources == 4 || !operand(o, out.src[sources]))
      return false;
    out.src[sources].modifiers = static_cast<uint8_t>(modifiers);
    modifiers = 0;
    ++sources;
  }

  // LLVM does not name the accumulator of this one.
  if (base == "V_PK_FMAC_F16" && sources == 2) {
    out.src[sources++] = out.dst;
    // Nor does it have op_sel: the high halves go together.
    for (unsigned i = 0; i < 3; ++i)
      out.src[i].modifiers = 8;
  }

  if (format == Format::DPP) {
    if (immediates.size() < 4)
      return false;
    size_t n = immediates.size() - 4;
    out.dppControl = static_cast<uint16_t>(immediates[n]);
    out.dppRowMask = static_cast<uint8_t>(immediates[n + 1]);
    out.dppBankMask = static_cast<uint8_t>(immediates[n + 2]);
    out.dppBoundControl = immediates[n + 3] != 0;
  } else if (format == Format::SDWA) {
    // clamp, [omod], [dst_sel, dst_unused], src0_sel, [src1_sel]
    unsigned selected = std::min(sources, 2u);
    // Conversions from f8 have no destination selector either.
    bool selectsResult = !isCompare && !base.starts_with("V_CVT_F32_FP8") &&
                         !base.starts_with("V_CVT_F32_BF8") &&
                         !base.starts_with("V_CVT_PK_F32_");
    unsigned tail = selected + (selectsResult ? 2 : 0);
    if (immediates.size() < tail + 1)
      return false;
    out.clamp = immediates[0] != 0;
    if (immediates.size() > tail + 1)
      out.omod = static_cast<uint8_t>(immediates[1]);
    size_t n = immediates.size() - tail;
    if (selectsResult) {
      out.sdwaDst = static_cast<uint8_t>(immediates[n]);
      out.sdwaUnused = static_cast<uint8_t>(immediates[n + 1]);
      n += 2;
    }
    for (unsigned i = 0; i < selected; ++i)
      out.sdwaSrc[i] = static_cast<uint8_t>(immediates[n + i]);
  } else {
    if (!immediates.empty())
      out.clamp = immediates[0] != 0;
    if (immediates.size() > 1)
      out.omod = static_cast<uint8_t>(immediates[1]);
    if (entry.category == Category::MFMA) {
      // cbsz, abid and, but for sparse A, blgp
      out.clamp = false;
      out.omod = 0;
      out.target = 0;
      for (size_t i = 0; i < immediates.size() && i < 3; ++i)
        (i == 0   ? out.imm2
         : i == 1 ? out.imm3
                  : out.target) = static_cast<int32_t>(immediates[i]);
    }
  }

  for (unsigned i = 0; i < 3; ++i) {
    out.sourceType[i] = entry.source[i];
    Operand &o = out.src[i];
    bool neg = o.modifiers & 1, abs = o.modifiers & 2;
    o.signExtend = format == Format::SDWA && (o.modifiers & signExtendBit);
    if (!(neg || abs))
      continue;
    uint32_t sign;
    switch (entry.source[i]) {
    case ValueType::F32:
    case ValueType::F64:
      sign = 0x80000000u;
      break;
    case ValueType::F16:
      sign = 0x8000u;
      break;
    case ValueType::PackedF32:
    case ValueType::Packed16:
    case ValueType::PackedF16:
    case ValueType::Mixed:
      continue; // the handlers read the bits themselves
    default:
      return false;
    }
    if (abs)
      o.andMask = ~sign;
    if (neg)
      o.xorMask = sign;
  }
  // op_sel of the result is a bit of the first source's modifiers.
  if (base == "V_FMA_MIXLO_F16")
    out.half = HalfResult::Low; // the handler writes its half by itself
  else if (base == "V_FMA_MIXHI_F16")
    out.half = HalfResult::High;
  else if (entry.writesHalf)
    out.half = out.src[0].modifiers & 8 ? HalfResult::High : HalfResult::Low;
  else if ((out.src[0].modifiers & 8) && (entry.source[0] == ValueType::F16 ||
                                          entry.source[0] == ValueType::B32))
    return false;
  out.resultType = entry.result;
  out.bitwise = entry.bitwise;
  out.ownRounding = entry.ownRounding;
  out.handlesClamp = entry.handlesClamp;
  out.format = format;
  if (format != Format::Plain) {
    out.inner = entry.handler;
    out.handler = format == Format::DPP ? table.dpp : table.sdwa;
  } else if ((out.clamp && !entry.handlesClamp) || out.omod ||
             entry.writesHalf) {
    out.inner = entry.handler;
    out.handler = table.modified;
  }
  return true;
}

bool Decoder::decodeScalar(const MCInst &mi, const MCInstrDesc &desc,
                           StringRef base, DecodedInstruction &out) {
  unsigned count =
      std::min<unsigned>(mi.getNumOperands(), desc.getNumOperands());
  unsigned defs = desc.getNumDefs(), sources = 0;
  // LLVM does not call the base of a relative move a result.
  if (base.starts_with("S_MOVRELD"))
    defs = 1;
  for (unsigned i = 0; i < count; ++i) {
    const MCOperand &o = mi.getOperand(i);
    if (i < defs) {
      if (!operand(o, out.dst))
        return false;
      if (out.dst.kind != OperandKind::SGPR)
        return false;
      continue;
    }
    if (o.isImm())
      out.imm = o.getImm();
    if (sources == 4 || !operand(o, out.src[sources]))
      return false;
    ++sources;
  }
  // SOPK immediates are 16 bits, signed but for unsigned comparisons.
  bool sopk = base == "S_MOVK_I32" || base == "S_CMOVK_I32" ||
              base == "S_ADDK_I32" || base == "S_MULK_I32" ||
              base.starts_with("S_CMPK_");
  if (sopk) {
    for (unsigned i = 0; i < sources; ++i) {
      Operand &o = out.src[i];
      if (o.kind != OperandKind::Constant)
        continue;
      if (base.ends_with("_U32"))
        o.value &= 0xffffu;
      else
        o.value = static_cast<uint64_t>(
            int64_t(static_cast<int16_t>(o.value & 0xffffu)));
    }
  }
  // s_bitset and s_cmov read their destination; it may also be tied.
  if (base.starts_with("S_BITSET"))
    for (unsigned i = defs; i < count; ++i)
      if (!isTied(desc, i) && !operand(mi.getOperand(i), out.src[0]))
        return false;
  if (base == "S_SETREG_IMM32_B32") {
    out.src[0].value = static_cast<uint64_t>(mi.getOperand(0).getImm());
    out.imm = mi.getOperand(1).getImm();
  }
  return true;
}

bool Decoder::decodeScalarMemory(const MCInst &mi, const MCInstrDesc &desc,
                                 DecodedInstruction &out) {
  // [old value], data, base, [SGPR offset], [immediate], cache policy
  unsigned count =
      std::min<unsigned>(mi.getNumOperands(), desc.getNumOperands());
  SmallVector<Operand, 4> registers;
  SmallVector<int64_t, 2> immediates;
  for (unsigned i = 0; i < count; ++i) {
    const MCOperand &o = mi.getOperand(i);
    if (isTied(desc, i)) // an atomic's data is its result's register
      continue;
    if (o.isImm()) {
      immediates.push_back(o.getImm());
      continue;
    }
    Operand decoded;
    if (!operand(o, decoded) || decoded.kind != OperandKind::SGPR)
      return false;
    registers.push_back(decoded);
  }
  if (registers.size() < 2 || registers.size() > 3)
    return false;
  out.dst = registers[0];
  out.src[0] = registers[1];
  if (registers.size() == 3)
    out.src[1] = registers[2];
  if (immediates.size() == 2)
    out.imm = SignExtend64<21>(static_cast<uint64_t>(immediates[0]));
  else if (immediates.size() != 1)
    return false;
  return out.src[0].dwords >= (out.space == Space::Buffer ? 4 : 2);
}

bool Decoder::decodeVectorMemory(const MCInst &mi, const MCInstrDesc &desc,
                                 DecodedInstruction &out) {
  unsigned count =
      std::min<unsigned>(mi.getNumOperands(), desc.getNumOperands());
  unsigned defs = desc.getNumDefs();
  // A store from LDS has no data register either.
  bool isLoad = out.category == Category::VMEMRead ||
                image.opcodeNames[out.opcodeName] == "BUFFER_STORE_LDS_DWORD";
  bool isAtomic = out.category == Category::VMEMAtomic;
  SmallVector<Operand, 2> vectors;
  SmallVector<int64_t, 4> immediates;
  bool haveScalarOffset = false;
  for (unsigned i = 0; i < count; ++i) {
    const MCOperand &o = mi.getOperand(i);
    if (i < defs) {
      if (!operand(o, out.dst))
        return false;
      continue;
    }
    if (isTied(desc, i) && !(isAtomic && out.space == Space::Buffer))
      continue; // the old value of a half-register load
    if (out.space == Space::Buffer && out.src[2].kind == OperandKind::SGPR &&
        !haveScalarOffset) {
      if (!operand(o, out.src[3]))
        return false;
      haveScalarOffset = true;
      continue;
    }
    if (o.isImm()) {
      immediates.push_back(o.getImm());
      continue;
    }
    Operand decoded;
    if (!operand(o, decoded))
      return false;
    if (decoded.isVGPR())
      vectors.push_back(decoded);
    else if (decoded.kind == OperandKind::SGPR)
      out.src[2] = decoded;
    else
      return false;
  }
  if (immediates.empty() || vectors.size() > 2)
    return false;
  out.imm = immediates[0];
  // The second is the cache policy.
  int64_t policy = immediates.size() > 1 ? immediates[1] : 0;
  constexpr int64_t glcOrSC0 = 1, slcOrNT = 2, sc1 = 16;
  out.nonTemporal = policy & slcOrNT;
  if (!isAtomic)
    out.coherent = image.isGfx942()
                       ? policy & (glcOrSC0 | sc1)
                       : isLoad && (policy & glcOrSC0) && !(policy & slcOrNT);
  if (out.space == Space::Global || out.space == Space::Scratch)
    out.imm = SignExtend64<13>(static_cast<uint64_t>(immediates[0]));
  if (isLoad) {
    if (vectors.size() > 1)
      return false;
    if (!vectors.empty())
      out.src[0] = vectors[0];
  } else {
    // Data first for buffers and scratch, address first else.
    bool dataFirst = out.space == Space::Buffer || out.space == Space::Scratch;
    if (vectors.size() == 1) {
      if (!dataFirst)
        return false;
      out.src[1] = vectors[0];
    } else if (vectors.size() == 2) {
      out.src[dataFirst ? 1 : 0] = vectors[0];
      out.src[dataFirst ? 0 : 1] = vectors[1];
    } else {
      return false;
    }
  }
  // What the addressing reads must be there, in the width it needs.
  auto need = [&](unsigned source, unsigned dwords) {
    return out.src[source].isVGPR() && out.src[source].dwords >= dwords;
  };
  auto needScalar = [&](unsigned dwords) {
    return out.src[2].kind == OperandKind::SGPR && out.src[2].dwords >= dwords;
  };
  switch (out.space) {
  case Space::Global:
  case Space::Flat:
    if (out.src[2].kind != OperandKind::None) {
      out.addressing = Addressing::SGPR;
      return need(0, 1) && needScalar(2);
    }
    out.addressing = Addressing::VGPR;
    return need(0, 2);
  case Space::Buffer:
    if (!needScalar(4) || !haveScalarOffset)
      return false;
    if (out.addressing == Addressing::None) // the store from LDS
      out.addressing = Addressing::BufferOffset;
    switch (out.addressing) {
    case Addressing::BufferOffset:
      return true;
    case Addressing::BufferBothen:
      return need(0, 2);
    default:
      return need(0, 1);
    }
  default:
    return true;
  }
}

bool Decoder::decodeLDS(const MCInst &mi, const MCInstrDesc &desc,
                        StringRef base, DecodedInstruction &out) {
  unsigned count =
      std::min<unsigned>(mi.getNumOperands(), desc.getNumOperands());
  unsigned defs = desc.getNumDefs(), sources = 0;
  SmallVector<int64_t, 4> immediates;
  for (unsigned i = 0; i < count; ++i) {
    const MCOperand &o = mi.getOperand(i);
    if (i < defs) {
      if (!operand(o, out.dst))
        return false;
      continue;
    }
    if (isTied(desc, i))
      continue;
    if (o.isImm()) {
      immediates.push_back(o.getImm());
      continue;
    }
    if (sources == 3 || !operand(o, out.src[sources]) ||
        !out.src[sources].isVGPR())
      return false;
    ++sources;
  }
  bool two = base.starts_with("DS_READ2") || base.starts_with("DS_WRITE2") ||
             base.starts_with("DS_WRXCHG2");
  if (base == "DS_NOP")
    return true;
  // These take their address from M0.
  bool addressInM0 =
      base == "DS_APPEND" || base == "DS_CONSUME" || base.contains("_ADDTID_");
  if (immediates.empty() || (two && immediates.size() < 2) ||
      (sources == 0) != (addressInM0 && defs))
    return false;
  out.imm = immediates[0];
  if (two)
    out.imm2 = static_cast<int32_t>(immediates[1]);
  // The global data share is not modelled.
  size_t gds = two ? 2 : 1;
  if (immediates.size() > gds && immediates[gds] &&
      !base.starts_with("DS_BPERMUTE") && !base.starts_with("DS_PERMUTE"))
    return false;
  out.returnsOld = defs > 0;
  bool needsData =
      !base.starts_with("DS_READ") && base != "DS_SWIZZLE_B32" && !addressInM0;
  return !needsData || sources >= 2;
}

void Decoder::decodeOne(const MCInst &mi, DecodedInstruction &out) {
  StringRef full = mc.instructions->getName(mi.getOpcode());
  const MCInstrDesc &desc = mc.instructions->get(mi.getOpcode());
  StringRef base = full;
  while (consumeEncodingSuffix(base)) {
  }
  out.handler = table.unknown;
  out.opcodeName = nameIndex(base);

  bool vectorMemory =
      base.starts_with("GLOBAL_") || base.starts_with("FLAT_") ||
      base.starts_with("SCRATCH_") || base.starts_with("BUFFER_") ||
      base.starts_with("TBUFFER_");
  if (vectorMemory) {
    if (base.consume_back("_RTN"))
      out.returnsOld = true;
    if (base.starts_with("GLOBAL_"))
      out.space = Space::Global;
    else if (base.starts_with("FLAT_"))
      out.space = Space::Flat;
    else if (base.starts_with("SCRATCH_"))
      out.space = Space::Scratch;
    else
      out.space = Space::Buffer;
    for (auto [suffix, addressing] :
         {std::pair<StringRef, Addressing>{"_SADDR", Addressing::SGPR},
          {"_SVS", Addressing::Both},
          {"_VE", Addressing::VGPR},
          {"_ST", Addressing::Neither},
          {"_OFFSET", Addressing::BufferOffset},
          {"_OFFEN", Addressing::BufferOffen},
          {"_IDXEN", Addressing::BufferIdxen},
          {"_BOTHEN", Addressing::BufferBothen}})
      if (base.consume_back(suffix))
        out.addressing = addressing;
    if (base.consume_back("_RTN"))
      out.returnsOld = true;
  }
  bool scalarMemory =
      base.starts_with("S_LOAD_") || base.starts_with("S_BUFFER_") ||
      base.starts_with("S_STORE_") || base.starts_with("S_ATOMIC_");
  if (scalarMemory || base.starts_with("S_SCRATCH_") ||
      base.starts_with("S_ATC_PROBE") || base.starts_with("S_DCACHE_DISCARD")) {
    base.consume_back("_alt");
    if (base.consume_back("_RTN"))
      out.returnsOld = true;
    for (StringRef suffix : {"_SGPR_IMM", "_SGPR", "_IMM"})
      if (base.consume_back(suffix))
        break;
    if (base.starts_with("S_BUFFER_"))
      out.space = Space::Buffer;
  }
  Format format = Format::Plain;
  if (base.starts_with("V_")) {
    if (base.consume_back("_dpp"))
      format = Format::DPP;
    else if (base.consume_back("_sdwa"))
      format = Format::SDWA;
    else if (!base.consume_back("_e32"))
      base.consume_back("_e64");
    while (consumeEncodingSuffix(base)) {
    }
    base.consume_back("_opsel");
  }
  base.consume_back("_pad_s_nop");
  out.opcodeName = nameIndex(base);

  auto it = table.entries.find(base);
  if (it == table.entries.end() &&
      (base.starts_with("V_MFMA_") || base.starts_with("V_SMFMAC_")))
    it = table.entries.find(canonicalMatrixName(base));
  if (it == table.entries.end())
    return;
  const OpcodeEntry &entry = it->second;
  out.category = entry.category;
  out.arithmetic = entry.arithmetic;
  out.handler = entry.handler;
  if (entry.category == Category::MFMA) {
    if (image.isGfx942())
      out.handler = entry.handlerGfx942;
    if (!out.handler) {
      out.handler = table.unknown;
      return;
    }
  }

  bool good;
  if (vectorMemory && entry.category != Category::Other) {
    out.usesExec = true;
    out.isFlat = out.space == Space::Flat;
    out.isAtomic = entry.category == Category::VMEMAtomic;
    good = decodeVectorMemory(mi, desc, out);
    if (out.isAtomic)
      image.hasGlobalAtomics = true;
  } else if (base.starts_with("DS_")) {
    out.usesExec = true;
    good = decodeLDS(mi, desc, base, out);
  } else if (scalarMemory) {
    good = decodeScalarMemory(mi, desc, out);
    out.space = Space::None;
    out.isAtomic = base.contains("ATOMIC_");
    // The order of atomics must not depend on the number of host threads.
    image.hasGlobalAtomics |= out.isAtomic;
  } else if (base.starts_with("V_")) {
    out.usesExec = true;
    good = base == "V_NOP" || base == "V_CLREXCP" ||
           decodeVector(mi, desc, entry, format, base, out);
  } else if (vectorMemory || entry.category == Category::Other) {
    if (mi.getNumOperands() && mi.getOperand(0).isImm())
      out.imm = mi.getOperand(0).getImm();
    good = true;
  } else {
    good = decodeScalar(mi, desc, base, out);
  }
  if (!good) {
    out.handler = table.unknown;
    out.opcodeName =
        nameIndex((base + ", in a form that is not modelled").str());
  }
}

uint8_t Decoder::scheduleTurns(const MCInst &mi) const {
  const MCSchedModel &model = mc.subtarget->getSchedModel();
  if (!model.hasInstrSchedModel())
    return 0;
  const MCSchedClassDesc *desc = model.getSchedClassDesc(
      mc.instructions->get(mi.getOpcode()).getSchedClass());
  if (!desc->isValid() || desc->isVariant())
    return 0;
  int latency = MCSchedModel::computeInstrLatency(*mc.subtarget, *desc);
  return static_cast<uint8_t>(std::clamp(latency, 0, 255));
}

RegisterUse Decoder::registersOf(const MCInst &mi,
                                 const DecodedInstruction &decoded) const {
  const MCInstrDesc &desc = mc.instructions->get(mi.getOpcode());
  RegisterUse use;
  auto addRange = [](auto &list, const RegisterRange &range) {
    if (!is_contained(list, range))
      list.push_back(range);
  };
  auto addOperand = [&](auto &list, const Operand &o) {
    if (o.kind == OperandKind::VGPR)
      addRange(list, {RegisterFile::Vector, o.index, o.dwords});
    else if (o.kind == OperandKind::SGPR)
      addRange(list, {RegisterFile::Scalar, o.index, o.dwords});
    else if (o.kind == OperandKind::Special)
      switch (static_cast<SpecialRegister>(o.index)) {
      case SpecialRegister::VCCZ:
        addRange(list, {RegisterFile::Scalar, sgprVCC, 2});
        break;
      case SpecialRegister::EXECZ:
        addRange(list, {RegisterFile::Scalar, sgprEXEC, 2});
        break;
      case SpecialRegister::SCC:
        addRange(list, {RegisterFile::SCC, 0, 1});
        break;
      default:
        break;
      }
  };
  auto addRegister = [&](auto &list, MCRegister reg) {
    if (!reg)
      return;
    StringRef name = mc.registers->getName(reg);
    if (name == "SCC")
      addRange(list, {RegisterFile::SCC, 0, 1});
    else if (name == "MODE")
      addRange(list, {RegisterFile::Mode, 0, 1});
    else if (meanings[reg.id()].known)
      addOperand(list, meanings[reg.id()].operand);
  };
  unsigned defs = desc.getNumDefs();
  for (unsigned i = 0; i < mi.getNumOperands(); ++i)
    if (mi.getOperand(i).isReg()) {
      if (i < defs)
        addRegister(use.writes, mi.getOperand(i).getReg());
      else
        addRegister(use.reads, mi.getOperand(i).getReg());
    }
  for (MCPhysReg reg : desc.implicit_uses())
    addRegister(use.reads, reg);
  for (MCPhysReg reg : desc.implicit_defs())
    addRegister(use.writes, reg);

  // What LLVM's descriptions of encodings leave out.
  StringRef name = image.opcodeNames[decoded.opcodeName];
  if ((decoded.format == Format::SDWA && decoded.sdwaUnused == 2) ||
      decoded.half != HalfResult::Whole)
    addOperand(use.reads, decoded.dst);
  if (name.starts_with("S_MOVRELD"))
    addOperand(use.writes, decoded.dst);
  if (name.starts_with("S_BITSET") || name.starts_with("S_CMOV") ||
      name == "S_ADDK_I32" || name == "S_MULK_I32")
    addOperand(use.reads, decoded.dst);
  if (name.starts_with("S_MOVREL"))
    addRange(use.reads, {RegisterFile::Scalar, sgprM0, 1});
  if (name == "S_CBRANCH_VCCZ" || name == "S_CBRANCH_VCCNZ")
    addRange(use.reads, {RegisterFile::Scalar, sgprVCC, 2});
  if (name == "S_CBRANCH_EXECZ" || name == "S_CBRANCH_EXECNZ")
    addRange(use.reads, {RegisterFile::Scalar, sgprEXEC, 2});
  if (name == "GLOBAL_LOAD_LDS_DWORD" || name.ends_with("_DWORD_LDS"))
    addRange(use.reads, {RegisterFile::Scalar, sgprM0, 1});
  return use;
}

Error Decoder::run() {
  for (size_t t = 0; t < image.texts.size(); ++t) {
    TextSection &text = image.texts[t];
    size_t words = text.bytes.size() / 4;
    text.indexOfWord.assign(words, -1);
    for (size_t word = 0; word < words;) {
      DecodedInstruction instruction;
      RegisterUse use;
      uint8_t turns = 0;
      instruction.word = static_cast<uint32_t>(word);
      MCInst mi;
      uint64_t size = 0;
      ArrayRef<uint8_t> bytes = text.bytes.slice(4 * word);
      // LLVM 22 crashes where a literal lies beyond the end. What takes more
      // than is there is turned down below.
      uint8_t padded[16] = {};
      if (bytes.size() < sizeof(padded)) {
        std::copy(bytes.begin(), bytes.end(), padded);
        bytes = padded;
      }
      auto status = MCDisassembler::Fail;
      uint32_t second =
          word + 1 < words ? support::endian::read32le(bytes.data() + 4) : 0;
      if (!stopsDisassembler(support::endian::read32le(bytes.data()), second))
        status = mc.disassembler->getInstruction(
            mi, size, bytes, text.address + 4 * word, nulls());
      if (status != MCDisassembler::Success || size == 0 || size % 4 ||
          size > 4 * (words - word)) {
        size = 4;
        instruction.handler = table.unknown;
        instruction.opcodeName = nameIndex("");
      } else {
        decodeOne(mi, instruction);
        use = registersOf(mi, instruction);
        turns = scheduleTurns(mi);
      }
      instruction.bytes = static_cast<uint8_t>(size);
      text.indexOfWord[word] = static_cast<int32_t>(image.instructions.size());
      image.instructions.push_back(instruction);
      image.registerUse.push_back(std::move(use));
      image.scheduleTurns.push_back(turns);
      image.textOf.push_back(static_cast<uint32_t>(t));
      word += size / 4;
    }
  }
  // Branch targets: 16-bit distances in dwords from the next instruction.
  for (size_t i = 0; i < image.instructions.size(); ++i) {
    DecodedInstruction &instruction = image.instructions[i];
    StringRef name = image.opcodeNames[instruction.opcodeName];
    if (!(name == "S_BRANCH" || name.starts_with("S_CBRANCH_") ||
          name == "S_CALL_B64"))
      continue;
    const std::vector<int32_t> &index =
        image.texts[image.textOf[i]].indexOfWord;
    int64_t word = int64_t(instruction.word) + 1 +
                   static_cast<int16_t>(instruction.imm & 0xffff);
    instruction.target = word >= 0 && word < int64_t(index.size())
                             ? index[static_cast<size_t>(word)]
                             : -1;
  }
  return Error::success();
}

} // namespace

Error wavesmith::sim::decode(wavesmith::sim::detail::CodeObjectImage &image) {
  auto mc = BorrowedMachineCode::take(image.target);
  if (!mc)
    return mc.takeError();
  return Decoder(image, **mc).run();
}

std::string wavesmith::sim::detail::CodeObjectImage::textOfInstruction(
    uint32_t index) const {
  if (index >= instructions.size())
    return "<no instruction>";
  auto mc = BorrowedMachineCode::take(target);
  if (!mc) {
    consumeError(mc.takeError());
    return opcodeNames[instructions[index].opcodeName];
  }
  const DecodedInstruction &instruction = instructions[index];
  const TextSection &text = texts[textOf[index]];
  MCInst mi;
  uint64_t size = 0;
  uint64_t offset = 4 * uint64_t(instruction.word);
  std::string result;
  raw_string_ostream out(result);
  // What was not decoded is not printed either.
  uint32_t word = support::endian::read32le(text.bytes.data() + offset);
  if (opcodeNames[instruction.opcodeName].empty() ||
      (*mc)->disassembler->getInstruction(mi, size, text.bytes.slice(offset),
                                          text.address + offset,
                                          nulls()) != MCDisassembler::Success) {
    out << ".long 0x" << Twine::utohexstr(word);
    return result;
  }
  (*mc)->printer->printInst(&mi, text.address + offset, "", *(*mc)->subtarget,
                            out);
  return StringRef(result).trim().str();
}
