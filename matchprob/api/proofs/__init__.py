"""Proof files checked.

check      A proof file checked in this process: which format it has, and its check
checker    The process in which proofs are checked: its memory and its time are limited
"""
