# Rewrites the text of the device's math library for the host.
#
#   cmake -DINPUT=device.ll -DOUTPUT=host.ll -DTRIPLE=... -P HostBitcode.cmake
#
# Only what names the device changes: triple, data layout, address spaces, the
# linkage of functions, and the few device intrinsics, which become calls of
# HostIntrinsics.cpp. No arithmetic is touched. What is not known here stops the
# build: a device library of another version may need more.

cmake_minimum_required(VERSION 3.22)

file(READ "${INPUT}" text)

# The back end fills in the layout that belongs to the triple.
string(REGEX REPLACE "target datalayout = \"[^\"]*\"\n" "" text "${text}")
string(REGEX REPLACE "target triple = \"[^\"]*\"\n"
       "target triple = \"${TRIPLE}\"\n" text "${text}")

# Constants (4) and the private stack (5) are plain memory on the host.
string(REPLACE " addrspace(4)" "" text "${text}")
string(REPLACE " addrspace(5)" "" text "${text}")

# f32 exp2 and log2 are one instruction on the device, not the host's libm.
foreach(intrinsic amdgcn.rcp.f64 amdgcn.rsq.f64 amdgcn.class.f64
        amdgcn.frexp.mant.f64 amdgcn.frexp.exp.i32.f64 amdgcn.fract.f64
        amdgcn.trig.preop.f64 log2.f32 exp2.f32)
  string(REPLACE "." "_" symbol "wavesmith_device_${intrinsic}")
  string(REPLACE "@llvm.${intrinsic}(" "@${symbol}(" text "${text}")
endforeach()
# This attribute is one that only intrinsics may carry.
string(REPLACE " nocreateundeforpoison" "" text "${text}")

string(REPLACE "@__ocml" "@wavesmith_ocml" text "${text}")
string(REPLACE "@__oclc" "@wavesmith_oclc" text "${text}")
string(REPLACE "define weak_odr protected " "define hidden " text "${text}")
string(REPLACE "linkonce_odr protected " "internal " text "${text}")

string(REGEX MATCHALL "addrspace\\([0-9]+\\)|@llvm\\.amdgcn[.a-z0-9]*|@__[A-Za-z0-9_]*|declare [^\n]*@wavesmith_oc[^\n]*"
       unknown "${text}")
if(unknown)
  list(REMOVE_DUPLICATES unknown)
  message(FATAL_ERROR "the device's math library uses what the host build does "
    "not know: ${unknown}; extend lib/Math/HostBitcode.cmake and HostIntrinsics.cpp")
endif()
# The only calls that may be left are those of the host's exact operations.
string(REGEX MATCHALL "@llvm\\.[.a-z0-9_]+" intrinsics "${text}")
list(REMOVE_DUPLICATES intrinsics)
foreach(intrinsic ${intrinsics})
  if(NOT intrinsic MATCHES
     "^@llvm\\.(fabs|fma|copysign|ldexp|maxnum|minnum|rint|trunc|floor|ceil|sqrt|assume)\\.")
    message(FATAL_ERROR "the device's math library calls ${intrinsic}, which is "
      "not known to give the same bits on the host; extend lib/Math")
  endif()
endforeach()

# Without these flags nothing fuses or re-associates operations, on either side.
if(text MATCHES " (fast|contract|reassoc|arcp|afn|nnan|ninf|nsz) " OR
   text MATCHES "denormal-fp-math|unsafe-fp-math")
  message(FATAL_ERROR "the device's math library has fast-math flags "
    "('${CMAKE_MATCH_0}'): the host cannot promise to give its bits")
endif()

file(WRITE "${OUTPUT}" "${text}")
