"""The Canonical DSL (dsl_version 0.3) that an operator's docs/design.md carries as a YAML fence.

How it is laid out
    ``document``   finds the fences, reads them into ``nodes`` with places; ``recover`` reads what is sound of a
                   half-written one; ``markdown`` has the headings and tables around them.  No pydantic here.
    ``dsl``        the model, one module a section (``meta``, ``interface``, ``topology``, ``schedule``,
                   ``correctness``, ``performance``); ``fields`` says how a field is written down.
    ``model``      ``validate``: places for the models' verdicts, and the checks of ``cross_*``.
    ``walk``       the models by path; ``complete``, ``schema`` and hover are made from it.
    ``derived``    scale, bytes, bus factor, tolerance: pure functions.  ``changes`` edits the YAML.
    ``frame``      what stands around the DSL, as data: sections, tables, rows, handoff boxes; ``frame_find``
                   finds them in a document, ``frame_tables`` and ``frame_claims`` judge, ``frame_text`` writes.

pydantic costs a fifth of a second, so nothing here imports it before a design document is validated: a
check imports ``opdev.design.model`` inside its function, never at the top of its module.

How a rule becomes a check
    The engine hands a check of ``kinds: [design-doc]``, ``language: markdown``, ``scope: file`` the whole
    Markdown.  All problems are found once a file, so a rule is a choice among them::

        def op_root(context: Context) -> Iterator[Hit]:
            from opdev.design.changes import replace
            from opdev.design.document import document_of
            from opdev.design.model import problems_of

            for problem in problems_of(context.file):
                if problem.code == "op-root-mismatch":
                    change = replace(document_of(context.file).get(problem.path), str(problem.args["expected"]))
                    yield Hit(problem.start, problem.end, args=problem.args, fix=..., related=...)

    ``problem.code`` is one of ``problems.CODES``; ``problem.under("interface.inputs[]")`` narrows it to a path;
    ``problem.args`` fills the messages (``key``, ``value``, ``expected``, ``allowed``, ``nearest``, …: CODES says
    which); ``problem.related`` is another place in the file.  Places are bytes of the Markdown, so a hit needs
    no mapping, and ``needs: [dsl_version, meta]`` is a cheap gate.

    =========================================================  ==================================================
    SH100, SH101                                               no-dsl, not-a-mapping, several-dsl, yaml; dsl_version
    SH102, SH115, SH118, SH122, SH123, SH127, SH129,           missing-key and empty-value under the row's path
    SH132, SH133, SH139, SH144, SH147, SH148, SH158,
    SH161, SH167, SH168, SH170, SH173, SH175
    SH102 (order), SH143                                       key-order
    SH103                                                      placeholder
    SH104                                                      wrong-pattern under meta.op_name
    SH105, SH106                                               missing-key, empty-value under source.user_confirmations
    SH107, SH109, SH111, SH120, SH124, SH125, SH135,           wrong-enum under the row's path
    SH136, SH138, SH145, SH171, SH173, SH184
    SH114, SH168, SH170, SH182                                 wrong-type, wrong-number, out-of-range
    SH160                                                      unknown-key under schedule.phases[]
    SH108 kind-contradicts · SH110 op-root-mismatch · SH112 scope-deployment-mismatch · SH113 soc-not-assumed
    SH116 auto-optim-without-performance · SH117 intake-mismatch (``cross_run.compare_intake`` for a record
    elsewhere) · SH118, SH183 relative-path, not-set-env · SH119 docker-* · SH121 references-missing
    SH126 dtype-not-confirmed · SH128 relations-missing · SH130 schedule-in-semantics · SH131 not-chinese
    SH134 inter-node-missing · SH137 group-ungrounded · SH140 no-symmetric-buffer · SH141 signal-without-buffer
    SH142 size-without-unit · SH146 partition-avoided · SH149 role-vague · SH150 aiv-overlap, aiv-hole
    SH151 dataplane-not-shmem · SH152 ``cross_data.api_names`` (the API table is the check's) · SH153
    rationale-unsourced · SH154 cores-not-divisible · SH155 too-many-cores · SH156 single-core · SH157 sdma-lanes
    SH159 single-core-tail · SH162 size-split · SH163 engine-unstated, engine-unknown · SH164 rdma-placement · SH165 host-rma
    SH169 tolerance-* · SH172 category-missing · SH174 no-medium-case · SH176 metric-missing · SH177 baseline-none
    SH178 search-thin · SH179 hccl-overlooked · SH180 target-low, target-without-number · SH181 min-scale-low
    No row of their own: duplicate-key · unquoted-version (SH101's hint) · build-mode-mismatch · accumulation-unnamed
    · fused-mode · signal-without-epoch · target-cases-missing (with SH175)
    SH185–SH1A2                                                not the DSL: ``frame.frame_problems``, codes in ``frame_tables``
    =========================================================  ==================================================
"""
