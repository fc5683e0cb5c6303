"""What people say: sentences, statements about alternatives and criteria, scales and tables."""
