"""Find where a `str` may reach an API of Textual or Rich that reads markup in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

CONTENT = {"Content", "Text", "Group", "Padding", "Column", "Table", "Strip", "RenderedTable"}
"""What is shown as it is; what goes into the containers among them is checked where they are made."""
NOT_CONTENT = {"str", "RenderableType", "VisualType", "ContentType", "ContentText", "TextType", "Any", "object"}
WIDGETS = {"Static", "Input", "TextArea", "Select", "OptionList", "HelpPanel"}
"""Textual's widgets that are known here. Another one may read markup, too: add its rules with its name."""
MARKUP_OFF = {"Static", "OptionList"}
"""Widgets that read markup unless `markup=False` is given."""
TITLES = {"border_title", "border_subtitle", "tooltip", "placeholder"}
SHOWN = {"Group", "Padding", "Panel", "Columns", "Table", "Column", "Option", "Hit", "DiscoveryHit"}
SHOWN_BY_METHOD = {"grid", "add_row", "add_column", "add_option", "print", "with_tooltip"}
SHOWN_BY_NAME = {"title", "subtitle", "caption", "header", "footer", "prompt", "help", "match_display", "display"}
_UNKNOWN = ast.Name("")
"""The value of a name that takes a part of something."""
PARSERS = {"from_markup", "from_text", "from_ansi"}
MODULES = {"textual.markup", "rich.markup", "rich.markdown", "rich.prompt", "rich.pretty", "rich"}


def markup_doors(source: str) -> list[str]:
    """Return the line number and what is wrong there, for each such place in a module."""
    tree = ast.parse(source)
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    library = {
        alias.asname or alias.name: alias.name
        for node in imported
        if (node.module or "").partition(".")[0] in ("textual", "rich")
        for alias in node.names
    }
    return _Doors(tree, library).found if library else []


