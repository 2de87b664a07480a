"""Which class an exception of a trial belongs to.

The names are those of Harbor (0.1.44 and 0.26), of its forks, of the model service's client library, and those that
MarinSkyRL's generator invents for trials it could not read. Harbor 0.26 gives each of its names a policy (retry,
grade, has a valid reward); the classes here follow it: an agent's limit and a full context are valid outcomes, a
verifier's fault leaves the trial ungraded, infrastructure (sandbox or model service) is worth another try.
Harness: what no retry repairs and no model caused, i.e. configuration, cancellation, names of the generator.

Matching is by class name without its module; a trailing `Error` may be missing. A name that says nothing about its
place (`RuntimeError`, `OSError`, …) can come from anywhere: its message decides whether it is the sandbox's, else it is
other.
"""

from __future__ import annotations

import re

from rl_pipeline.schema import AGENT_LIMIT, CONTEXT, HARNESS, INFRASTRUCTURE, OTHER, VERIFIER

MEMBERS: dict[str, str] = {
    AGENT_LIMIT: """
        AgentTimeoutError NonZeroAgentExitCodeError AgentSafetyRefusalError ContentPolicyViolationError
    """,
    CONTEXT: """
        ContextLengthExceededError ContextWindowExceededError OutputLengthExceededError OutputTokenExceededError
    """,
    VERIFIER: """
        VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError AddTestsDirError
        DownloadVerifierDirError
    """,
    # First the sandbox, then the model service.
    INFRASTRUCTURE: """
        EnvironmentStartTimeoutError SandboxBuildFailedError AgentSetupTimeoutError HealthcheckError
        SandboxLikelyOutOfMemoryError MemoryLimitExceededError SSHAccessError GKEExecStreamClosedError
        GKEPodNotFoundError RuntimeRequestError NetworkError ConnectionError
        ApiError ApiRateLimitError ApiInternalServerError ApiOverloadedError ApiConnectionClosedError
        ApiResponseStalledError UnknownApiError NetworkConnectionError ApiConnectionError ApiUsageLimitError
        RateLimitError InternalServerError ServiceUnavailableError APIConnectionError APIError Timeout
    """,
    # First configuration, then the job was stopped, then the generator's own names.
    HARNESS: """
        AgentAuthenticationError AuthenticationError PermissionDeniedError ModelNotFoundError NotFoundError
        ApiProviderResourceNotFoundError ServiceOperationsUnsupportedError VercelScopeError DspyImportError
        MissingExtraError RegradeError UnsupportedModelParametersError UnsupportedParamsError BadRequestError
        UnprocessableEntityError APIResponseValidationError BudgetExceededError
        CancelledError
        UnknownError MissingVerifierResult InvalidChatHistory OrchestratorNotStarted TemplateError
    """,
}
# Names that are built from another: the sandbox provider's variants, and the generator's orchestrator failures.
BEGINNINGS: tuple[tuple[str, str], ...] = (
    ("Daytona", INFRASTRUCTURE),
    ("OrchestratorFailure_", HARNESS),
    ("EvalOrchestratorFailure_", HARNESS),
    ("OrchestratorRetryFailure_", HARNESS),
)

# Left out of the baseline unless a run configures otherwise (MarinSkyRL's default mask list).
MASKED_BY_DEFAULT = frozenset(
    {
        "DaytonaError",
        "EnvironmentStartTimeoutError",
        "NetworkError",
        "ConnectionError",
        "RewardFileNotFoundError",
        "RewardFileEmptyError",
    }
)

# Python's own exceptions, which any layer raises, and the words by which a message places them in the sandbox.
PLACELESS = frozenset({"RuntimeError", "OSError", "TimeoutError", "Exception"})
SANDBOX_WORDS = re.compile(r"\b(?:sandbox|tmux session|container|docker|daytona|modal|pod)\b", re.IGNORECASE)
MESSAGE_LOOKED_AT = 500

SUFFIX = "Error"
CLASS_OF: dict[str, str] = {
    name.removesuffix(SUFFIX): kind for kind, names in MEMBERS.items() for name in names.split()
}


def bare_name(exception_type: str) -> str:
    """The class name without its module."""
    return exception_type.strip().rpartition(".")[2]


def exception_class(exception_type: str, message: str = "") -> str:
    """One of `schema.EXCEPTION_CLASSES`.

    >>> exception_class("AgentTimeoutError"), exception_class("daytona.DaytonaNotFoundError")
    ('agent_limit', 'infrastructure')
    >>> exception_class("RuntimeError"), exception_class("RuntimeError", "Failed to start tmux session")
    ('other', 'infrastructure')
    """
    name = bare_name(exception_type)
    if name in PLACELESS:
        return INFRASTRUCTURE if SANDBOX_WORDS.search(message[:MESSAGE_LOOKED_AT]) else OTHER
    known = CLASS_OF.get(name.removesuffix(SUFFIX))
    if known is not None:
        return known
    return next((kind for beginning, kind in BEGINNINGS if name.startswith(beginning)), OTHER)


def is_masked_by_default(exception_type: str) -> bool:
    """Whether the trainer's default leaves such a trial out of the baseline; exact names, no sub-classes."""
    return bare_name(exception_type) in MASKED_BY_DEFAULT
