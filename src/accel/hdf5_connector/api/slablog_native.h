/* slablog_native.h: part of slablog.h. Hyperslabs of a dataset without the connector go through one
 * H5Dwrite or H5Dread of their union, built by divide and conquer: H5S_SELECT_OR one by one takes
 * time that grows with their square. */
#ifndef SLABLOG_NATIVE_H
#define SLABLOG_NATIVE_H

/* A row of a hyperslab: elements of the dataset that are neighbours, and where they are in buf. */
typedef struct slablog_row {
  hsize_t offset;
  hsize_t length;
  hsize_t at;
} slablog_row;

static inline int slablog_compare_rows(const void* a, const void* b) {
  const slablog_row* x = (const slablog_row*)a;
  const slablog_row* y = (const slablog_row*)b;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  return x->at < y->at ? -1 : (x->at > y->at ? 1 : 0);
}

/* Number of rows; with `rows`, also stores them. 0 rows and *bad where one leaves the dataset. */
static inline size_t slablog_rows(const slablog_n_args* args, int rank, const hsize_t* dims,
                                  slablog_row* rows, int* bad) {
  size_t count = 0, i;
  hsize_t at = 0;
  for (i = 0; i < args->n; ++i) {
    const hsize_t* start = args->starts[i];
    const hsize_t* length = args->counts[i];
    hsize_t lines = 1, line;
    int d;
    for (d = 0; d < rank; ++d) {
      if (start[d] > dims[d] || length[d] > dims[d] - start[d]) {
        *bad = 1;
        return 0;
      }
      if (length[d] == 0) lines = 0;
      if (d + 1 < rank) lines *= length[d];
    }
    for (line = 0; line < lines; ++line, ++count, at += length[rank - 1]) {
      hsize_t rest = line, scale = dims[rank - 1], offset = start[rank - 1];
      if (rows == NULL) continue;
      for (d = rank - 2; d >= 0; --d) {
        offset += (start[d] + rest % length[d]) * scale;
        rest /= length[d];
        scale *= dims[d];
      }
      rows[count].offset = offset;
      rows[count].length = length[rank - 1];
      rows[count].at = at;
    }
  }
  return count;
}

static inline int slablog_select(hid_t space, const slablog_row* row, int rank,
                                 const hsize_t* dims) {
  hsize_t start[H5S_MAX_RANK], count[H5S_MAX_RANK];
  hsize_t rest = row->offset;
  int d;
  for (d = rank - 1; d >= 0; --d) {
    start[d] = rest % dims[d];
    rest /= dims[d];
    count[d] = 1;
  }
  count[rank - 1] = row->length;
  return H5Sselect_hyperslab(space, H5S_SELECT_OR, start, NULL, count, NULL) < 0 ? -1 : 0;
}

/* Adds sorted rows to `space`, of which nothing is selected. */
static inline int slablog_unite(hid_t space, const slablog_row* rows, size_t count, int rank,
                                const hsize_t* dims) {
  size_t i;
  int status;
  hid_t other;
  if (count <= 16) {
    for (i = 0; i < count; ++i) {
      if (slablog_select(space, rows + i, rank, dims) < 0) return -1;
    }
    return 0;
  }
  other = H5Scopy(space);
  if (other < 0) return -1;
  status = slablog_unite(space, rows, count / 2, rank, dims);
  if (status == 0) status = slablog_unite(other, rows + count / 2, count - count / 2, rank, dims);
  if (status == 0 && H5Smodify_select(space, H5S_SELECT_OR, other) < 0) status = -1;
  H5Sclose(other);
  return status;
}

/* Where each row's elements are among those of the union, in order: rows may overlap. Returns the
 * number of elements of the union. */
static inline hsize_t slablog_place(const slablog_row* rows, size_t count, hsize_t* dense) {
  hsize_t begin = 0, end = 0, before = 0; /* of the united rows so far, and elements in front */
  size_t i;
  for (i = 0; i < count; ++i) {
    if (i == 0 || rows[i].offset > end) {
      before += end - begin;
      begin = rows[i].offset;
      end = begin;
    }
    dense[i] = before + (rows[i].offset - begin);
    if (rows[i].offset + rows[i].length > end) end = rows[i].offset + rows[i].length;
  }
  return before + (end - begin);
}

/* Copies rows between buf and the union's elements, in the order of the hyperslabs, so that the
 * last one holds. */
static inline int slablog_copy(const slablog_row* rows, const hsize_t* dense, size_t count,
                               size_t bytes, char* buf, char* packed, int writing) {
  size_t i;
  slablog_row* by_position = (slablog_row*)malloc((count + 1) * sizeof *by_position);
  if (by_position == NULL) return -1;
  for (i = 0; i < count; ++i) {
    by_position[i].offset = rows[i].at;
    by_position[i].length = i;
    by_position[i].at = 0;
  }
  qsort(by_position, count, sizeof *by_position, slablog_compare_rows);
  for (i = 0; i < count; ++i) {
    const size_t which = (size_t)by_position[i].length;
    const slablog_row* row = rows + which;
    char* mine = buf + row->at * bytes;
    char* theirs = packed + dense[which] * bytes;
    if (writing) {
      memcpy(theirs, mine, row->length * bytes);
    } else {
      memcpy(mine, theirs, row->length * bytes);
    }
  }
  free(by_position);
  return 0;
}

static inline herr_t slablog_native_n(hid_t dataset, slablog_n_args* args, hid_t transfer,
                                      int writing) {
  hsize_t dims[H5S_MAX_RANK], elements = 0, line_length;
  hid_t file = H5Dget_space(dataset), line = -1;
  int rank = file < 0 ? -1 : H5Sget_simple_extent_dims(file, dims, NULL);
  int bad = rank < 1;
  size_t bytes = H5Tget_size(args->mem_type);
  size_t count = bad ? 0 : slablog_rows(args, rank, dims, NULL, &bad);
  slablog_row* rows = (slablog_row*)malloc((count + 1) * sizeof *rows);
  hsize_t* dense = (hsize_t*)malloc((count + 1) * sizeof *dense);
  char* packed = NULL;
  herr_t status = -1;

  if (!bad && rows != NULL && dense != NULL && H5Sselect_none(file) >= 0) {
    slablog_rows(args, rank, dims, rows, &bad);
    qsort(rows, count, sizeof *rows, slablog_compare_rows);
    elements = slablog_place(rows, count, dense);
    packed = (char*)malloc((size_t)elements * bytes + 1);
    line_length = elements > 0 ? elements : 1;
    line = H5Screate_simple(1, &line_length, NULL);
    if (elements == 0) H5Sselect_none(line);
    if (packed != NULL && line >= 0 && slablog_unite(file, rows, count, rank, dims) == 0) {
      if (writing) {
        if (slablog_copy(rows, dense, count, bytes, (char*)args->buf, packed, 1) == 0) {
          status = H5Dwrite(dataset, args->mem_type, line, file, transfer, packed);
        }
      } else {
        status = H5Dread(dataset, args->mem_type, line, file, transfer, packed);
        if (status >= 0) {
          status = slablog_copy(rows, dense, count, bytes, (char*)args->buf, packed, 0);
        }
      }
    }
  }
  if (bad) {
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_DATASPACE, H5E_BADRANGE,
             "file selection+offset not within extent");
  }
  free(rows);
  free(dense);
  free(packed);
  if (line >= 0) H5Sclose(line);
  if (file >= 0) H5Sclose(file);
  return status;
}

#endif
