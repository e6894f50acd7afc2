"""Reader and writer for FingerTip-20K's folders."""
