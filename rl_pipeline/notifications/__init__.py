"""Telling somebody: notices, the channels that carry them, and the memory of what was told."""

from rl_pipeline.notifications.channels import Channel, ChannelError, JsonLines, Mail, Webhook
from rl_pipeline.notifications.notice import Notice
from rl_pipeline.notifications.outbox import Delivery, Outbox

__all__ = ["Channel", "ChannelError", "Delivery", "JsonLines", "Mail", "Notice", "Outbox", "Webhook"]
