"""Whole operators from templates/: written by ``opdev new``, kept up to date by ``opdev update``.

``options``   what the user asked for, validated; names, dtypes and folders.
``kinds``     what a kind of operator is: templates/operator/kinds/<kind>/kind.yaml.
``cases``     the case matrix of a kind for some dtypes.
``render``    templates and options to files in memory.  jinja2 is imported here, when it is first needed.
``write``     files in memory to a new folder; never over something that is there.
``record``    what was rendered: .opdev/template.json and the rendered base beside it.
``merge``     three-way merge of lines.
``update``    a newer template (or other options) merged into an operator that was edited since.
"""
