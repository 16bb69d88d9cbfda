//===- Memory.cpp - Device memory and the checks on its use -------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <new>

using namespace llvm;
using namespace wavesmith::sim;

/// Between allocations, so that an overrun of this size is always caught.
static constexpr uint64_t guardBytes = 1 << 16;

static std::string hex(uint64_t value) {
  return "0x" + utohexstr(value, /*LowerCase=*/true);
}

static std::string boundsOf(uint64_t base,
                            const wavesmith::sim::detail::Allocation &a) {
  return "'" + a.name + "' [" + hex(base) + ", " + hex(base + a.size) +
         ") of " + std::to_string(a.size) + " bytes";
}

Memory::Memory()
    : impl(std::make_unique<wavesmith::sim::detail::MemoryImage>()) {}
Memory::~Memory() = default;
Memory::Memory(Memory &&) = default;
Memory &Memory::operator=(Memory &&) = default;

Expected<uint64_t> Memory::allocate(uint64_t bytes, StringRef name) {
  if (bytes == 0)
    return createStringError("cannot allocate 0 bytes of device memory for '" +
                             name + "'");
  wavesmith::sim::detail::MemoryImage &m = *impl;
  if (bytes > (uint64_t(1) << 40))
    return createStringError("cannot allocate " + Twine(bytes) +
                             " bytes of device memory for '" + name + "'");
  wavesmith::sim::detail::Allocation allocation;
  allocation.bytes.reset(new (std::nothrow) uint8_t[bytes]);
  if (!allocation.bytes)
    return createStringError("cannot allocate " + Twine(bytes) +
                             " bytes of device memory for '" + name + "'");
  for (uint64_t i = 0; i < bytes; ++i)
    allocation.bytes[i] = static_cast<uint8_t>(poisonWord >> (8 * (i & 3)));
  allocation.size = bytes;
  allocation.defined = wavesmith::sim::detail::DefinedBytes(bytes);
  allocation.name = printable(name);
  uint64_t address = m.nextAddress;
  m.nextAddress = alignTo(address + bytes, 4096) + guardBytes;
  m.allocations.emplace(address, std::move(allocation));
  return address;
}

Error Memory::release(uint64_t address) {
  auto it = impl->allocations.find(address);
  if (it == impl->allocations.end())
    return createStringError("no allocation starts at " + hex(address) + ": " +
                             impl->describe(address));
  if (it->second.released)
    return createStringError("released twice: " +
                             boundsOf(address, it->second));
  it->second.released = true;
  it->second.bytes.reset();
  impl->released.push_back(address);
  if (impl->released.size() >
      wavesmith::sim::detail::MemoryImage::maxReleased) {
    impl->allocations.erase(impl->released.front());
    impl->released.pop_front();
  }
  return Error::success();
}

void wavesmith::sim::detail::DefinedBytes::set(uint64_t offset, uint64_t count,
                                               bool defined) {
  if (count == 0 || (defined && state == State::All) ||
      (!defined && state == State::None))
    return;
  if (defined && offset == 0 && count == size) {
    setAll();
    return;
  }
  if (state != State::Some) {
    bits.assign((size + 63) / 64, state == State::All ? ~uint64_t(0) : 0);
    state = State::Some;
  }
  for (uint64_t at = offset, end = offset + count; at < end;) {
    uint64_t in = at % 64, n = std::min<uint64_t>(64 - in, end - at);
    uint64_t mask = (n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1) << in;
    if (defined)
      bits[at / 64] |= mask;
    else
      bits[at / 64] &= ~mask;
    at += n;
  }
}

static Expected<uint8_t *> find(const wavesmith::sim::detail::MemoryImage &m,
                                uint64_t address, uint64_t bytes,
                                StringRef what) {
  auto it = m.allocations.upper_bound(address);
  if (it != m.allocations.begin()) {
    --it;
    uint64_t offset = address - it->first;
    const wavesmith::sim::detail::Allocation &a = it->second;
    if (!a.released && offset <= a.size && a.size - offset >= bytes)
      return a.bytes.get() + offset;
  }
  return createStringError("host " + what + " of " + Twine(bytes) +
                           " bytes at " + hex(address) + ": " +
                           m.describe(address));
}

