"""Where paid answers are in the file: found among many, in little memory."""

from __future__ import annotations

import hashlib

from lab.studies.judging.paid_answers import AnswerRows


def test_each_row_is_found_by_its_question_and_the_later_one_of_two() -> None:
    shas = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(50_000)]
    rows = AnswerRows()
    for n, sha in enumerate(shas):
        rows.add(sha, n)
    rows.add(shas[7], 99_999)
    assert [rows.find(sha) for sha in shas[8:]] == list(range(8, 50_000))
    assert rows.find(shas[7]) == 99_999
    assert rows.find(hashlib.sha256(b"another").hexdigest()) is None
    assert rows._hashes.nbytes + rows._rows.nbytes < 16 * len(shas)
