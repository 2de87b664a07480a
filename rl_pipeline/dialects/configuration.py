"""Settings that a log shows: lines of a configuration dump, command-line overrides, an engine's arguments.

SkyRL prints its configuration at the start, as YAML or as a Python dict over many lines; launch scripts echo
`trainer.train_batch_size=512 …`; vLLM lists its engine's arguments. Only settings that tell the run's geometry and
limits are kept. A line of a dump shows its own key, not the sections above it, so `name` is the key as printed,
dotted only where the path stands in the line; the last part is what to compare. `value` is the number (truth values
1 and 0), `detail` the value as printed. Each setting is kept once per value, and only before the first training
step: later lines that look alike are a model's work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rl_pipeline.dialects.contract import JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobEvent, JobRow

NAME = "configuration"
HEADED = False

WORDS = """
    num_nodes policy_num_nodes ref_num_nodes critic_num_nodes
    num_gpus_per_node gpus_per_node policy_num_gpus_per_node ref_num_gpus_per_node critic_num_gpus_per_node
    colocate_all num_inference_engines num_engines tensor_parallel_size inference_engine_tensor_parallel_size
    pipeline_parallel_size inference_engine_pipeline_parallel_size
    data_parallel_size inference_engine_data_parallel_size
    max_num_seqs max_num_batched_tokens gpu_memory_utilization max_model_len max_seq_len enable_prefix_caching
    n_samples_per_prompt eval_n_samples_per_prompt train_batch_size policy_mini_batch_size mini_batch_size
    micro_train_batch_size_per_gpu micro_forward_batch_size_per_gpu eval_batch_size update_epochs_per_batch
    max_staleness_steps num_parallel_generation_workers n_concurrent_trials max_concurrent_trials
    max_prompt_length max_input_length max_generate_length max_turns max_episodes max_input_tokens max_output_tokens
    lr learning_rate max_steps max_training_steps epochs num_epochs
    use_kl_loss use_kl_in_reward kl_loss_coef use_tis tis_imp_ratio_cap off_policy_correction
    eps_clip_low eps_clip_high advantage_estimator loss_reduction policy_loss_type
    eval_interval eval_before_train ckpt_interval hf_save_interval max_ckpts_to_keep resume_mode
