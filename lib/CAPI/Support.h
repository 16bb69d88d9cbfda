//===- Support.h - What the parts of the C API share ------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How functions of the C API say what went wrong.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CAPI_SUPPORT_H
#define WAVESMITH_LIB_CAPI_SUPPORT_H

#include "wavesmith-c/Wavesmith.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace wavesmith {

/// What a function of the C API comes to.
struct Outcome {
  wavesmith_status status = WAVESMITH_SUCCESS;
  std::string message;
};

/// A copy that the caller frees; null if there is no memory for it.
inline char *copyText(llvm::StringRef text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

inline Outcome invalid(const llvm::Twine &message) {
  return {WAVESMITH_INVALID_ARGUMENT, message.str()};
}

inline Outcome failed(wavesmith_status status, llvm::Error error) {
  return {status, llvm::toString(std::move(error))};
}

inline llvm::StringRef orEmpty(const char *text) { return text ? text : ""; }

/// Runs the body of a function of the C API, and lets no exception out of it.
/// Messages are UTF-8 without control characters but line ends and tabs.
/// LLVM and our own code throw none; the standard library throws where memory
/// ends. The files that call it are compiled with exceptions.
template <typename Body>
wavesmith_status guard(char **message, Body body) noexcept {
  if (message)
    *message = nullptr;
  try {
    Outcome outcome = body();
    if (outcome.status != WAVESMITH_SUCCESS && message)
      *message = copyText(printable(outcome.message, "\n\t"));
    return outcome.status;
  } catch (const std::bad_alloc &) {
    if (message)
      *message = copyText("out of memory");
    return WAVESMITH_OUT_OF_MEMORY;
  } catch (...) {
    if (message)
      *message = copyText("an exception inside of the library");
    return WAVESMITH_INTERNAL_ERROR;
  }
}

} // namespace wavesmith

#endif // WAVESMITH_LIB_CAPI_SUPPORT_H
