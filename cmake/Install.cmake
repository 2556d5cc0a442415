# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# How other projects find the installed library: find_package(huddle) gives huddle::huddle, and
# pkg-config knows huddle. Both work wherever the installation is moved to.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/huddle)
install(TARGETS huddle_shared EXPORT huddle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT huddle NAMESPACE huddle:: FILE huddleConfig.cmake DESTINATION ${package_folder})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/huddleConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/huddleConfigVersion.cmake DESTINATION ${package_folder})

set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH huddle_pc_prefix /prefix/${pc_folder} /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/huddle.pc.in ${PROJECT_BINARY_DIR}/huddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/huddle.pc DESTINATION ${pc_folder})
