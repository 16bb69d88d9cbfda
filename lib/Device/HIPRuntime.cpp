//===- HIPRuntime.cpp - HIP's functions, found at run time ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HIPRuntime.h"
#include "wavesmith/Device/Device.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

using namespace wavesmith;
using namespace wavesmith::hip;

/// Newest first; the unversioned name exists only where the development package
/// is installed.
static const char *const libraryNames[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
    "libamdhip64.so"};

static const char *const rocmLibraryFolder = "/opt/rocm/lib";

std::string hip::formatVersion(int version) {
  return std::to_string(version / 10000000) + "." +
         std::to_string(version / 100000 % 100) + "." +
         std::to_string(version % 100000);
}

std::string Runtime::describe() const {
  return "HIP " + formatVersion(version) + " (" + path + ")";
}

llvm::Error Runtime::check(int code, const llvm::Twine &call) const {
  if (code == success)
    return llvm::Error::success();
  const char *name = hipGetErrorName(code);
  const char *text = hipGetErrorString(code);
  std::string meaning = name ? name : "unknown";
  // HIP 5 has no text but the name.
  if (text && meaning != text)
    meaning += std::string(": ") + text;
  return llvm::createStringError(call + ": HIP error " + llvm::Twine(code) +
                                 " (" + meaning + ")");
}

/// Opens \p path and looks up all functions. On failure returns null and adds a
/// line to \p attempts.
static std::shared_ptr<Runtime> openLibrary(const std::string &path, int flags,
                                            std::string &attempts) {
  auto fail = [&](const llvm::Twine &reason) {
    attempts += "\n  " + path + ": " + reason.str();
    return nullptr;
  };
  void *handle = dlopen(path.c_str(), flags);
  if (!handle) {
    const char *reason = dlerror();
    return fail(reason ? reason : "cannot be opened");
  }
  auto runtime = std::make_shared<Runtime>();
  runtime->path = path;
  std::string missing;
  auto find = [&](const char *name) {
    void *symbol = dlsym(handle, name);
    if (!symbol)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
    return symbol;
  };
#define WAVESMITH_HIP_FIND(name, ...)                                          \
  runtime->name = reinterpret_cast<Runtime::name##Type *>(find(#name));
  WAVESMITH_HIP_FUNCTIONS(WAVESMITH_HIP_FIND)
#undef WAVESMITH_HIP_FIND
  // From HIP 6 on the old name still gives the old layout, but only the new one
  // is sure to stay.
  if (void *symbol = dlsym(handle, "hipGetDevicePropertiesR0600")) {
    runtime->getProperties = reinterpret_cast<GetDeviceProperties *>(symbol);
    runtime->archNameOffset = archNameOffsetR0600;
  } else {
    runtime->getProperties =
        reinterpret_cast<GetDeviceProperties *>(find("hipGetDeviceProperties"));
    runtime->archNameOffset = archNameOffsetR0000;
  }
  if (!missing.empty())
    return fail("is not a usable HIP library: it lacks " + missing);
  // Works without a GPU too.
  if (int code = runtime->hipRuntimeGetVersion(&runtime->version))
    return fail("hipRuntimeGetVersion fails with HIP error " +
                llvm::Twine(code));
  return runtime;
}

/// Paths of HIP libraries in this process, e.g. the one that PyTorch brings.
static llvm::SmallVector<std::string> findMappedLibraries() {
  llvm::SmallVector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        llvm::StringRef path(info->dlpi_name ? info->dlpi_name : "");
        if (llvm::sys::path::filename(path).starts_with("libamdhip64"))
          static_cast<llvm::SmallVector<std::string> *>(data)->push_back(
              path.str());
        return 0;
      },
      &paths);
  return paths;
}

llvm::Expected<std::shared_ptr<const Runtime>> hip::openRuntime() {
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
  std::string attempts;

  const char *chosen = std::getenv(libraryVariable);
  if (chosen && *chosen) {
    if (llvm::sys::fs::is_directory(chosen)) {
      for (const char *name : libraryNames) {
        llvm::SmallString<128> path(chosen);
        llvm::sys::path::append(path, name);
        if (std::shared_ptr<Runtime> runtime =
                openLibrary(path.str().str(), flags, attempts))
          return runtime;
      }
    } else if (std::shared_ptr<Runtime> runtime =
                   openLibrary(chosen, flags, attempts)) {
      return runtime;
    }
    return llvm::createStringError(llvm::Twine("the HIP library that ") +
                                   libraryVariable + "=" + chosen +
                                   " names cannot be used; tried:" + attempts);
  }

  for (const std::string &path : findMappedLibraries())
    if (std::shared_ptr<Runtime> runtime =
            openLibrary(path, flags | RTLD_NOLOAD, attempts))
      return runtime;
  for (const char *name : libraryNames)
    if (std::shared_ptr<Runtime> runtime = openLibrary(name, flags, attempts))
      return runtime;
  for (const char *name : libraryNames) {
    llvm::SmallString<128> path(rocmLibraryFolder);
    llvm::sys::path::append(path, name);
    if (std::shared_ptr<Runtime> runtime =
            openLibrary(path.str().str(), flags, attempts))
      return runtime;
  }
  return llvm::make_error<NoDeviceError>(
      std::string("no HIP device: no HIP library found (") + libraryVariable +
      " is not set); tried:" + attempts);
}
