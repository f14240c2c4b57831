"""Proof files checked.

check      A proof file checked in this process: which format it has, and its check
formats    The formats of proof files, by the value of their key `format`
models     Models that are too large to be part of a proof, inserted into its text
schema     The JSON Schema of proof files
checker    The process in which proofs are checked: its memory and its time are limited
"""
