"""The form that makes a study of runs: preset, name and raters. Enter freezes it as `hitlab study new` does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from annotators.plan import plan_of
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.runs.run_choices import Choice, ChoiceField
from lab.studies.planning.study_freezing import StudiesFrozen, freeze_studies, run_plans
from screens.background import Background
from screens.widgets.choice_form import ChoiceForm, ChoiceList

if TYPE_CHECKING:
    from store.store import Store


class StudyFields(ChoiceList):
    """The fields of a new study."""

    HELP = """\
# A new study

These runs become the items of a study. **{start.next}** and **{start.before}** choose a preset, or a protocol alone;
its name and the study codes of who rates (`R1,R2`) are typed. **{list.open}** freezes the study, as `hitlab study new`
does, which takes many more settings.
"""


class StudyForm(ChoiceForm[StudiesFrozen]):
    """Returns the frozen studies, or None if the person left the form."""

    BINDING_GROUP_TITLE = "New study"
    ENTER = "freeze the study"

    def __init__(self, store: Store, runs: Sequence[str], about: str, settings: Settings) -> None:
        plans = tuple(Choice(one.name, f"{one.name}: {one.title}") for one in run_plans())
        fields = [
            ChoiceField("plan", "asks", plans),
            ChoiceField("name", "name", (Choice("", "type it", typed="if empty, that of the preset"),)),
            ChoiceField("raters", "raters", (Choice("", "type study codes", typed="R1,R2,R3, never names"),)),
        ]
        super().__init__("New study", about, StudyFields(fields, {}, settings))
        self._store = store
        self._runs = tuple(runs)
        self._settings = settings
        self._freezing = Background(self, self.dismiss, self._show_error)

    def submit(self) -> None:
        """Freeze the study off the UI thread."""
        if not self._freezing.busy:
            self.say("Making the items ...")
            self._freezing.start(partial(self._freeze, self.fields.values))

    def _freeze(self, values: dict[str, str]) -> StudiesFrozen:
        terms = {"runs": self._runs, "raters": [code.strip() for code in values["raters"].split(",") if code.strip()]}
        named = {"name": values["name"]} if values["name"] else {}
        plan = plan_of(values["plan"], {**terms, **named})
        return freeze_studies(self._store, plan, Actor("human", self._settings.person), named=bool(named))

    def _show_error(self, error: LabError) -> None:
        self.say(f"{error.title}: {error.message}" if "--" in error.hint else error.sentence)  # options are no keys
