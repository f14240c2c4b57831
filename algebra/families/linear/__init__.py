"""The family of networks that are chains of matrices.

inspect  Inspection: the equations of an allocation and their structure
"""
