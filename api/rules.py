"""Rule sets over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.rows import whole_list
from api.schemas.fields import page_of
from api.schemas.rules import RulesAnswer
from engine.rules import PRESETS, RuleSet
from engine.switches import SWITCHES
from service.errors import NotFound

OFFERED = list(SWITCHES)

blp = Blueprint("rules", "The ways to play Rage")


@blp.get("/rules", page_of(RulesAnswer), cached=True)
def list_rules() -> dict[str, Any]:
    """Every preset"""
    return whole_list([_shown(rules) for rules in PRESETS.values()])


@blp.get("/rules/<id:preset>", RulesAnswer, cached=True)
def show_rules(preset: str) -> dict[str, Any]:
    """One preset"""
    if preset not in PRESETS:
        raise NotFound(f"no preset {preset}; there are {', '.join(PRESETS)}")
    return _shown(PRESETS[preset])


def _shown(rules: RuleSet) -> dict[str, Any]:
    return {**rules.as_dict(), "key": rules.key(), "switches": OFFERED}
