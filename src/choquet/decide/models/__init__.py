"""The measures that agree: programs, relations, conflicts, draws, one of many."""
