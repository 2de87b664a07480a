"""A notice: something about a subject is not as it should be, or is again.

A notice is a state and not an event: the same subject in the same state is told once, however often
it is seen. What it says may come from logs, so the text is redacted and cut when it is made, and no
channel sees anything else.
"""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.redaction import redact

TEXT_LIMIT = 1500  # characters; a webhook refuses more than a few thousand, a reader much fewer
TITLE_LIMIT = 160
RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One state of one subject.

    `subject` names what it is about and stays the same over time (`job demo_567548: run`); `state` is
    compared with the one told before; `severity` is high, medium or low.
    """

    subject: str
    state: str
    title: str
    text: str = ""
    severity: str = "high"
    kind: str = "run_failed"
    experiment: str | None = None
    job: str | None = None
    link: str | None = None

    @classmethod
    def of(cls, *, title: str, text: str = "", **fields: str | None) -> Notice:
        """A notice whose words were redacted and cut; the way to make one."""
        return cls(title=safe(title, TITLE_LIMIT), text=safe(text, TEXT_LIMIT), **fields)  # type: ignore[arg-type]

    def resolved(self) -> Notice:
        """The notice that the subject is well again."""
        return Notice(
            subject=self.subject,
            state=RESOLVED,
            title=f"over: {self.title}"[:TITLE_LIMIT],
            severity="low",
            kind=self.kind,
            experiment=self.experiment,
            job=self.job,
            link=self.link,
        )


def safe(text: str, limit: int) -> str:
    """Text without credentials, control characters or undue length."""
    clean = redact(text).text
    clean = "".join(char if char.isprintable() or char == "\n" else " " for char in clean)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
