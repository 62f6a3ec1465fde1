"""Where the lines, ticks and bars of a picture go. Pure numbers; templates draw them as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor, log10

WIDTH, HEIGHT = 960, 290
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 30
TICKS = 5
STYLES = 11  # ways to draw a line; the style sheet has so many


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points (x, y); `low` and `high` bound it, if it has bounds."""

    name: str
    points: Sequence[tuple[float, float]]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line on the picture: `path` and `band` are SVG; `dots` are (x, y, what it says)."""

    name: str
    style: int
    path: str
    band: str
    dots: list[tuple[float, float, str]]


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture. Ticks are (place, text)."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x: str
    y: str
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    lines: list[Drawn]
    zero: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value goes; in the middle if all are alike."""
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def plot(
    lines: Sequence[Line],
    *,
    x: str,
    y: str,
    across: Sequence[tuple[float, str]] | None = None,
    down: bool = False,
) -> Plot:
    """A picture of lines; `across` has ticks of one's own, `down` puts the small values on top (places)."""
    xs = [point[0] for line in lines for point in line.points] or [0.0, 1.0]
    ys = [value for line in lines for value in (*(p[1] for p in line.points), *line.low, *line.high)]
    low, high, step = nice(min(ys, default=0), max(ys, default=1), whole=down)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    sideways = Scale(min(xs), max(xs), LEFT, right)
    upright = Scale(low, high, TOP, bottom) if down else Scale(low, high, bottom, TOP)
    ticks = across if across is not None else _whole_ticks(min(xs), max(xs))
    levels = [low + step * index for index in range(round((high - low) / step) + 1)]
    return Plot(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        x=x,
        y=y,
        across=[(sideways(at), text) for at, text in ticks],
        up=[(upright(level), _text(level)) for level in levels],
        lines=[_drawn(number, line, sideways, upright) for number, line in enumerate(lines)],
        zero=upright(0) if low < 0 < high else None,
    )


def nice(low: float, high: float, *, whole: bool = False) -> tuple[float, float, float]:
    """Round bounds around values, and a round step between them."""
    if high - low < 1e-9:
        low, high = low - 1, high + 1
    rough = (high - low) / TICKS
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    if whole:
        step = max(1.0, round(step))
        return low, low + step * ceil((high - low) / step), step
    return step * floor(low / step), step * ceil(high / step), step


def _drawn(number: int, line: Line, sideways: Scale, upright: Scale) -> Drawn:
    places = [(sideways(x), upright(y)) for x, y in line.points]
    path = "M" + "L".join(f"{x} {y}" for x, y in places) if places else ""
    band = ""
    if line.low:
        above = [(sideways(x), upright(high)) for (x, _), high in zip(line.points, line.high, strict=True)]
        below = [(sideways(x), upright(low)) for (x, _), low in zip(line.points, line.low, strict=True)]
        band = "M" + "L".join(f"{x} {y}" for x, y in (*above, *reversed(below))) + "Z"
    dots = [(x, y, _text(value)) for (x, y), (_, value) in zip(places, line.points, strict=True)]
    return Drawn(line.name, number % STYLES, path, band, dots)


def _whole_ticks(low: float, high: float) -> list[tuple[float, str]]:
    step = max(1, ceil((high - low) / 15))
    return [(float(at), str(at)) for at in range(ceil(low), floor(high) + 1, step)]


def _text(value: float) -> str:
    return (
        f"{value:.10g}".replace("-", "\u2212") if abs(value) < 100 else f"{value:.0f}".replace("-", "\u2212")
    )


def days(lines: Sequence[Line]) -> list[tuple[float, str]]:
    """Ticks for points whose x are seconds since 1970: the first, the last and some between, in UTC."""
    xs = [x for line in lines for x, _ in line.points]
    low, high = min(xs), max(xs)
    shape = "%d %b %Y" if high - low > 3 * 86_400 else "%d %b %H:%M" if high - low > 600 else "%H:%M:%S"
    count = TICKS if high > low else 1
    steps = [low + (high - low) * (2 * index + 1) / (2 * count) for index in range(count)]
    return [(at, datetime.fromtimestamp(at, UTC).strftime(shape)) for at in steps]
