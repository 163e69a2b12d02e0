# The target slabmark_git_revision writes git_revision.hpp anew in each build, but touches it only if the revision
# changed, so that one file is compiled again and not the world.
add_custom_target(slabmark_git_revision
  COMMAND ${CMAKE_COMMAND} -D source=${PROJECT_SOURCE_DIR} -D output=${PROJECT_BINARY_DIR}/generated/git_revision.hpp
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteGitRevision.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/git_revision.hpp
  COMMENT ""
  VERBATIM)
