"""Small bugs, put into the source one at a time, and whether the tests notice them.

``make mutants`` runs it. It goes from file to file: ``mutants`` finds what could be changed,
``drawing`` draws some of it, ``recording`` runs the tests once to learn which of them enter what,
``byte_code`` compiles, ``sessions`` runs tests in forks of a collected session, ``settling`` comes
to a verdict, ``results`` keeps and counts verdicts, ``report`` prints them. ``inside`` is loaded by
the processes of the tests. No file of the tree under test is ever changed.
"""
