"""Pages as one HTML text that needs nothing else: template, style, script and data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from choquet.errors import MissingDependencyError


def environment(package: str, who: str = "Reports need", rest: str = "") -> Any:
    """What renders the templates of a package; an error says who needs it, and what does not."""
    try:
        import jinja2
    except ImportError:
        raise MissingDependencyError(f"{who} jinja2: pip install 'choquet[report]'{rest}") from None
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template_text(name: str, package: str = "choquet.report") -> str:
    """A style, a script or a page as it stands among the templates."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Hash by which the page's policy lets just this text run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def encodable(text: str) -> str:
    """Text that can be written: half a surrogate pair in a name must not stop the rest."""
    return text.encode("utf-8", "replace").decode("utf-8")


def rendered(
    name: str,
    data: Mapping[str, Any],
    embedded: Any,
    *,
    styles: Sequence[str],
    script: str,
    filters: Mapping[str, Any],
    rest: str = "",
    **more: Any,
) -> str:
    """A page of the report's templates, with the data that its own script needs."""
    made = environment("choquet.report", rest=rest)
    made.filters.update(filters)
    style, code = "".join(map(template_text, styles)), template_text(script)
    text = made.get_template(name).render(
        data=data,
        style=style,
        script=code,
        style_hash=hash_of(style),
        script_hash=hash_of(code),
        embedded=_safe_json(embedded),
        **more,
    )
    return encodable(text)


def _safe_json(data: Any) -> str:
    """JSON in which nothing can end the script element that holds it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
