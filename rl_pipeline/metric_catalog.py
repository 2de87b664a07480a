"""What each logged metric means: unit, range, which way is better, older names, timers inside timers.

Covers the trainers of SkyRL (skyrl_train 0.1 to skyrl 0.4) and MarinSkyRL. `describe` answers for one metric as
logged, `canonical_name` joins names that mean the same quantity in different versions. Names that only look alike stay
apart: `rollout_train_prob_diff_*` compares probabilities, its successor log-probabilities. A name with a variable part
is entered with braces: `{n}` stands for a number, `{x}` for one part between slashes, `{*}` for any rest.

Better "higher" or "lower" is said only where it holds for every run; reward is the goal, so higher; entropy,
gradient norm or throughput of one engine are neither good nor bad alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from rl_pipeline.units import Unit

Range = tuple[float | None, float | None]
ANY: Range = (None, None)
FROM_ZERO: Range = (0.0, None)
SHARE: Range = (0.0, 1.0)
HUNDRED: Range = (0.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """One metric, or one family of metrics.

    Attributes:
        name: canonical name; with braces for a family.
        group: what stands before the first slash.
        unit: unit of the logged value.
        meaning: one phrase.
        better: "higher", "lower" or None.
        low, high: bounds of values that can be right; None is open.
        aliases: older names of the same quantity.
        note: versions, caveats.
    """

    name: str
    group: str
    unit: Unit
    meaning: str
    better: str | None = None
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()
    note: str = ""


_ENTRIES: list[MetricInfo] = []


def _enter(unit: Unit, bounds: Range, better: str | None, meanings: Mapping[str, str]) -> None:
    """Enter metrics that share unit, bounds and direction; `meaning | note` tells both."""
    for name, text in meanings.items():
        meaning, _, note = text.partition(" | ")
        group = name.partition("/")[0]
        entry = MetricInfo(
            name=name, group=group, unit=unit, meaning=meaning, better=better, low=bounds[0], high=bounds[1], note=note
        )
        _ENTRIES.append(entry)


_enter(Unit.REWARD, ANY, "higher", {
    "reward/avg_raw_reward": "mean raw reward over trajectories, token rewards summed",
    "reward/mean_positive_reward": "mean of the positive rewards | since 0.3.1",
    "reward/component_{x}": "mean of one reward component | MarinSkyRL",
    "loss/avg_final_rewards": "mean reward after shaping and penalties | named loss/avg_raw_rewards before 0.3.0",
    "eval/{*}/avg_score": "mean score of an evaluation set | eval/all pools samples, not data sets",
    "eval/{*}/mean_positive_reward": "mean of the positive scores of an evaluation set",
})  # fmt: skip
_enter(Unit.FRACTION, SHARE, "higher", {
    "reward/avg_pass_at_{n}": "share of prompts with any positive reward among n samples | n is samples per prompt",
    "eval/{*}/pass_at_{n}": "share of evaluation prompts solved by any of n samples",
    "async/keep_rate": "share of generated groups that were kept | since 0.4.0",
})  # fmt: skip
_enter(Unit.NATS, ANY, None, {
    "reward/policy_ref_kl": "KL to the reference policy in the reward",
    "reward/policy_ref_kl_max": "largest such KL of a token",
    "loss/avg_kl": "mean KL to the reference policy",
    "loss/avg_kl_max": "mean over sequences of their largest token KL",
    "policy/policy_kl": "KL to the reference policy in the loss",
    "policy/policy_entropy": "mean entropy of the policy per token | unreliable before 2025-10-16",
    "policy/log_ratio_abs_mean": "mean |log ratio| of new to old token probability | MarinSkyRL",
    "policy/log_ratio_abs_max": "largest |log ratio| of a token | MarinSkyRL",
    "policy/log_ratio_abs_p{n}": "percentile of |log ratio| over tokens | MarinSkyRL",
    "policy/log_ratio_abs_pos{n}": "mean |log ratio| in one tenth of the response | MarinSkyRL",
    "policy/log_ratio_{*}": "other statistics of the log ratio | MarinSkyRL",
    "policy/rollout_train_logprobs_abs_diff_{x}": "|log-probability| difference of rollout and trainer | since 0.4.0",
})  # fmt: skip
_enter(Unit.FRACTION, SHARE, "lower", {
    "policy/rollout_train_prob_diff_mean": "mean probability difference of rollout and trainer | until 0.3; "
    "not comparable with the log-probability difference after it",
    "tis/skipped_fraction": "share of batches without importance correction | MarinSkyRL",
    "async/discard_rate": "share of groups thrown away | MarinSkyRL; its log line prints percent",
})  # fmt: skip
_enter(Unit.ONE, FROM_ZERO, None, {
    "policy/rollout_train_prob_diff_std": "spread of the probability difference | until 0.3",
    "policy/grad_norm": "L2 norm of the gradient before clipping | named policy/raw_grad_norm before 0.4.0",
    "policy/policy_lr": "learning rate | below the console's resolution in most runs",
    "policy/policy_update_steps": "optimiser updates per training step | until 0.3",
    "policy/num_microbatches": "micro-batches per step | since 0.4.0",
    "policy/num_padding_microbatches": "empty micro-batches per step | since 0.4.0",
    "loss/avg_raw_advantages_abs": "mean |advantage|",
    "loss/kl_loss_coef": "weight of the KL in the loss",
    "critic/critic_lr": "learning rate of the critic",
    "generate/intra_group_completion_time_{*}": "relative spread of completion times in a group | since 0.4.0",
    "train/grad_norm": "L2 norm of the gradient, supervised training",
    "train/epoch": "epoch, supervised training",
    "trainer/epoch": "epoch, from 0",
})  # fmt: skip
_enter(Unit.ONE, ANY, None, {
    "policy/final_loss": "loss that was stepped on | sign and scale depend on the loss reduction",
    "policy/policy_loss": "policy-gradient part of the loss",
    "loss/avg_raw_advantages": "mean advantage",
    "policy/loss_metrics/is_ratio_{x}": "importance ratio of new to old policy | since 0.4.0",
    "policy/loss_metrics/{*}": "statistics of the loss | since 0.4.0",
    "policy/tis/{*}": "importance correction, per token | MarinSkyRL",
    "policy/stale_clip/{*}": "clipping of stale samples | MarinSkyRL",
    "policy/z_clip/{*}": "clipping of outliers | MarinSkyRL",
    "policy/{*}": "other statistics of the policy update",
    "critic/{*}": "statistics of the critic update",
    "tis/{*}": "importance correction | MarinSkyRL",
    "generate/tis/{*}": "alignment of log-probabilities | MarinSkyRL",
    "reward_dropped/{*}": "reward statistics of filtered groups",
    "train/loss": "loss, supervised training",
    "environment/{*}": "defined by the environment",
})  # fmt: skip
_enter(Unit.FRACTION, SHARE, None, {
    "policy/loss_metrics/clip_ratio": "share of clipped tokens | named policy/ppo_clip_ratio before 0.4.0",
    "policy/loss_metrics/tis_{x}_clip_high_ratio": "share of tokens at the correction's cap | since 0.4.0",
    "async/staleness_ratio": "share of the batch older than the policy it trains",
})  # fmt: skip
_enter(Unit.TOKENS, FROM_ZERO, None, {
    "policy/response_length": "mean tokens per response",
    "policy/n_tokens_dp_gt_{n}pct": "tokens whose probability moved by more than n % | mean over ranks, not a total",
    "generate/avg_num_tokens": "mean tokens per response | masked trials count as 1; per turn in step-wise training",
    "generate/min_num_tokens": "shortest response",
    "generate/max_num_tokens": "longest response",
    "generate/std_num_tokens": "spread of response lengths",
    "generate/avg_tokens_non_zero_rewards": "mean tokens of responses with a reward",
    "generate/avg_tokens_zero_rewards": "mean tokens of responses without one | masked trials among them",
    "generate/{x}_assistant_tokens": "tokens written by the model per trajectory | since 0.4.0",
    "generate/tokens_per_turn_{x}": "tokens per turn | since 0.4.0",
    "generate/batch_padded_seq_len": "padded length of the batch | since 0.4.0",
    "train/actual_num_tokens": "tokens of the batch, supervised training",
    "train/total_tokens_processed": "tokens so far, supervised training",
    "train/batch_padded_seq_len": "padded length of the batch, supervised training",
})  # fmt: skip
_enter(Unit.ONE, FROM_ZERO, None, {
    "reward/num_zero_variance_filtered": "groups left out because all samples had one reward",
    "generate/avg_num_turns": "mean turns per trajectory",
    "generate/batch_num_seq": "sequences in the batch | since 0.4.0",
    "generate/num_seq_{x}_merge": "sequences before and after merging | since 0.4.0",
    "generate/trajectories_summarized": "trajectories whose history was summarised | MarinSkyRL",
    "generate_kept/{*}": "generation statistics of kept groups | since 0.4.0",
    "generate_dropped/{*}": "generation statistics of dropped groups | since 0.4.0",
    "generate/{*}": "other statistics of generation",
    "async/effective_batch_groups": "groups in the batch | MarinSkyRL",
    "async/effective_batch_samples": "samples in the batch | MarinSkyRL",
    "async/gen_buffer_qsize_at_wait_start": "groups ready when the trainer began to wait | since 0.4.0",
    "async/{*}": "other statistics of the generation queue",
})  # fmt: skip
_enter(Unit.ONE, FROM_ZERO, "lower", {
    "generate/num_timeout_trajectories": "trajectories that ran out of time",
    "generate/num_error_trajectories": "trajectories that raised",
    "generate/num_masked_instances": "prompts left out of the baseline",
    "generate/trajectories_context_length_exceeded": "trajectories that filled the context",
    "generate/num_failed_instances": "prompts with a failed trajectory | MarinSkyRL; lost on the fully-async path",
    "generate/num_failed_trajectories": "failed trajectories | MarinSkyRL; lost on the fully-async path",
    "generate/num_masked_trajectories": "trajectories left out of the baseline | MarinSkyRL",
    "generate/trajectories_truncated": "trajectories cut at a limit | MarinSkyRL",
    "generate/errors/{x}": "trajectories by exception type | MarinSkyRL; lost on the fully-async path",
    "generate/exception_{x}": "trajectories by exception type | MarinSkyRL",
    "async/staleness_violation_count": "groups older than allowed | upstream",
    "async/discarded_count": "groups thrown away | MarinSkyRL",
    "async/rejected_count/{*}": "groups rejected, by reason | MarinSkyRL",
    "async/num_groups_dropped": "groups thrown away | since 0.4.0",
    "tis/batch_skipped_no_logprobs": "batches without rollout log-probabilities | MarinSkyRL",
})  # fmt: skip
_enter(Unit.STEPS, FROM_ZERO, "lower", {
    "async/staleness_mean": "mean training steps between generation and use",
    "async/staleness_max": "largest such distance",
    "async/staleness_min": "smallest such distance",
})  # fmt: skip
_enter(Unit.STEPS, FROM_ZERO, None, {
    "trainer/global_step": "training step, from 1",
    "train/global_step": "training step, supervised training",
})  # fmt: skip
_enter(Unit.SECONDS, FROM_ZERO, "lower", {
    "timing/step": "one training step | with saves in upstream's sync trainer, without in MarinSkyRL's async one",
    "timing/wait_for_generation_buffer": "trainer waits for rollouts",
    "timing/generate": "rollouts of the step, sync trainers",
    "timing/convert_to_training_input": "rollouts to padded tensors",
    "timing/postprocess_generator_output": "rewards and statistics of the rollouts",
    "timing/run_training": "everything between input and weight sync, async trainers",
    "timing/fwd_logprobs_values_reward": "forward passes of policy, reference and critic",
    "timing/apply_reward_kl_penalty": "KL penalty on rewards",
    "timing/compute_advantages_and_returns": "advantages",
    "timing/train_critic_and_policy": "optimisation of critic and policy",
    "timing/policy_train": "optimisation of the policy",
    "timing/critic_train": "optimisation of the critic",
    "timing/sync_weights": "new weights to the engines",
    "timing/sync_weights_only_transfer": "the transfer alone",
    "timing/save_checkpoints": "checkpoint save | only in steps that save",
    "timing/cleanup_old_checkpoints": "removal of old checkpoints, inside the save",
    "timing/save_hf_model": "export of model weights | only in steps that export",
    "timing/eval": "evaluation | only in steps that evaluate",
    "timing/eval_generate": "rollouts of the evaluation",
    "timing/update_ref_with_policy": "new reference weights",
    "timing/{x}": "a timer",
    "generate/trajectory_time_{*}": "seconds per trajectory | since 0.4.0",
    "generate/group_completion_time_{*}": "seconds until a group is complete | since 0.4.0",
    "vllm/latency_{*}": "request latency in the engines | MarinSkyRL",
    "vllm/ttft_seconds_avg": "mean time to the first token",
    "vllm/tpot_seconds_avg": "mean time per further token",
})  # fmt: skip
_enter(Unit.TOKENS_PER_SECOND, FROM_ZERO, "higher", {
    "trainer/tokens_per_second_per_gpu": "trained tokens per second and GPU | since skyrl-v0.3.0",
    "train/tokens_per_second": "trained tokens per second, supervised training",
    "train/tokens_per_second_per_gpu": "the same per GPU",
    "vllm/generation_throughput_tok_s": "generated tokens per second, all engines",
    "vllm/prompt_throughput_tok_s": "prompt tokens per second, all engines",
    "vllm/{x}_generation_throughput": "generated tokens per second, mean per engine | MarinSkyRL",
    "vllm/{x}_prompt_throughput": "prompt tokens per second, mean per engine | MarinSkyRL",
    "vllm/generation_throughput": "generated tokens per second | MarinSkyRL, first form",
    "vllm/prompt_throughput": "prompt tokens per second | MarinSkyRL, first form",
})  # fmt: skip
_enter(Unit.GIBIBYTES, FROM_ZERO, None, {
    "system/ram_used_gb": "memory in use on the driver's host | MarinSkyRL",
    "system/ram_available_gb": "memory available on the driver's host | MarinSkyRL",
    "system/ram_total_gb": "memory of the driver's host | MarinSkyRL",
    "system/process_rss_gb": "resident memory of the driver process | MarinSkyRL",
    "system/process_vms_gb": "virtual memory of the driver process | MarinSkyRL",
    "ray/node.{n}.gpu.{n}.mem_used_gb": "GPU memory in use, GB | since 0.4.0",
    "ray/node.{n}.cpu_ram_used_gb": "host memory in use, GB | since 0.4.0",
})  # fmt: skip
_enter(Unit.PERCENT, HUNDRED, None, {
    "system/ram_percent": "memory in use on the driver's host | MarinSkyRL",
    "ray/node.{n}.gpu.{n}.util": "GPU utilisation | since 0.4.0",
    "ray/gpu.util.avg": "mean GPU utilisation | since 0.4.0",
    "vllm/{x}_gpu_cache_usage_perc": "share of the KV cache in use, mean per engine, percent | MarinSkyRL, mirror line",
})  # fmt: skip
_enter(Unit.FRACTION, SHARE, None, {
    "vllm/kv_cache_usage_perc": "share of the KV cache in use, mean of the engines | a fraction in spite of its name",
    "vllm/prefix_cache_hit_rate": "prefix cache hits",
    "vllm/kv_cache_usage": "share of the KV cache in use | MarinSkyRL, first form",
    "vllm/{x}_kv_cache_usage": "share of the KV cache in use, mean per engine | MarinSkyRL",
})  # fmt: skip
_enter(Unit.REQUESTS, FROM_ZERO, None, {
    "vllm/num_requests_running": "requests being computed, all engines, one instant",
    "vllm/num_requests_waiting": "requests queued, all engines, one instant",
    "vllm/peak_running_reqs": "sum of the engines' peaks, an upper bound | MarinSkyRL",
    "vllm/peak_waiting_reqs": "sum of the engines' peaks, an upper bound | MarinSkyRL",
    "vllm/median_running_reqs": "sum of the engines' medians | MarinSkyRL",
    "vllm/median_waiting_reqs": "sum of the engines' medians | MarinSkyRL",
    "vllm/total_finished_requests": "requests finished in the step | MarinSkyRL",
    "vllm/total_preempted_reqs": "preemptions in the step | MarinSkyRL",
})  # fmt: skip
_enter(Unit.ONE, FROM_ZERO, None, {
    "vllm/num_engines": "inference engines | MarinSkyRL",
    "vllm/{*}": "other engine statistics",
})  # fmt: skip

# Older name → name of the same quantity now.
RENAMED: dict[str, str] = {
    "loss/avg_raw_rewards": "loss/avg_final_rewards",
    "policy/ppo_clip_ratio": "policy/loss_metrics/clip_ratio",
    "policy/raw_grad_norm": "policy/grad_norm",
}

# Timers inside timers, by name without `timing/`: the timers that can contain it, nearest first. Which of them does
# depends on the trainer: the first that was logged in the same step.
CONTAINERS: dict[str, tuple[str, ...]] = {
    "wait_for_generation_buffer": ("step",),
    "generate": ("step",),
    "convert_to_training_input": ("step",),
    "postprocess_generator_output": ("step",),
    "run_training": ("step",),
    "fwd_logprobs_values_reward": ("run_training", "step"),
    "apply_reward_kl_penalty": ("run_training", "step"),
    "compute_advantages_and_returns": ("run_training", "step"),
    "train_critic_and_policy": ("run_training", "step"),
    "policy_train": ("train_critic_and_policy", "run_training", "step"),
    "critic_train": ("train_critic_and_policy", "run_training", "step"),
    "sync_weights": ("step",),
    "sync_weights_only_transfer": ("sync_weights", "step"),
    "cleanup_old_checkpoints": ("save_checkpoints",),
    "eval_generate": ("eval",),
}

SYNC_UPSTREAM, ASYNC_UPSTREAM, ASYNC_MARIN = "sync upstream", "async upstream", "async MarinSkyRL"
FORMS = (SYNC_UPSTREAM, ASYNC_UPSTREAM, ASYNC_MARIN)

# Spans that the step timer of a trainer does not hold.
OUTSIDE_STEP: dict[str, frozenset[str]] = {
    SYNC_UPSTREAM: frozenset(),
    ASYNC_UPSTREAM: frozenset({"eval", "save_checkpoints", "save_hf_model"}),
    ASYNC_MARIN: frozenset({"eval", "save_checkpoints", "save_hf_model"}),
}

# What a run of a form logs in every configuration worth judging; optional keys say what cannot be judged without them.
_COMMON = (
    "reward/avg_raw_reward", "loss/avg_final_rewards", "policy/policy_loss", "policy/policy_entropy",
    "policy/policy_kl", "policy/grad_norm", "policy/loss_metrics/clip_ratio", "generate/avg_num_tokens",
    "timing/step", "timing/policy_train", "timing/sync_weights", "trainer/global_step",
)  # fmt: skip
_ASYNC = (
    "async/staleness_mean", "async/staleness_max", "timing/wait_for_generation_buffer", "timing/run_training",
)  # fmt: skip
EXPECTED_KEYS: dict[str, tuple[str, ...]] = {
    SYNC_UPSTREAM: (*_COMMON, "timing/generate"),
    ASYNC_UPSTREAM: (*_COMMON, *_ASYNC),
    ASYNC_MARIN: (*_COMMON, *_ASYNC, "async/discard_rate", "system/process_rss_gb", "tis/{*}"),
}

_PARTS = {"{n}": r"\d+", "{x}": r"[^/]+", "{*}": r".+"}


def _as_pattern(name: str) -> re.Pattern[str]:
    pieces = re.split(r"(\{[nx*]\})", name)
    return re.compile("".join(_PARTS.get(piece, re.escape(piece)) for piece in pieces))


def _with_aliases(entry: MetricInfo) -> MetricInfo:
    return replace(entry, aliases=tuple(old for old, new in RENAMED.items() if new == entry.name))


CATALOG: tuple[MetricInfo, ...] = tuple(_with_aliases(entry) for entry in _ENTRIES)
_BY_NAME = {entry.name: entry for entry in CATALOG if "{" not in entry.name}
# Families, the most specific first: more fixed characters.
_FAMILIES = sorted(
    ((_as_pattern(entry.name), entry) for entry in CATALOG if "{" in entry.name),
    key=lambda family: -len(re.sub(r"\{[nx*]\}", "", family[1].name)),
)
# Upstream's sync trainer tells training and evaluation apart in the name of engine metrics; since 0.4.0 evaluations
# repeat the statistics of generation under their own name.
_SCOPE = re.compile(r"(?:vllm/(?:train|eval|engine_\d+)/(?=.)|eval/all/(?=generate/))")


def canonical_name(metric: str) -> str:
    """The present name of a metric; unknown names stay as they are."""
    return RENAMED.get(metric, metric)


@lru_cache(maxsize=4096)
def describe(metric: str) -> MetricInfo | None:
    """What is known of a metric as logged; None for a name outside the catalogue.

    >>> describe("reward/avg_pass_at_8").name
    'reward/avg_pass_at_{n}'
    """
    name = canonical_name(metric)
    scope = _SCOPE.match(name)
    if scope is not None:
        name = ("vllm/" if scope.group().startswith("vllm") else "") + name[scope.end() :]
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((entry for pattern, entry in _FAMILIES if pattern.fullmatch(name)), None)


def recognised_form(metrics: Collection[str]) -> str | None:
    """Which trainer logs such metrics; None when they do not tell."""
    if "timing/wait_for_generation_buffer" in metrics or any(name.startswith("async/staleness_") for name in metrics):
        marin = {"async/discard_rate", "async/effective_batch_groups", "system/process_rss_gb"}
        return ASYNC_MARIN if marin & set(metrics) else ASYNC_UPSTREAM
    return SYNC_UPSTREAM if "timing/generate" in metrics else None


def missing_keys(metrics: Iterable[str], form: str) -> tuple[str, ...]:
    """Expected keys of a form that are not among the metrics, under any of their names, in catalogue order."""
    logged = {canonical_name(metric) for metric in metrics}
    return tuple(
        key for key in EXPECTED_KEYS[form] if key not in logged and not any(map(_as_pattern(key).fullmatch, logged))
    )


def container_of(timer: str, logged: Collection[str]) -> str | None:
    """The nearest timer around `timer` that was logged too; both without `timing/`."""
    return next((outer for outer in CONTAINERS.get(timer, ()) if outer in logged), None)
