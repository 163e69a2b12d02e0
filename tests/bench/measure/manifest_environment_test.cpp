#include "bench/measure/manifest_environment.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(RecordedEnvironments, HoldTheVariablesOfMpiAndTheLibraries) {
  const std::vector<std::string> entries = {
      "OMPI_MCA_io=romio321", "HDF5_PLUGIN_PATH=/a=b", "MPICH_X=",
      "ROMIO_HINTS=/h",       "PNETCDF_HINTS=a=1;b=2", "SLURM_NNODES=2",
      "HOME=/home/me",        "MY_OMPI_X=1",           "no equals sign"};
  const RecordedEnvironment environment = record_environment(entries);
  const std::map<std::string, std::string> expected = {
      {"OMPI_MCA_io", "romio321"}, {"HDF5_PLUGIN_PATH", "/a=b"}, {"MPICH_X", ""},
      {"ROMIO_HINTS", "/h"},       {"PNETCDF_HINTS", "a=1;b=2"}, {"SLURM_NNODES", "2"}};
  EXPECT_EQ(environment.variables, expected);
  EXPECT_TRUE(environment.withheld.empty());
}

TEST(RecordedEnvironments, NameButDoNotShowSecrets) {
  const std::vector<std::string> entries = {"SLURM_JWT=x",
                                            "OMPI_MCA_orte_precondition_transports=1f-2e",
                                            "OMPI_MCA_orte_hnp_uri=1;tcp://10.0.0.1:5",
                                            "OMPI_x_Cookie=y",
                                            "HDF5_VFD_S3_SECRET_KEY=z",
                                            "HDF5_SOURCE=https://me:word@host/a",
                                            "SLURM_JOB_ID=7"};
  const RecordedEnvironment environment = record_environment(entries);
  EXPECT_EQ(environment.variables, (std::map<std::string, std::string>{{"SLURM_JOB_ID", "7"}}));
  EXPECT_EQ(environment.withheld,
            (std::vector<std::string>{
                "HDF5_SOURCE", "HDF5_VFD_S3_SECRET_KEY", "OMPI_MCA_orte_hnp_uri",
                "OMPI_MCA_orte_precondition_transports", "OMPI_x_Cookie", "SLURM_JWT"}));
}

TEST(RecordedEnvironments, ShowAddressesWithoutAUser) {
  EXPECT_FALSE(is_secret("HDF5_SOURCE", "https://host/a"));
  EXPECT_FALSE(is_secret("SLURM_JOB_USER", "me@host"));
}

}  // namespace
}  // namespace slabmark
