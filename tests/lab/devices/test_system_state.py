"""What Android's services say of the screen, from this version and that, is read."""

from __future__ import annotations

import pytest

from lab.devices.adb.system_state import SystemState, read

MARK = "hitlab:next"
NEW = """2026-11-22T04:50:01+0100
hitlab:next
  Display: mDisplayId=0 (organized)
    init=1080x2400 420dpi cur=2400x1080 app=2274x1080 rng=1080x1017-2337x2274
    mCurrentRotation=ROTATION_90
  mCurrentFocus=Window{c2f8e5 u0 com.android.settings/com.android.settings.SubSettings}
  mFocusedApp=ActivityRecord{8d u0 com.android.settings/.SubSettings t12}
hitlab:next
    mShowRequested=true mInputShown=true
    StartInput #1: editorInfo: inputType=0x81 imeOptions=0x6
  mInputEditorInfo: inputType=0x2c001 imeOptions=0x40000006
hitlab:next
Physical size: 1080x2400
"""
OLD = """hitlab:next
    init=1080x1920 480dpi cur=1080x1920 app=1080x1776
    mRotation=0 mDeferredRotationPauseCount=0
  mCurrentFocus=Window{3a u0 PopupWindow:17c}
  mFocusedApp=AppWindowToken{55 token=Token{66 ActivityRecord{77 u0 com.foo.app/com.bar.Main t5}}}
hitlab:next
    mInputShown=false
hitlab:next
"""


def test_a_new_android_is_read() -> None:
    seen = read(NEW)
    assert seen == SystemState(
        "com.android.settings/.SubSettings", "2026-11-22T04:50:01+01:00", (2400, 1080), 1, True, False, True
    )


def test_an_old_android_is_read() -> None:
    assert read(OLD) == SystemState("com.foo.app/com.bar.Main", "", (1080, 1920), 0, False, False, None)


@pytest.mark.parametrize(
    ("rotation", "size"), [("0", (1080, 2340)), ("1", (2340, 1080)), ("ROTATION_270", (2340, 1080))]
)
def test_the_size_is_turned_where_only_the_unturned_one_is_told(rotation: str, size: tuple[int, int]) -> None:
    text = f"{MARK}\nmRotation={rotation}\n{MARK}\n{MARK}\nPhysical size: 1440x3120\nOverride size: 1080x2340\n"
    assert read(text).size == size


@pytest.mark.parametrize("kind", ["0x81", "0x91", "0xe1", "0x12", "0x80081"])
def test_kinds_of_fields_that_hide_what_is_typed_are_known(kind: str) -> None:
    assert read(f"{MARK}{MARK}inputType={kind}{MARK}").password


@pytest.mark.parametrize("text", ["", "nonsense", MARK * 9, "mCurrentFocus=null"])
def test_what_says_nothing_is_no_trouble(text: str) -> None:
    assert read(text) == SystemState()
