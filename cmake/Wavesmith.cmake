# Helpers shared by every folder.
#
# Wavesmith's own code is compiled once, into static archives that name no LLVM
# library. What a final product links decides between the two forms of LLVM:
# tools and tests take the shared libMLIR/libLLVM (fast to link), libwavesmith
# takes the static archives (safe beside another LLVM in the same process).

# wavesmith_add_library(NAME sources... [DEPENDS targets...] [LINK libraries...])
function(wavesmith_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# wavesmith_add_executable(NAME sources... [LINK libraries...] [LLVM_ONLY])
# Links the shared LLVM, and the shared MLIR too unless LLVM_ONLY is given.
function(wavesmith_add_executable name)
  cmake_parse_arguments(ARG "LLVM_ONLY" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(NOT ARG_LLVM_ONLY)
    target_link_libraries(${name} PRIVATE MLIR)
  endif()
  target_link_libraries(${name} PRIVATE LLVM)
endfunction()
