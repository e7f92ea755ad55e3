"""Modules of demo.py."""
