"""Searches for evidence in floating point, which `algebra.arguments` then checks exactly.

definite_search  A search for a positive definite form that proves MP < 1
growths          How weights grow towards solutions at infinity, guessed from tracked paths
sign_symmetries  Sign symmetries of recurrent nets: instances whose solutions come in pairs
"""
