"""The metrics that the trainer of the sample run prints for a step, computed from its trials and timings."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

from simulated_run import Group, Step, Trial


def metrics_of(step: Step, chance: random.Random) -> dict[str, float | int]:
    """Every metric of the step's block; floats keep all digits, the console prints four decimals."""
    trials = [trial for group in step.groups for trial in group.trials]
    return {
        **_staleness(step),
        **_tokens(trials),
        **_rewards(step.groups, trials),
        **_policy(step, chance),
        **_host(step, chance),
        **_timing(step),
        "trainer/epoch": 0,
        "trainer/global_step": step.number,
    }


def _staleness(step: Step) -> dict[str, float | int]:
    ages = [step.number - 1 - group.version for group in step.groups]
    return {
        "async/discard_rate": 0.0,
        "async/discarded_count": 0,
        "async/effective_batch_groups": len(step.groups),
        "async/effective_batch_samples": sum(len(group.trials) for group in step.groups),
        "async/staleness_max": max(ages),
        "async/staleness_mean": statistics.fmean(ages),
        "async/staleness_min": min(ages),
        "async/staleness_ratio": sum(age > 0 for age in ages) / len(ages),
    }


def _tokens(trials: Sequence[Trial]) -> dict[str, float | int]:
    counts = [trial.response_tokens for trial in trials]
    rewarded = [trial.response_tokens for trial in trials if trial.reward]
    others = [trial.response_tokens for trial in trials if not trial.reward]
    return {
        "generate/avg_num_tokens": statistics.fmean(counts),
        "generate/avg_tokens_non_zero_rewards": statistics.fmean(rewarded) if rewarded else 0.0,
        "generate/avg_tokens_zero_rewards": statistics.fmean(others) if others else 0.0,
        "generate/max_num_tokens": max(counts),
        "generate/min_num_tokens": min(counts),
        "generate/std_num_tokens": statistics.pstdev(counts),
    }


def _rewards(groups: Sequence[Group], trials: Sequence[Trial]) -> dict[str, float | int]:
    """Unscored trials count as 0; advantages are those of a leave-one-out baseline inside each group."""
    mean = statistics.fmean(trial.reward or 0.0 for trial in trials)
    advantages: list[float] = []
    for group in groups:
        rewards = [trial.reward or 0.0 for trial in group.trials]
        advantages += [reward - (sum(rewards) - reward) / (len(rewards) - 1) for reward in rewards]
    return {
        "loss/avg_final_rewards": mean,
        "loss/avg_raw_advantages": statistics.fmean(advantages),
        "loss/avg_raw_advantages_abs": statistics.fmean(map(abs, advantages)),
        "reward/avg_pass_at_4": statistics.fmean(any(trial.reward for trial in group.trials) for group in groups),
        "reward/avg_raw_reward": mean,
    }


def _policy(step: Step, chance: random.Random) -> dict[str, float | int]:
    loss = chance.gauss(0, 0.004)
    return {
        "policy/final_loss": loss / 40,
        "policy/policy_entropy": 0.31 + 0.22 * math.exp(-step.number / 9) + chance.gauss(0, 0.012),
        "policy/policy_loss": loss,
        "policy/policy_lr": 1e-06,
        "policy/policy_update_steps": 1.0,
        "policy/ppo_clip_ratio": abs(chance.gauss(0, 0.0004)),
        "policy/raw_grad_norm": 0.045 + abs(chance.gauss(0, 0.02)) + (0.21 if step.number == 13 else 0.0),
    }


def _host(step: Step, chance: random.Random) -> dict[str, float | int]:
    total, used = 503.5, 118.0 + 0.9 * step.number + chance.gauss(0, 1.5)
    return {
        "system/process_rss_gb": 9.2 + 0.11 * step.number + chance.uniform(0, 0.2),
        "system/process_vms_gb": 44.1 + chance.uniform(0, 0.4),
        "system/ram_available_gb": total - used,
        "system/ram_percent": round(100 * used / total, 1),
        "system/ram_total_gb": total,
        "system/ram_used_gb": used,
    }


def _timing(step: Step) -> dict[str, float | int]:
    saves = {"timing/save_checkpoints": step.save, "timing/save_hf_model": step.export}
    return {
        "timing/compute_advantages_and_returns": step.advantages,
        "timing/convert_to_training_input": step.convert,
        "timing/fwd_logprobs_values_reward": step.forward,
        "timing/policy_train": step.policy_train,
        "timing/run_training": step.run_training,
        "timing/step": step.seconds,
        "timing/sync_weights": step.sync,
        "timing/train_critic_and_policy": step.policy_train + step.overhead / 2,
        "timing/wait_for_generation_buffer": step.wait,
        **{name: seconds for name, seconds in saves.items() if seconds is not None},
    }
