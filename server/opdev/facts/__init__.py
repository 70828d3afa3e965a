"""What the files of an operator say, each by itself: the index that cross-file rules, gates and navigation share.

A fact function takes one parsed ``File`` and answers with small frozen records that carry byte ranges in
that file (``start``, ``end``); the answer is kept on the file (``File.memo``), so an operator's index is as
current as its files and an edit costs the one file it is in.  Nothing here judges: rules do, and gates do.

``code`` side: kernels, launches, build targets, scripts, bindings.  ``results`` side: case lists, reports, logs,
the intake record.
"""