Error Memory::write(uint64_t address, ArrayRef<uint8_t> bytes) {
  auto host = find(*impl, address, bytes.size(), "write");
  if (!host)
    return host.takeError();
  if (bytes.empty())
    return Error::success();
  std::memcpy(*host, bytes.data(), bytes.size());
  auto it = std::prev(impl->allocations.upper_bound(address));
  it->second.defined.set(address - it->first, bytes.size(), true);
  return Error::success();
}

Error Memory::read(uint64_t address, MutableArrayRef<uint8_t> out) const {
  auto host = find(*impl, address, out.size(), "read");
  if (!host)
    return host.takeError();
  if (!out.empty())
    std::memcpy(out.data(), *host, out.size());
  return Error::success();
}

std::string
wavesmith::sim::detail::MemoryImage::describe(uint64_t address) const {
  if (address < 4096)
    return "the address is a null pointer";
  auto next = allocations.upper_bound(address);
  const std::pair<const uint64_t, Allocation> *best = nullptr;
  uint64_t distance = ~uint64_t(0);
  bool before = false;
  if (next != allocations.end()) {
    best = &*next;
    distance = next->first - address;
    before = true;
  }
  if (next != allocations.begin()) {
    auto previous = std::prev(next);
    uint64_t offset = address - previous->first;
    uint64_t past =
        offset < previous->second.size ? 0 : offset - previous->second.size;
    if (!best || past <= distance) {
      best = &*previous;
      distance = past;
      before = false;
    }
  }
  if (!best)
    return "there are no allocations";
  std::string bounds = boundsOf(best->first, best->second);
  std::string released = best->second.released ? ", which was released" : "";
  if (before)
    return std::to_string(distance) + " bytes before allocation " + bounds +
           released;
  if (address - best->first < best->second.size)
    return "in allocation " + bounds + released;
  return std::to_string(distance) + " bytes after the end of allocation " +
         bounds + released;
}

const wavesmith::sim::detail::LoadedImage &
wavesmith::sim::detail::MemoryImage::load(const CodeObjectImage &object) {
  auto [it, inserted] = images.try_emplace(object.identity);
  LoadedImage &loaded = it->second;
  if (!inserted)
    return loaded;
  loaded.base = nextImage;
  uint64_t end = 0;
  for (const Segment &segment : object.segments) {
    end = std::max(end, segment.address + segment.size);
    std::vector<uint8_t> contents = segment.contents;
    contents.resize(segment.size);
    loaded.contents.push_back(std::move(contents));
  }
  nextImage = alignTo(loaded.base + end, 1 << 21) + guardBytes;
  nextImage = alignTo(nextImage, 1 << 21);
  for (const Relocation &relocation : object.relocations)
    for (size_t s = 0; s < object.segments.size(); ++s) {
      const Segment &segment = object.segments[s];
      uint64_t offset = relocation.address - segment.address;
      if (relocation.address < segment.address || offset >= segment.size ||
          segment.size - offset < relocation.size)
        continue;
      uint64_t value = relocation.value + loaded.base;
      std::memcpy(&loaded.contents[s][offset], &value, relocation.size);
    }
  return loaded;
}

/// Between the dispatch packet and the images of code objects there is nothing.
static constexpr uint64_t hostServices = 0x2a0000000000ull;
static constexpr uint64_t hostServiceBytes = uint64_t(1) << 32;

uint64_t wavesmith::sim::addressOfHostService(HostService service) {
  return hostServices + uint64_t(service) * hostServiceBytes;
}

StringRef wavesmith::sim::describeHostService(uint64_t address) {
  if (address < hostServices)
    return "";
  switch ((address - hostServices) / hostServiceBytes) {
  case uint64_t(HostService::Hostcall):
    return "the hostcall buffer (hidden_hostcall_buffer), through which "
           "printf, "
           "assert and malloc on the device ask the host";
  case uint64_t(HostService::Printf):
    return "the buffer of OpenCL's printf (hidden_printf_buffer), which the "
           "host "
           "prints";
  case uint64_t(HostService::Heap):
    return "the heap of malloc on the device (hidden_heap_v1), which the host "
           "sets up";
  case uint64_t(HostService::DefaultQueue):
    return "the queue for kernels that the kernel enqueues "
           "(hidden_default_queue)";
  case uint64_t(HostService::Queue):
    return "the HSA queue that the kernel was dispatched from (queue_ptr)";
  default:
    return "";
  }
}

