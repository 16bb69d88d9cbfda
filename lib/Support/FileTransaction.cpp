//===- FileTransaction.cpp - Files that appear together -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/FileTransaction.h"
#include "llvm/Support/raw_ostream.h"

using namespace wavesmith;

FileTransaction::~FileTransaction() {
  for (Entry &entry : entries)
    llvm::consumeError(entry.file.discard());
}

llvm::Error FileTransaction::add(llvm::StringRef path,
                                 llvm::ArrayRef<uint8_t> contents) {
  // Renaming over a device such as /dev/null would replace it.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return llvm::createStringError("cannot write " + path +
                                   ": it is not a regular file");
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
  if (!file)
    return llvm::createStringError("cannot write " + path + ": " +
                                   llvm::toString(file.takeError()));
  entries.push_back({path.str(), std::move(*file)});
  llvm::raw_fd_ostream os(entries.back().file.FD, /*shouldClose=*/false);
  os.write(reinterpret_cast<const char *>(contents.data()), contents.size());
  os.flush();
  if (std::error_code code = os.error()) {
    os.clear_error();
    return llvm::createStringError("cannot write " + path + ": " +
                                   code.message());
  }
  return llvm::Error::success();
}

llvm::Error FileTransaction::commit() {
  std::vector<Entry> pending = std::move(entries);
  entries.clear();
  llvm::Error error = llvm::Error::success();
  for (Entry &entry : pending) {
    if (error) {
      error = llvm::joinErrors(std::move(error), entry.file.discard());
      continue;
    }
    if (llvm::Error failure = entry.file.keep(entry.path))
      error = llvm::createStringError("cannot write " + entry.path + ": " +
                                      llvm::toString(std::move(failure)));
  }
  return error;
}
