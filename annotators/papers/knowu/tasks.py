"""Tags of KnowU-Bench's task definitions: split, difficulty, and the habits that warrant a routine.

Runs do not hold the tags of their tasks, and its scripts read them from the definitions (`task_tags`). So they are
listed here by class name: 42 general, 26 personalized, 16 proactive. MobileWorld's tasks have no such split.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Split = Literal["general", "personalized", "proactive", ""]

HABITS: Mapping[str, tuple[str, ...]] = {
    "BatterySaverRoutineTask": ("low_battery_saver",),
    "BirthdayWishTask": ("birthday_wish_routine",),
    "BluetoothMediaCleanupTask": ("bluetooth_cleanup",),
    "ClockOutRoutineTask": ("clock_out_routine",),
    "ContactSaverTask": ("contact_saver",),
    "DailyFamilyCallTask": ("daily_family_call",),
    "DeepWorkRoutineTask": ("deep_work_block",),
    "GalleryCleanupTask": ("gallery_cleanup",),
    "MattermostOnCallTask": ("on_call_response",),
    "MorningPaperReadingTask": ("morning_routine",),
    "MorningWeatherCheckTask": ("morning_weather",),
    "NightEyeCareRoutineTask": ("night_eye_care",),
    "PreMeetingPrepTask": ("pre_meeting_prep",),
    "ScamSmsInterceptRoutineTask": ("scam_sms_intercept", "fraud_sms_block", "sms_scam_guard", "anti_scam_sms"),
    "WeeklyReportRoutineTask": ("weekly_report",),
    "WeekendSleeperTask": ("weekend_sleeper", "weekend_alarm"),
}
"""The proactive tasks, with the keys of a profile's habits for each one's routine."""

_PERSONALIZED_EASY = frozenset({
    "BuyColaPreferenceTask", "CalendarScheduleGroupMeetingTask", "CommuteRoutingBadWeatherTask",
    "CommuteRoutingSunnyTask", "DeleteItemOverBudgetPreferenceAskUserTask", "DeleteItemsPreferenceAskUserTask",
    "HighlightImportantSmsSenderPreferenceAskUserTask", "LateNightCommuteTask", "MastodonPrivacyDefaultTestTask",
    "MessagesAskMomForMoneyTask", "NoteTheCourierForDeliveryPreferenceAskUserTask", "OrderLunchTradeoffTask",
    "SetAlarmPreferenceAskUser2Task",
})  # fmt: skip
_PERSONALIZED_HARD = frozenset({
    "BuyComputerPreferenceAskUserTask", "CalendarInviteConflictResolutionTask", "CartManagementPreferenceAskUserTask",
    "LateUrgentRouteWithNoticeTask", "MastodonInterestBoostTask", "MastodonSharePhotosPreferenceAskUserTask",
    "MattermostLeaveNoticeTask", "OrderLunchPreferenceTask", "SearchTopInfoPreferenceAskUserTask",
    "SearchWhiteSneakersCheckoutPreferenceAskUserTask", "ShareFavoritePhotosPreferenceAskUserTask",
    "SortFilesByHabitPreferenceAskUserTask", "TakeoutReamarkPreferenceAskUserTask",
})  # fmt: skip
_PROACTIVE_EASY = frozenset({
    "BatterySaverRoutineTask", "ClockOutRoutineTask", "DailyFamilyCallTask", "DeepWorkRoutineTask",
    "MorningPaperReadingTask", "NightEyeCareRoutineTask", "PreMeetingPrepTask", "WeekendSleeperTask",
})  # fmt: skip
_GENERAL = "GeneralTask"
_GENERAL_EASY = frozenset({
    "BatterySaver", "BirthdayWish", "BluetoothCleanup", "ClockOut", "ContactSaver", "DailyFamilyCall", "DeepWork",
    "MastodonPrivacyDefault", "MattermostLeaveNotice", "MattermostResponse", "MessagesAskMomMoney",
    "MorningPaperReading", "NightSocial", "PreMeetingPrep", "ScamSmsIntercept", "SetAlarm", "SortFiles",
    "WeekendSleeper",
})  # fmt: skip
"""Without the suffix of all general tasks' names."""


def split_of(name: str) -> Split:
    """Return the split of a task's class by its tags, else by parts of its name as in the scripts."""
    if name.endswith(_GENERAL):
        return "general"
    if name in _PERSONALIZED_EASY or name in _PERSONALIZED_HARD:
        return "personalized"
    if name in HABITS:
        return "proactive"
    lowered = name.lower()
    return "personalized" if "preference" in lowered else "proactive" if "routine" in lowered else ""


def difficulty_of(name: str) -> str:
    """Return `easy` or `hard` by the tags of a task's class, empty if it is not one of KnowU-Bench's."""
    if name in _PERSONALIZED_EASY or name in _PROACTIVE_EASY or name.removesuffix(_GENERAL) in _GENERAL_EASY:
        return "easy"
    is_hard = name in _PERSONALIZED_HARD or name in HABITS or name.endswith(_GENERAL)
    return "hard" if is_hard else ""
