"""FingerTip-20K's folders, read and written."""
