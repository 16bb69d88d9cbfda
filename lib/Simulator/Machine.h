//===- Machine.h - State of the simulated machine ---------------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Decoded instructions, wavefronts, workgroups and the view of memory that a
/// launch has. Plain data shared by the decoder, the instruction families
/// (which are compiled once for each host instruction set) and the launcher.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_MACHINE_H
#define WAVESMITH_LIB_SIMULATOR_MACHINE_H

#include "Observer.h"
#include "wavesmith/Simulator/Simulator.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>

namespace wavesmith::sim {

/// Lanes of a wavefront on gfx90a and gfx942.
constexpr unsigned lanesPerWave = 64;

/// The vector register file: v0..v255, a0..a255, then temporaries that only
/// the simulator uses (operands of DPP, SDWA and flushed denormals).
constexpr unsigned agprBase = 256;
constexpr unsigned temporaryBase = 512;
constexpr unsigned vectorRegisters = 512 + 64;

/// Scalar registers by their hardware encoding.
constexpr unsigned sgprFlatScratch = 102;
constexpr unsigned sgprVCC = 106;
constexpr unsigned sgprM0 = 124;
constexpr unsigned sgprEXEC = 126;
constexpr unsigned scalarRegisters = 128;
/// s0..s101 are general registers.
constexpr unsigned generalSGPRs = 102;

/// Fills registers, LDS, scratch and memory before their first write: a NaN as
/// f32 and as f64, and no valid address.
constexpr uint32_t poisonWord = 0xfffbadadu;

/// High halves of the apertures through which flat addresses reach LDS and
/// scratch.
constexpr uint32_t sharedApertureHigh = 0x00010000u;
constexpr uint32_t privateApertureHigh = 0x00020000u;
/// The address of scratch as buffer descriptors see it (gfx90a).
constexpr uint64_t scratchBase = 0x300000000000ull;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

struct Wave;
struct Instruction;
using Handler = void (*)(Wave &, const Instruction &);

enum class OperandKind : uint8_t { None, VGPR, SGPR, Constant, Special };

/// Registers that are read by encoding rather than from the scalar file.
enum class SpecialRegister : uint16_t {
  SharedBase,
  SharedLimit,
  PrivateBase,
  PrivateLimit,
  VCCZ,
  EXECZ,
  SCC,
  Unknown,
};

/// How a source or a result is to be understood: decides what the neg and abs
/// modifiers, clamp and denormal flushing mean.
enum class ValueType : uint8_t {
  None,
  B32, ///< 32 bits, or a pair of 16-bit values that has no modifiers
  B64,
  F32,
  F64,
  F16,
  PackedF32,
  Packed16,  ///< two integers
  PackedF16, ///< two halves
  Mixed,     ///< f32, or a half where op_sel_hi is set (v_fma_mix)
};

/// Where a 16-bit result goes.
enum class HalfResult : uint8_t {
  Whole, ///< the handler writes the whole register
  Low,   ///< the low half; the high one is kept
  High,  ///< the high half; the low one is kept
};

struct Operand {
  OperandKind kind = OperandKind::None;
  uint8_t dwords = 1;
  /// The raw modifier bits (neg 1, abs 2, op_sel 4 and 8).
  uint8_t modifiers = 0;
  uint16_t index = 0;
  /// SDWA sources of integer instructions: sign-extend the selected part.
  bool signExtend = false;
  /// value = (value & andMask) ^ xorMask on the highest dword: abs and neg.
  uint32_t andMask = 0xffffffffu;
  uint32_t xorMask = 0;
  uint64_t value = 0;

