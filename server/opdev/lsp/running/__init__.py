"""Runs in the editor: started, watched and stopped here, done by a process of their own.

A run is ``opdev run …`` as CI calls it.  It writes its events to disk and goes on whatever becomes of the server;
here its files are followed, whoever started it, so a server that comes later knows as much as one that was there.

``desk``       the loop's side: commands, requests, progress, what is published.
``watch``      the thread that finds runs and reads their events.
``findings``   events to findings; ``placing`` findings to lines of files; ``board`` keeps them there while text moves.
``children``   the processes that are started; ``asked`` what clients may ask of them.
``lenses``     what is offered above and in the files of an operator.
``messages``   the shapes of the messages; ``protocol.schema.json`` is made of them.

Nothing here is imported before an editor has its first diagnostics.
"""
