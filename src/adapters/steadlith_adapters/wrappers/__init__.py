"""Wrappers: whatever has a port's methods and passes the calls on to another one that has them, with one idea between.

`calls.py` says what a wrapper may put round a call; one module for each port writes its methods out; each other module
is one idea.
"""