  bool isVGPR() const { return kind == OperandKind::VGPR; }
};

enum class Category : uint8_t {
  VALU,
  MFMA,
  SALU,
  SMEM,
  LDS,
  VMEMRead,
  VMEMWrite,
  VMEMAtomic,
  Branch,
  Waitcnt,
  Barrier,
  Other,
};

/// What the arithmetic counters count.
enum class Arithmetic : uint8_t {
  None,
  F64Add,
  F64Mul,
  F64FMA,
  F64Trans,
  F32Add,
  F32Mul,
  F32FMA,
  F32Trans,
};

enum class Format : uint8_t { Plain, DPP, SDWA };

/// Addressing of a vector memory instruction.
enum class Addressing : uint8_t {
  None,
  VGPR,    ///< 64-bit address in VGPRs (flat, global), 32-bit (scratch)
  SGPR,    ///< SGPR base and 32-bit VGPR offset (global), SGPR (scratch)
  Neither, ///< scratch with an immediate only
  Both,    ///< scratch with SGPR and VGPR
  BufferOffset,
  BufferOffen,
  BufferIdxen,
  BufferBothen,
};

enum class Space : uint8_t { None, Global, Flat, Scratch, Buffer };

/// One decoded instruction. What every instruction needs comes first: two lines
/// of the host's cache.
struct alignas(64) Instruction {
  Handler handler = nullptr;
  Category category = Category::Other;
  bool usesExec = false;
  Operand dst;
  Operand src[4];
  /// The second result: carries and comparison masks.
  Operand sdst;
  /// The handler under a DPP or SDWA wrapper.
  Handler inner = nullptr;
  /// SIMM16, memory offset, branch distance, by family.
  int64_t imm = 0;
  /// The second offset of ds_read2 and the like; the third immediate of MFMA.
  int32_t imm2 = 0;
  int32_t imm3 = 0;
  /// The index of a branch's target, -1 where that is no instruction.
  int32_t target = -1;
  /// The offset in its text section in dwords, and the length in bytes.
  uint32_t word = 0;
  uint8_t bytes = 4;
  Arithmetic arithmetic = Arithmetic::None;
  ValueType sourceType[3] = {ValueType::None, ValueType::None, ValueType::None};
  ValueType resultType = ValueType::None;
  Format format = Format::Plain;
  Addressing addressing = Addressing::None;
  Space space = Space::None;
  bool isFlat = false;
  /// A vector memory access that is not expected to be repeated: slc on
  /// gfx90a, nt on gfx942.
  bool nonTemporal = false;
  /// A load or store whose cache policy is that of a language's atomic or
  /// volatile variable (LLVM's memory model): sc0 or sc1 on gfx942; on gfx90a
  /// glc without slc, which loads have.
  bool coherent = false;
  bool isAtomic = false;
  bool returnsOld = false;
  bool clamp = false;
  /// The handler saturates by itself.
  bool handlesClamp = false;
  /// Floating-point sources are only moved: denormals are kept.
  bool bitwise = false;
  /// Rounds in its own way, whatever MODE says.
  bool ownRounding = false;
  HalfResult half = HalfResult::Whole;
  uint8_t omod = 0;
  /// Data elements of a memory instruction.
  uint8_t memoryBytes = 0;
  uint16_t dppControl = 0;
  uint8_t dppRowMask = 0xf;
  uint8_t dppBankMask = 0xf;
  bool dppBoundControl = false;
  uint8_t sdwaDst = 6;
  uint8_t sdwaUnused = 0;
  uint8_t sdwaSrc[2] = {6, 6};
  /// Index into the image's opcode names.
  uint32_t opcodeName = 0;
};

/// The files that register ranges lie in.
enum class RegisterFile : uint8_t {
  /// v0..v255 at 0, a0..a255 at agprBase.
  Vector,
  /// By hardware encoding: VCC, EXEC, M0 and FLAT_SCRATCH are among them.
  Scalar,
  SCC,
  Mode,
};

struct RegisterRange {
  RegisterFile file;
  uint16_t first;
  uint16_t count;

  bool operator==(const RegisterRange &o) const {
    return file == o.file && first == o.first && count == o.count;
  }
};

/// The registers that an instruction reads and writes, implicit ones included,
/// as LLVM describes them. Registers picked by an index at run time
/// (s_set_gpr_idx_on, s_movrel) are given as the encoding names them. A partial
/// write (half a register) counts as a read of the register too.
struct RegisterUse {
  llvm::SmallVector<RegisterRange, 4> reads;
  llvm::SmallVector<RegisterRange, 2> writes;
};

/// An executable section.
struct TextSection {
  uint64_t address = 0;
  llvm::ArrayRef<uint8_t> bytes;
  /// Index of the instruction that starts at each dword, -1 where none does.
  std::vector<int32_t> indexOfWord;
};

/// The kernel descriptor's fields that a launch needs.
struct KernelCode {
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernargPreload = 0;
  uint32_t groupSegmentSize = 0;
  uint32_t privateSegmentSize = 0;
  uint64_t entryAddress = 0;
};

/// A part of the image as loaded: addresses are relative to the image's base.
struct Segment {
  uint64_t address = 0;
  uint64_t size = 0;
  std::vector<uint8_t> contents;
  bool writable = false;
  bool executable = false;
};

struct Relocation {
  uint64_t address;
  uint64_t value;
  /// Bytes to write.
  unsigned size;
};

namespace detail {
struct CodeObjectImage {
  uint64_t identity = 0;
  std::string target;
  unsigned version = 0;
  std::vector<uint8_t> elf;
  std::vector<KernelInfo> kernels;
  std::vector<KernelCode> codes;
  std::vector<Segment> segments;
  std::vector<Relocation> relocations;
  std::vector<TextSection> texts;
  std::vector<Instruction> instructions;
  /// Beside instructions: out of the way of the loop.
  std::vector<RegisterUse> registerUse;
  /// For each instruction, the latency of LLVM's scheduling model, which counts
  /// in turns of four cycles; 0 where it has none.
  std::vector<uint8_t> scheduleTurns;
  /// For each instruction, its section.
  std::vector<uint32_t> textOf;
  std::vector<std::string> opcodeNames;
  bool hasGlobalAtomics = false;

