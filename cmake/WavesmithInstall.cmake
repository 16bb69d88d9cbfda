# What `cmake --install build --prefix P` puts under P. The component `library`
# is what a program needs that embeds libwavesmith; `tools` are the commands;
# `compiler` is for other MLIR compilers: headers and static archives, which link
# the shared MLIR and LLVM that they were built with. A wheel has the component
# `library` in the folder of the package, besides `python`.
if(SKBUILD)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Wavesmith)
install(PROGRAMS $<TARGET_FILE:wavesmith>
  DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
# MPFR and GMP beside it, under the names that it looks for.
install(CODE "
  file(GET_RUNTIME_DEPENDENCIES
    LIBRARIES \"$<TARGET_FILE:wavesmith>\"
    RESOLVED_DEPENDENCIES_VAR found
    PRE_INCLUDE_REGEXES \"^lib(mpfr|gmp)[.]so\" PRE_EXCLUDE_REGEXES \".*\")
  foreach(path IN LISTS found)
    get_filename_component(name \"\${path}\" NAME)
    get_filename_component(file \"\${path}\" REALPATH)
    file(INSTALL FILES \"\${file}\" RENAME \"\${name}\"
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
  endforeach()" COMPONENT library)
install(FILES include/wavesmith-c/Wavesmith.h include/wavesmith-c/Simulator.h
  include/wavesmith-c/Tools.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wavesmith-c COMPONENT library)
configure_package_config_file(cmake/WavesmithConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/WavesmithConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/WavesmithConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/WavesmithConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/WavesmithConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)
install(FILES LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/wavesmith COMPONENT library)
if(WAVESMITH_LIBRARY)
  return()
endif()

set(compiler_components WavesmithPipelines WavesmithOdeToWorkgroup
  WavesmithAttentionToWorkgroup WavesmithTileToGPU WavesmithWorkgroupToGPU WavesmithTransforms WavesmithDialect WavesmithMath
  WavesmithSupport WavesmithTarget)
foreach(component ${compiler_components})
  target_include_directories(${component} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(TARGETS ${compiler_components} EXPORT WavesmithCompilerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
install(EXPORT WavesmithCompilerTargets NAMESPACE Wavesmith::
  DESTINATION ${package_dir} COMPONENT compiler)
foreach(folder Conversion Dialect Math Pipelines Support Target)
  foreach(tree ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    if(EXISTS ${tree}/include/wavesmith/${folder})
      install(DIRECTORY ${tree}/include/wavesmith/${folder}
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wavesmith COMPONENT compiler
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
        PATTERN "CMakeFiles" EXCLUDE)
    endif()
  endforeach()
endforeach()

foreach(tool wavesmith-opt wavesmith-compile wavesmith-run wavesmith-evaluate
        wavesmith-validate)
  if(TARGET ${tool})
    install(TARGETS ${tool}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endforeach()
