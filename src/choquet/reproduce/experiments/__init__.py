"""The paper's experiments, each with what the paper says beside what comes out."""