  bool isGfx942() const { return target == "gfx942"; }
  /// The index of the instruction at a virtual address, -1 where none starts.
  int32_t indexAt(uint64_t address) const;
  uint64_t addressOf(uint32_t index) const {
    return texts[textOf[index]].address +
           4 * uint64_t(instructions[index].word);
  }
  /// The assembler text of an instruction.
  std::string textOfInstruction(uint32_t index) const;
};
} // namespace detail

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace detail {
class DefinedBytes;
}

/// A range of device addresses.
struct Region {
  uint64_t base = 0;
  uint64_t size = 0;
  uint8_t *host = nullptr;
  bool writable = true;
  std::string name;
  /// Of allocations; null for what the loader fills.
  detail::DefinedBytes *defined = nullptr;
};

namespace detail {
/// Which bytes of an allocation were written: by the host, and by kernels in
/// checked launches. A launch that is not checked counts as writing all.
class DefinedBytes {
public:
  explicit DefinedBytes(uint64_t size = 0) : size(size) {}

  /// Whether all are known to be defined: the usual case.
  bool all() const { return state == State::All; }
  void setAll() {
    state = State::All;
    bits.clear();
    bits.shrink_to_fit();
  }
  void set(uint64_t offset, uint64_t count, bool defined);
  bool test(uint64_t offset) const {
    return state == State::All ||
           (state == State::Some && ((bits[offset / 64] >> (offset % 64)) & 1));
  }
  /// Whether any of 1 to 8 bytes is defined.
  bool any(uint64_t offset, unsigned count) const {
    for (unsigned i = 0; i < count; ++i)
      if (test(offset + i))
        return true;
    return count == 0;
  }

private:
  enum class State : uint8_t { None, Some, All };
  State state = State::None;
  uint64_t size;
  std::vector<uint64_t> bits;
};

struct Allocation {
  uint64_t size = 0;
  std::unique_ptr<uint8_t[]> bytes;
  std::string name;
  bool released = false;
  DefinedBytes defined;
};

struct LoadedImage {
  uint64_t base = 0;
  /// One for each segment of the image.
  std::vector<std::vector<uint8_t>> contents;
};

struct MemoryImage {
  /// Released ones stay for messages, up to a number: every launch goes over
  /// all of them.
  std::map<uint64_t, Allocation> allocations;
  /// The addresses of released ones that stay, the oldest first.
  std::deque<uint64_t> released;
  static constexpr size_t maxReleased = 256;
  std::map<uint64_t, LoadedImage> images;
  uint64_t nextAddress = 0x100000000000ull;
  uint64_t nextImage = 0x200000000000ull;

  /// Places a code object's segments, once, and returns them.
  const LoadedImage &load(const CodeObjectImage &object);
  /// Describes where an address lies.
  std::string describe(uint64_t address) const;
};
} // namespace detail

/// Where the hidden pointers of a kernel lead that ask the host's runtime for
/// something. No runtime is there: nothing is mapped, and an access can be told
/// from that through a null pointer.
enum class HostService : uint8_t {
  Hostcall,
  Printf,
  Heap,
  DefaultQueue,
  Queue
};
/// The pointer that a launch gives to the kernel.
uint64_t addressOfHostService(HostService service);
/// What an access to such an address means; empty for all others.
llvm::StringRef describeHostService(uint64_t address);

/// What a launch sees of memory: sorted, disjoint regions.
struct MemoryView {
  std::vector<Region> regions;
  const detail::MemoryImage *image = nullptr;

