"""What the files of an operator say, each by itself: the index that cross-file rules, gates and navigation share.

A fact function takes one parsed ``File`` and answers with small frozen records that carry byte ranges in
that file (``start``, ``end``); the answer is kept on the file (``File.memo``), so an operator's index is as
current as its files and an edit costs the one file it is in.  Nothing here judges: rules do, and gates do.

``code`` side: kernels, launches, build targets, scripts, bindings.  ``results`` side: case lists, reports, logs,
the intake record.

Of the code side: ``kernels`` (entries, launches and their number of blocks), ``calls`` (SHMEM calls, signals), ``heap_calls``
and ``local_values``, ``dispatch`` (choices by dtype), ``build`` (CMake targets and outputs), ``scripts`` (binaries,
tolerances, dtypes), ``bindings`` (Torch), ``names`` (every place the operator's name stands).
"""
