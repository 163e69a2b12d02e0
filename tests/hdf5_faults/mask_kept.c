/* HDF5 2.2.0, without any connector: a chunk that an optional filter did something with is written
 * again, with elements that the filter can do nothing with, and takes as many bytes as before. HDF5
 * does not enter into the chunk's index that the filter was left out (H5D__chunk_file_alloc asks
 * for that only where the size changes), so what is read went through the filter backwards.
 *
 *   h5cc mask_kept.c -o mask_kept && ./mask_kept a.h5
 *
 * Prints what it read, which should be -1 2. Status 1 if it is not.
 */
#include <stdio.h>

#include <hdf5.h>

static size_t flip(unsigned flags, size_t count, const unsigned* values, size_t bytes, size_t* room,
                   void** data) {
  int* first = *data;
  size_t i;
  (void)count, (void)values, (void)room;
  if (!(flags & H5Z_FLAG_REVERSE) && first[0] < 0) return 0;
  for (i = 0; i < bytes / sizeof(int); ++i) first[i] ^= 0x55;
  return bytes;
}

int main(int argc, char** argv) {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, 300, 1, 1, "flip", NULL, NULL, flip};
  const hsize_t two = 2;
  int values[2] = {1, 2}, found[2] = {0, 0}, round;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &two, NULL), file,
        set;
  if (argc != 2) return 2;
  H5Zregister(&filter);
  H5Pset_chunk(creation, 1, &two);
  H5Pset_filter(creation, 300, H5Z_FLAG_OPTIONAL, 0, NULL);
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  set = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  for (round = 0; round < 2; ++round, values[0] = -1) {
    H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    set = H5Dopen2(file, "d", H5P_DEFAULT);
  }
  H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found);
  H5Dclose(set);
  H5Fclose(file);
  printf("%d %d\n", found[0], found[1]);
  return found[0] != -1 || found[1] != 2;
}
