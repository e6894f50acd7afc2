"""A stand-in for the package `android_world`, with the names and shapes of the real one, over the embedded phone.

It is put on the path of the worker's own interpreter; nothing of hitlab imports it. What is printed here goes where
AndroidWorld's own prints go.
"""
