"""Elements of a page, as a tree."""

from xml.etree import ElementTree

Element = ElementTree.Element


def element(tag: str, *children: Element | str | None, **attributes: str | int | float | None) -> Element:
    """An element. Attributes' names may end with an underscore (``class_``), and have one for a hyphen
    (``aria_label``); an attribute or child that is None is left out."""
    new = Element(
        tag,
        {
            name.rstrip("_").replace("_", "-"): f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in attributes.items()
            if value is not None
        },
    )
    for child in children:
        append(new, child)
    return new


def append(parent: Element, child: Element | str | None) -> None:
    """Append a child."""
    if child is None:
        return
    if not isinstance(child, str):
        parent.append(child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + child
    else:
        parent.text = (parent.text or "") + child


def written(root: Element) -> str:
    """The tree as HTML."""
    return "<!doctype html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
