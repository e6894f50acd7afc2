"""A form before a task starts: agent, user and settings. Enter starts it with the last choices."""

from __future__ import annotations

from lab.core.errors import LabError
from lab.core.last_choices import RunChoices
from lab.core.settings import Settings
from lab.core.task.task import Task
from lab.runs.run_choices import choices_of, fields_of, value_of
from screens.widgets.choice_form import ChoiceForm, ChoiceList


class RunChoiceList(ChoiceList):
    """The fields of a run."""

    HELP = """\
# Starting a task

**Arrows** up and down move from field to field; **{start.next}** and **{start.before}** choose in it. Where a
choice ends with a name, type it. **{list.open}** starts the run; the next task begins with the same choices.
"""


class RunForm(ChoiceForm[RunChoices]):
    """Returns the choices for a run, or None if the person left the form. `last` holds the previous choices."""

    BINDING_GROUP_TITLE = "Start"

    def __init__(self, task: Task, last: RunChoices, settings: Settings) -> None:
        fields = fields_of(task, settings)
        values = {field.name: value_of(last, field.name, settings) for field in fields}
        super().__init__(
            f"Start {task.id}", task.instruction or task.display_name, RunChoiceList(fields, values, settings)
        )
        self._to_run = task

    def submit(self) -> None:
        """Start with these choices. Show an error and start nothing if they are invalid."""
        from lab.runs.run_choices import spec_of
        from lab.runs.session import check_spec
        from screens.lab import lab_of

        app = lab_of(self)
        try:
            choices = choices_of(self.fields.values)
            check_spec(app.store, spec_of(self._to_run, choices, app.settings))
        except LabError as error:
            self.say(error.sentence)
        else:
            self.dismiss(choices)
