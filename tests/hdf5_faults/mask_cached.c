/* HDF5 2.2.0, without any connector: H5Dwrite_chunk says that a filter was left out of a chunk
 * (filter mask 1). Until the dataset is closed, or another chunk is written so, H5Dread uses the
 * mask that the chunk had before: H5D__chunk_direct_write keeps what it looked up
 * (H5D__chunk_cinfo_cache_update) before it sets the new mask.
 *
 *   h5cc mask_cached.c -o mask_cached && ./mask_cached a.h5
 *
 * Prints what it read, before and after the dataset was closed, which should be 1 2 twice. Status 1
 * if it is not.
 */
#include <stdio.h>

#include <hdf5.h>

static size_t flip(unsigned flags, size_t count, const unsigned* values, size_t bytes, size_t* room,
                   void** data) {
  size_t i;
  (void)flags, (void)count, (void)values, (void)room;
  for (i = 0; i < bytes / sizeof(int); ++i) ((int*)*data)[i] ^= 0x55;
  return bytes;
}

int main(int argc, char** argv) {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, 300, 1, 1, "flip", NULL, NULL, flip};
  const hsize_t two = 2, first = 0;
  const int values[2] = {1, 2};
  int found[2] = {0, 0}, round, wrong = 0;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &two, NULL), file,
        set;
  if (argc != 2) return 2;
  H5Zregister(&filter);
  H5Pset_chunk(creation, 1, &two);
  H5Pset_filter(creation, 300, H5Z_FLAG_OPTIONAL, 0, NULL);
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  set = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite_chunk(set, H5P_DEFAULT, 1, &first, sizeof values, values);
  for (round = 0; round < 2; ++round) {
    H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found);
    printf("%s: %d %d\n", round ? "opened again" : "at once", found[0], found[1]);
    wrong |= found[0] != 1 || found[1] != 2;
    H5Dclose(set);
    set = H5Dopen2(file, "d", H5P_DEFAULT);
  }
  H5Dclose(set);
  H5Fclose(file);
  H5Sclose(space);
  H5Pclose(creation);
  return wrong;
}