  const Region *find(uint64_t address) const;
};

//===----------------------------------------------------------------------===//
// Wavefronts
//===----------------------------------------------------------------------===//

enum class WaveStatus : uint8_t { Running, AtBarrier, Ended, Failed };

struct Workgroup;

/// A wavefront's registers and state.
struct Wave {
  alignas(64) uint32_t execMask[lanesPerWave];
  uint32_t sgpr[scalarRegisters + 16];
  /// [register][lane]
  uint32_t (*vgpr)[lanesPerWave] = nullptr;
  uint64_t exec = 0;
  unsigned activeLanes = 0;
  bool scc = false;
  WaveStatus status = WaveStatus::Running;
  /// Whether instructions need the slow path (indexed registers, flushed
  /// denormals, directed rounding).
  bool slow = false;
  /// From MODE: denormals of sources and results that become zero, and the
  /// rounding (0 nearest even, 1 up, 2 down, 3 towards zero). The f64 fields
  /// hold for f16 too.
  bool flushInputF32 = false, flushOutputF32 = false;
  bool flushInputF64 = false, flushOutputF64 = false;
  uint8_t roundF32 = 0, roundF64 = 0;
  bool ieeeMode = true;
  bool dx10Clamp = true;
  /// FP16_OVFL of MODE.
  bool saturates = false;
  bool gprIndexing = false;
  uint8_t gprIndexMode = 0;
  uint32_t modeRegister = 0;
  /// What s_memtime and s_memrealtime count: their own reads.
  uint64_t clock = 0;
  /// The instruction to execute next, and the one in execution.
  uint32_t pc = 0;
  uint32_t current = 0;
  uint32_t numberInGroup = 0;
  uint8_t *scratch = nullptr;
  /// Scratch of one lane in bytes, and the wavefront's place in it.
  uint32_t scratchPerLane = 0;
  uint64_t scratchOffset = 0;
  Workgroup *group = nullptr;
  /// Where memory instructions note what they access; null in a plain run.
  AccessRecord *access = nullptr;
  /// The observer's own; set in waveBegin.
  void *observed = nullptr;
  const Region *recent[4] = {nullptr, nullptr, nullptr, nullptr};
  std::string error;
  /// Counted here because they depend on EXEC.
  uint64_t activeLanesVALU = 0;
  uint64_t globalBytesRead = 0, globalBytesWritten = 0;
  uint64_t scratchBytesRead = 0, scratchBytesWritten = 0;

