"""People in the owner's address book and their last calls, all invented."""

from __future__ import annotations

PEOPLE: tuple[tuple[str, str, str, str, bool], ...] = (
    ("Noor Haddad", "+65 5550 1820", "n.haddad@softmatter.example", "Institute of Soft Matter", True),
    ("Jonas Weil", "+65 5550 7714", "jonas@weil.example", "", False),
    ("陈伟", "+65 5550 3306", "chen.wei@softmatter.example", "Institute of Soft Matter", False),
    ("Priya Raman", "+65 5550 6482", "priya.raman@softmatter.example", "Institute of Soft Matter", False),
    ("Mamá", "+34 555 010 244", "", "", True),
    ("Dr. Okafor", "+65 5550 9057", "c.okafor@softmatter.example", "Institute of Soft Matter", False),
    ("林小雨", "+65 5550 2291", "lin.xiaoyu@softmatter.example", "Institute of Soft Matter", False),
    ("Tomas Brandt", "+49 555 019 63", "tomas.brandt@post.example", "Brandt Optik", False),
    ("Building desk", "+65 5550 0007", "desk@heronwalk.example", "", False),
    ("Quayside Dental", "+65 5550 4410", "hello@quaysidedental.example", "", False),
)
"""Name, number, mail address, company, and True for a favourite."""

CALLS: tuple[tuple[str, str, int, str, int], ...] = (
    ("Mamá", "incoming", 1, "20:31", 1260),
    ("Quayside Dental", "missed", 1, "10:04", 0),
    ("Noor Haddad", "outgoing", 2, "18:12", 95),
    ("+65 5550 8876", "missed", 3, "14:47", 0),
    ("Building desk", "outgoing", 4, "09:20", 41),
    ("陈伟", "incoming", 6, "11:02", 312),
)
"""Name (or number, if nobody has it), kind, days ago, time, seconds of talk."""
