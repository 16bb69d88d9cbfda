# What `cmake --install build --prefix P` puts under P. The component `library`
# is what a program needs that embeds libwavesmith; `tools` are the commands;
# `compiler` is for other MLIR compilers: headers and static archives, which link
# the shared MLIR and LLVM that they were built with.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Wavesmith)
install(TARGETS wavesmith EXPORT WavesmithTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES
  include/wavesmith-c/Wavesmith.h include/wavesmith-c/Simulator.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wavesmith-c COMPONENT library)
install(EXPORT WavesmithTargets NAMESPACE Wavesmith::
  DESTINATION ${package_dir} COMPONENT library)
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
        wavesmith-validate wavesmith-tune)
  if(TARGET ${tool})
    install(TARGETS ${tool}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endforeach()