  uint64_t read64(unsigned index) const {
    return sgpr[index] | (uint64_t(sgpr[index + 1]) << 32);
  }
  void write64(unsigned index, uint64_t value) {
    sgpr[index] = uint32_t(value);
    sgpr[index + 1] = uint32_t(value >> 32);
  }
};

struct Workgroup {
  std::vector<uint8_t> lds;
  const detail::CodeObjectImage *object = nullptr;
  const KernelCode *code = nullptr;
  const MemoryView *memory = nullptr;
  uint64_t imageBase = 0;
  uint64_t *hits = nullptr;
  /// Instructions that its wavefronts may still issue.
  uint64_t remaining = 0;
};

/// Takes a value of the MODE register: fields that follow from it, and whether
/// instructions need the slow path.
void setMode(Wave &wave, uint32_t mode);

/// The rounding of halves while an instruction runs, as in MODE: the host has
/// no such mode of its own. With saturateHalves (FP16_OVFL), finite values
/// beyond the largest half, or 8-bit number, become that one.
extern __thread uint8_t halfRounding;
constexpr uint8_t saturateHalves = 4;

/// Stops a wavefront with a message.
void fail(Wave &wave, const llvm::Twine &message);
/// A bad access of one lane, or of the wavefront (lane -1): stops the
/// wavefront, or, in an observed run that tolerates it, is noted; the caller
/// then leaves out the lane and goes on.
void failLane(Wave &wave, int lane, const llvm::Twine &message,
              FaultKind kind = FaultKind::OutOfBounds);

/// Finds host memory for an access to global memory; null, with the wavefront
/// stopped, where the access is bad. A lane of -1 is a scalar access.
uint8_t *resolveSlow(Wave &wave, int lane, uint64_t address, unsigned bytes,
                     bool write);

inline uint8_t *resolve(Wave &wave, int lane, uint64_t address, unsigned bytes,
                        bool write) {
  for (const Region *region : wave.recent)
    if (region && address - region->base < region->size &&
        region->size - (address - region->base) >= bytes &&
        (!write || region->writable))
      return region->host + (address - region->base);
  return resolveSlow(wave, lane, address, bytes, write);
}

/// Runs a wavefront until it ends, fails, meets a barrier or has issued so
/// many instructions.
using RunFunction = void (*)(Wave &, uint64_t);
/// Executes exactly one instruction, telling the observer (may be null).
using StepFunction = void (*)(Wave &, Observer *);

/// One entry of the tables of semantics.
struct OpcodeEntry {
  Handler handler = nullptr;
  /// For matrix instructions, which differ between the chips: null where the
  /// chip lacks the instruction.
  Handler handlerGfx942 = nullptr;
  Category category = Category::VALU;
  Arithmetic arithmetic = Arithmetic::None;
  ValueType source[3] = {ValueType::None, ValueType::None, ValueType::None};
  ValueType result = ValueType::None;
  /// Integer results that saturate under clamp do so in the handler.
  bool handlesClamp = false;
  /// Sources are only moved, whatever their type: denormals are kept.
  bool bitwise = false;
  /// Rounds in its own way, whatever MODE says: roundings to integers,
  /// approximations, conversions that name a rounding.
  bool ownRounding = false;
  /// A 16-bit result: op_sel picks the half that is written, the other is kept.
  bool writesHalf = false;
  /// How near to the chips' result; for approximations, the bound.
  Exactness exactness = Exactness::Exact;
  const char *note = "";
};

/// The semantics, compiled for one host instruction set.
struct OpcodeTable {
  llvm::StringMap<OpcodeEntry> entries;
  Handler dpp = nullptr;
  Handler sdwa = nullptr;
  Handler modified = nullptr;
  Handler unknown = nullptr;
  RunFunction run = nullptr;
  StepFunction step = nullptr;
};

/// The table that fits the host.
const OpcodeTable &opcodeTable();

namespace portable {
void fillTable(OpcodeTable &table);
}
#ifdef WAVESMITH_SIMULATOR_AVX2
namespace avx2 {
void fillTable(OpcodeTable &table);
}
#endif

/// Why an instruction that has no entry in the table is left out.
llvm::StringRef whyUnsupported(llvm::StringRef opcode);

// Of internal linkage: the families are compiled for several host instruction
// sets, and no copy of one may serve another.

/// The lane that a lane reads under a DPP control: -1 where it is outside, -2
/// where the control is not known.
static inline int dppSource(unsigned control, int lane) {
  int row = lane & ~15, inRow = lane & 15;
  if (control <= 0xff)
    return (lane & ~3) | int((control >> (2 * (lane & 3))) & 3);
  int n = static_cast<int>(control & 15);
  switch (control & 0x1f0) {
  case 0x100:
    return inRow + n < 16 ? lane + n : -1;
  case 0x110:
    return inRow - n >= 0 ? lane - n : -1;
  case 0x120:
    return row | ((inRow - n) & 15);
  case 0x150:
    return row | n;
  default:
    break;
  }
  switch (control) {
  case 0x130:
    return lane + 1 < int(lanesPerWave) ? lane + 1 : -1;
  case 0x134:
    return (lane + 1) & int(lanesPerWave - 1);
  case 0x138:
    return lane - 1;
  case 0x13c:
    return (lane - 1) & int(lanesPerWave - 1);
  case 0x140:
    return row | (15 - inRow);
  case 0x141:
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142:
    return row >= 16 ? row - 1 : -1;
  case 0x143:
    return row >= 32 ? 31 : -1;
  default:
    return -2;
  }
}

/// The lane that a lane reads under the offset of ds_swizzle.
static inline unsigned swizzleSource(unsigned offset, unsigned l) {
  if (offset >= 0xe000) {
    // FFT: the bits of the lane in reverse, but for those of the mask.
    unsigned mask = offset & 31, reversed = 0;
    for (unsigned i = 0; i < 5; ++i)
      reversed |= ((l >> i) & 1) << (4 - i);
    return (reversed >> __builtin_popcount(mask)) | (l & mask) | (l & 32);
  } else if (offset >= 0xc000) {
    // Rotation within 32 lanes: [10] direction, [9:5] distance, and a mask.
    unsigned distance = (offset >> 5) & 31, mask = offset & 31;
    unsigned rotated =
        (offset >> 10) & 1 ? (l + 32 - distance) & 31 : (l + distance) & 31;
    return (l & 32) | ((l & mask) | (rotated & ~mask & 31));
  } else if (offset & 0x8000) {
    return (l & ~3u) | ((offset >> (2 * (l & 3))) & 3);
  } else {
    unsigned andMask = offset & 31, orMask = (offset >> 5) & 31,
             xorMask = (offset >> 10) & 31;
    return (l & 32) | ((((l & 31) & andMask) | orMask) ^ xorMask);
  }
}

/// Decodes all executable sections of an image.
llvm::Error decode(detail::CodeObjectImage &image);

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_MACHINE_H