const Region *MemoryView::find(uint64_t address) const {
  size_t low = 0, high = regions.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (regions[middle].base <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return nullptr;
  const Region &region = regions[low - 1];
  return address - region.base < region.size ? &region : nullptr;
}

uint8_t *wavesmith::sim::resolveSlow(Wave &wave, int lane, uint64_t address,
                                     unsigned bytes, bool write) {
  const MemoryView &view = *wave.group->memory;
  const Region *region = view.find(address);
  if (region && region->size - (address - region->base) >= bytes &&
      (!write || region->writable)) {
    for (unsigned i = 3; i > 0; --i)
      wave.recent[i] = wave.recent[i - 1];
    wave.recent[0] = region;
    return region->host + (address - region->base);
  }
  StringRef service = describeHostService(address);
  if (!service.empty()) {
    // Not the kernel's mistake, and what comes after it waits for an answer.
    fail(wave, (lane < 0 ? "" : "lane " + std::to_string(lane) + ": ") +
                   Twine(write ? "write" : "read") + " of " + Twine(bytes) +
                   " bytes of " + service + "; the simulator has no such host");
    return nullptr;
  }
  std::string message;
  if (region && write && !region->writable)
    message = "write of " + std::to_string(bytes) + " bytes at " +
              hex(address) + ", in read-only memory: " + region->name;
  else if (region)
    message = "out-of-bounds " + std::string(write ? "write" : "read") +
              " of " + std::to_string(bytes) + " bytes at " + hex(address) +
              ", across the end of '" + region->name + "' [" +
              hex(region->base) + ", " + hex(region->base + region->size) +
              ") of " + std::to_string(region->size) + " bytes";
  else
    message = "out-of-bounds " + std::string(write ? "write" : "read") +
              " of " + std::to_string(bytes) + " bytes at " + hex(address) +
              ": " + view.image->describe(address);
  failLane(wave, lane, message,
           region && write && !region->writable ? FaultKind::ReadOnly
                                                : FaultKind::OutOfBounds);
  return nullptr;
}

Observer::~Observer() = default;

void AccessRecord::addFault(int lane, FaultKind kind, std::string message) {
  hasFaults = true;
  faults.push_back({lane, kind, std::move(message)});
}

void AccessRecord::clearFaults() {
  hasFaults = false;
  faults.clear();
}

__thread uint8_t wavesmith::sim::halfRounding = 0;

void wavesmith::sim::setMode(Wave &w, uint32_t mode) {
  w.modeRegister = mode;
  w.roundF32 = mode & 3;
  w.roundF64 = (mode >> 2) & 3;
  // Two bits for each: keep the denormals of sources, of results.
  w.flushInputF32 = !((mode >> 4) & 1);
  w.flushOutputF32 = !((mode >> 5) & 1);
  w.flushInputF64 = !((mode >> 6) & 1);
  w.flushOutputF64 = !((mode >> 7) & 1);
  w.dx10Clamp = (mode >> 8) & 1;
  w.ieeeMode = (mode >> 9) & 1;
  w.saturates = (mode >> 23) & 1;
  w.slow =
      (mode & 0xff) != 0xf0 || w.saturates || (w.gprIndexing && w.gprIndexMode);
}

void wavesmith::sim::fail(Wave &wave, const Twine &message) {
  if (wave.status == WaveStatus::Failed)
    return;
  wave.status = WaveStatus::Failed;
  wave.error = message.str();
}

void wavesmith::sim::failLane(Wave &wave, int lane, const Twine &message,
                              FaultKind kind) {
  if (wave.access && wave.access->tolerant) {
    wave.access->addFault(lane, kind, message.str());
    return;
  }
  if (lane < 0)
    fail(wave, message);
  else
    fail(wave, "lane " + Twine(lane) + ": " + message);
}
