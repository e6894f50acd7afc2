"""What was last written on the phone of somebody who keeps in touch: all of them invented.

A thread is a name, how many messages are unread, and lines of (mine, days ago, time, text).
"""

from __future__ import annotations

THREADS: tuple[tuple[str, int, tuple[tuple[bool, int, str, str], ...]], ...] = (
    ("Noor Haddad", 1, (
        (False, 3, "17:05", "How did the polymer films come out?"),
        (True, 3, "17:11", "Two cracked, one is perfect. I will take the perfect one as a sign."),
        (False, 3, "17:12", "Science!"),
        (True, 2, "15:40", "Are you in the lab on Thursday? I could use a second pair of eyes on the X-ray data."),
        (False, 2, "15:58", "Yes, from ten. Bring the notebook with the annealing times please."),
        (True, 2, "16:02", "Will do."),
        (False, 1, "21:14", "Lunch this week? The new place by the canal has a garden."),
    )),
    ("陈伟", 2, (
        (True, 2, "11:30", "陈老师，样品已经放在四楼的冰箱里了。"),
        (False, 2, "11:42", "收到，谢谢！标签写清楚了吗？"),
        (True, 2, "11:43", "写了，蓝色盖子的那三个。"),
        (False, 1, "18:20", "周五下午三点的组会改到二楼会议室。"),
        (False, 1, "18:21", "麻烦你带上上次的数据。"),
    )),
    ("Jonas Weil", 0, (
        (False, 2, "19:02", "Climbing on Saturday? I booked two slots at nine, just in case."),
        (True, 2, "19:20", "Yes! I need to get away from my desk."),
        (False, 2, "19:21", "Great. I will bring the rope, you bring the snacks."),
    )),
    ("Mamá", 0, (
        (False, 4, "20:10", "Did the parcel arrive, cariño?"),
        (True, 4, "20:45", "It did. The olives did not survive customs, but the scarf is lovely."),
        (False, 4, "20:47", "I knew I should have sent two jars."),
    )),
    ("Quayside Dental", 0, (
        (False, 5, "09:00", "Your check-up is on 24 March at 16:30. Reply to this message to change it."),
    )),
    ("Building desk", 0, (
        (False, 6, "10:15", "The lifts in Block 14 are serviced on Sunday between 10:00 and 12:00."),
    )),
)  # fmt: skip