class _Doors:
    def __init__(self, tree: ast.Module, library: dict[str, str]) -> None:
        self.library = library
        """Names of the module that are Textual's or Rich's, and what they are called there."""
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.values: dict[str, list[ast.expr]] = {}
        """What is assigned to each name of the function at hand."""
        self.types: dict[str, ast.expr] = {
            ast.unparse(node.target): node.annotation
            for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute)
        }
        """Annotations of its names, and of `self.name` in the module."""
        self.found: list[str] = []
        self._visit(tree, bases=set())

    def _visit(self, node: ast.AST, bases: set[str]) -> None:
        for child in ast.iter_child_nodes(node):
            outer = self.values, self.types
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self.values, self.types = {**self.values}, {**self.types}
                self._learn(child)
            self.found += [f"{getattr(child, 'lineno', 0)}: {wrong}" for wrong in self._wrong(child, bases)]
            self._visit(child, {self._name(base) for base in child.bases} if isinstance(child, ast.ClassDef) else bases)
            self.values, self.types = outer

    def _learn(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Note what the names of a function are told to be, or are given."""
        for argument in (*function.args.args, *function.args.kwonlyargs):
            self.values.pop(argument.arg, None)
            self.types.pop(argument.arg, None)
            if argument.annotation is not None:
                self.types[argument.arg] = argument.annotation
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self.types[node.target.id] = node.annotation
                self.values.setdefault(node.target.id, []).extend([node.value] if node.value else [])
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self.values.setdefault(name.id, []).append(node.value if name is target else _UNKNOWN)

    def _name(self, func: ast.expr) -> str:
        """Return the library's name of what is called; else the last part of the name."""
        match func:
            case ast.Name(id=name):
                return self.library.get(name, "")
            case ast.Attribute(attr=name):
                return name
            case ast.Subscript(value=value):
                return self._name(value)
        return ""

    def _wrong(self, node: ast.AST, bases: set[str]) -> Iterator[str]:
        match node:
            case ast.ImportFrom(module="textual.widgets"):
                yield from (f"imports {alias.name}" for alias in node.names if alias.name not in WIDGETS)
            case ast.ImportFrom(module=str(module)) if module in MODULES:
                yield f"imports from {module}"
            case ast.Import():
                yield from (f"imports {alias.name}" for alias in node.names if alias.name in MODULES)
            case ast.Attribute(attr=name) if name in PARSERS:
                yield f"{name} reads markup"
            case ast.FunctionDef(name="render", args=arguments) if len(arguments.args) == 1:
                if not _is_content(node.returns):
                    yield "render may return a str"
            case ast.Assign(targets=[ast.Attribute(attr=name)]) if name in TITLES and not self.is_safe(node.value):
                if name != "placeholder" or "TextArea" in self.library.values():  # an Input shows its own as it is
                    yield f"{name} reads markup in a str"
            case ast.Call():
                yield from self._wrong_call(node, bases)

    def _wrong_call(self, call: ast.Call, bases: set[str]) -> Iterator[str]:
        name, given = self._name(call.func), {word.arg: word.value for word in call.keywords if word.arg}
        is_method = isinstance(call.func, ast.Attribute)
        if name == "__init__":
            name = next(iter(bases & (WIDGETS | SHOWN)), "")
        is_off = isinstance(off := given.get("markup"), ast.Constant) and off.value is False
        if (name in MARKUP_OFF or (is_method and name == "notify")) and not is_off:
            yield f"{name} without markup=False"
        is_constant = all(self.is_safe(one) and "{" not in ast.unparse(one) for one in call.args)
        if name == "TextColumn" and not is_off and not is_constant:
            yield "TextColumn without markup=False"
        if name == "TextArea" and not self.is_safe(given.get("placeholder")):
            yield "placeholder of a TextArea reads markup in a str"
        if name == "Select" and not (self._are_rows(call.args[0]) and self.is_safe(given.get("prompt"))):
            yield "Select reads markup in the str of a row"
        if name in SHOWN or (is_method and name in SHOWN_BY_METHOD):
            arguments = {"Hit": call.args[1:2], "DiscoveryHit": call.args[:1]}.get(name, call.args)
            named = [value for word, value in given.items() if word in SHOWN_BY_NAME]
            if not all(self.is_safe(one) for one in (*arguments, *named)):
                yield f"{name} reads markup in a str"

    def _are_rows(self, rows: ast.expr) -> bool:
        match rows:
            case ast.ListComp(elt=ast.Tuple(elts=[first, *_])):
                return self.is_safe(first)
            case ast.Name(id=name):
                return bool(self.values.get(name)) and all(self._are_rows(value) for value in self.values[name])
        return False

    def is_safe(self, value: ast.expr | None, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a value is content, or words of ours without brackets."""
        match value:
            case None:
                return True
            case ast.Constant(value=constant):
                return not isinstance(constant, str) or "[" not in constant
            case ast.IfExp():
                return self.is_safe(value.body, seen) and self.is_safe(value.orelse, seen)
            case ast.BoolOp(op=ast.Or()) | ast.Tuple():
                parts = value.values if isinstance(value, ast.BoolOp) else value.elts
                return all(self.is_safe(one, seen) for one in parts)
            case ast.Call(func=ast.Name(id="translated"), args=[_, _], keywords=[]):
                return True  # words of ours; what is put into them comes by keywords
        return self._is_content_value(value, seen)

    def _is_content_value(self, value: ast.expr, seen: frozenset[str]) -> bool:
        match value:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)) if (
                name in self.functions
            ):
                return self._gives_content(self.functions[name], seen)
            case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name(id="Table")) as made):
                return (self._name(made) if isinstance(made, ast.Name) else "Table") in CONTENT
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=made)) if name in self.library:
                return self.library[name] in CONTENT and made not in PARSERS
            case ast.Call(func=ast.Attribute(value=part)) | ast.Starred(value=part):
                return self._is_content_value(part, seen)
            case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
                name = ast.unparse(value)
                if name in seen or _is_content(self.types.get(name)):
                    return True
                values = self.values.get(name, [])
                return bool(values) and all(self.is_safe(one, seen | {name}) for one in values)
        return False

    def _gives_content(self, function: ast.FunctionDef, seen: frozenset[str]) -> bool:
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        made = function.name not in seen and all(self.is_safe(one, seen | {function.name}) for one in returned)
        return _is_content(function.returns) or (made and bool(returned))


def _is_content(annotation: ast.expr | None) -> bool:
    """Return whether a type says that a value is content, or a collection of it."""
    names = (
        {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)} if annotation is not None else set()
    )
    return bool(names & CONTENT) and not names & NOT_CONTENT
