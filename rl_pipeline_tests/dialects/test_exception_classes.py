"""Classes of trial exceptions."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects.exception_classes import MASKED_BY_DEFAULT, MEMBERS, exception_class, is_masked_by_default
from rl_pipeline.schema import EXCEPTION_CLASSES


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AgentTimeoutError", "agent_limit"),
        ("NonZeroAgentExitCodeError", "agent_limit"),
        ("ContextLengthExceededError", "context"),
        ("OutputLengthExceededError", "context"),
        ("RewardFileNotFoundError", "verifier"),
        ("VerifierOutputParseError", "verifier"),
        ("AddTestsDirError", "verifier"),
        ("EnvironmentStartTimeoutError", "infrastructure"),
        ("DaytonaError", "infrastructure"),
        ("DaytonaSomethingNewError", "infrastructure"),
        ("litellm.exceptions.RateLimitError", "infrastructure"),
        ("Timeout", "infrastructure"),
        ("AuthenticationError", "harness"),
        ("CancelledError", "harness"),
        ("InvalidChatHistory", "harness"),
        ("OrchestratorFailure_OSError", "harness"),
        ("AgentTimeout", "agent_limit"),
        ("RuntimeError", "other"),
        ("KeyError", "other"),
        ("", "other"),
    ],
)
def test_a_name_has_its_class(name, expected):
    assert exception_class(name) == expected


def test_every_class_is_one_of_the_schema_and_no_name_has_two():
    names = [name for names in MEMBERS.values() for name in names.split()]

    assert set(MEMBERS) <= set(EXCEPTION_CLASSES)
    assert len(set(names)) == len(names)


def test_the_default_mask_names_exact_types():
    assert is_masked_by_default("harbor.errors.DaytonaError")
    assert not is_masked_by_default("DaytonaNotFoundError")
    assert not is_masked_by_default("AgentTimeoutError")
    assert len(MASKED_BY_DEFAULT) == 6