"""
KEYS = WORDS.split()
# Pieces of those keys that few other lines hold, or the key with what stands around it.
NEEDLES = (
    b"num_nodes", b"gpus_per_node", b"colocate_all", b"num_inference_engines", b"num_engines", b"parallel_size",
    b"max_num_", b"gpu_memory_utilization", b"max_model_len", b"max_seq_len", b"enable_prefix_caching",
    b"samples_per_prompt", b"batch_size", b"update_epochs_per_batch", b"max_staleness",
    b"parallel_generation_workers", b"concurrent_trials", b"max_prompt_length", b"max_input_",
    b"max_generate_length", b"max_output_tokens", b"max_turns", b"max_episodes", b"learning_rate", b" lr: ",
    b"'lr': ", b".lr=", b"max_steps", b"max_training_steps", b" epochs: ", b"'epochs': ", b".epochs=",
    b"num_epochs", b"use_kl_", b"kl_loss_coef", b"use_tis", b"tis_imp_ratio_cap", b"off_policy_correction",
    b"eps_clip_", b"advantage_estimator", b"loss_reduction", b"policy_loss_type", b"eval_interval",
    b"eval_before_train", b"ckpt_interval", b"hf_save_interval", b"max_ckpts_to_keep", b"resume_mode",
)  # fmt: skip

LEAF = "(?:" + "|".join(sorted(KEYS, key=len, reverse=True)) + ")"
PATH = r"(?:[A-Za-z_]\w{0,60}\.){0,8}"
VALUE = r"(?P<value>'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|[^\s,'\"\]})\[({]{1,200})"
SETTING = re.compile(rf"(?<![\w./-])(?P<key>{PATH}{LEAF})['\"]?\s?[:=]\s?{VALUE}(?=[\s,)}}\]]|\Z)")
OVERRIDE = re.compile(
    rf"(?:(?<=\s)|\A)[+~]{{0,2}}(?P<key>(?:[A-Za-z_]\w{{0,60}}\.){{1,8}}{LEAF})={VALUE}(?=[\s,)}}\]]|\Z)"
)
DUMP_LINE = re.compile(rf"[\s{{'\"+~-]{{0,80}}{PATH}{LEAF}['\"]?\s?[:=]")
ENGINE_ARGUMENTS = re.compile(r"Initializing an? (?:V\d )?LLM engine|non-default args: ")
PATTERNS = (DUMP_LINE, SETTING, OVERRIDE, ENGINE_ARGUMENTS)

NUMBER = re.compile(r"[+-]?\d[\d_]{0,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,3})?")
TRUTH = {"true": 1.0, "false": 0.0}
SETTINGS_LIMIT = 2000  # different settings of one job
TEXT_LIMIT = 64 * 1024  # characters of one line that are looked at


class Settings:
    """Reads settings until the first training step."""

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.seen: set[tuple[str, str]] = set()

    def parse(self, message: Message) -> Outcome:
        """One event per setting not seen before."""
        if self.context.step_marker is not None:
            return None
        text = message.payload[:TEXT_LIMIT]
        if DUMP_LINE.match(text) or ENGINE_ARGUMENTS.search(text, 0, 200):
            found = list(settings_in(SETTING, text, complete=message.complete))
        else:
            found = list(settings_in(OVERRIDE, text, complete=message.complete))
        if not found:
            return None
        return [row for key, value in found for row in self._event(message, key, value)]

    def _event(self, message: Message, key: str, value: str) -> Iterator[JobEvent]:
        if (key, value) in self.seen or len(self.seen) >= SETTINGS_LIMIT:
            return
        self.seen.add((key, value))
        yield event(self.context, message, "configuration", name=key, value=number_in(value), detail=value)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def settings_in(pattern: re.Pattern[str], text: str, *, complete: bool) -> Iterator[tuple[str, str]]:
    """Keys and values as printed, quotes removed; in a cut line not the one that stands at its end."""
    for found in pattern.finditer(text):
        if complete or found.end() < len(text.rstrip()):
            yield found.group("key"), found.group("value").strip("'\"")


def number_in(value: str) -> float | None:
    """The number a value is; truth values are 1 and 0, other text is none."""
    if value.lower() in TRUTH:
        return TRUTH[value.lower()]
    return float(value.replace("_", "")) if NUMBER.fullmatch(value) else None


def parser(context: JobContext) -> Settings:
    """A fresh parser for one job."""
    return Settings(context)


def _row(name: str, value: float | None, detail: str) -> JobEvent:
    return JobEvent(job="job_1", line=1, byte_offset=0, kind="configuration", name=name, value=value, detail=detail)


SAMPLES = (
    Sample("    n_samples_per_prompt: 8", (_row("n_samples_per_prompt", 8.0, "8"),), bare=True),
    Sample(" 'gpu_memory_utilization': 0.8,", (_row("gpu_memory_utilization", 0.8, "0.8"),), bare=True),
    Sample(
        "+ python -m skyrl_train.entrypoints.main_base trainer.train_batch_size=512 "
        'trainer.policy.optimizer_config.lr=8.0e-6 trainer.algorithm.use_kl_loss=false trainer.resume_mode="latest"',
        (
            _row("trainer.train_batch_size", 512.0, "512"),
            _row("trainer.policy.optimizer_config.lr", 8e-06, "8.0e-6"),
            _row("trainer.algorithm.use_kl_loss", 0.0, "false"),
            _row("trainer.resume_mode", None, "latest"),
        ),
        bare=True,
    ),
    Sample(
        "Initializing a V1 LLM engine with config: model='policy-8b', max_seq_len=32768, tensor_parallel_size=2",
        (_row("max_seq_len", 32768.0, "32768"), _row("tensor_parallel_size", 2.0, "2")),
    ),
)
