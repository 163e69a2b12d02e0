"""Records of many nights: a store, changes found in it, and a page."""
