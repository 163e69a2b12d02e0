"""A page from records: figures, tables, and the words around them."""
