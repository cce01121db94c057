"""What other programs left: their chunks and vectors, read row by row, and gathered to documents."""
