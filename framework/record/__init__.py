"""Journals → MLflow, a mirror that can be rebuilt. MLflow is imported here alone, and slowly: import this late."""

from __future__ import annotations

import os

# MLflow reads these when it is imported. With its own defaults a server that is down blocks each call for four minutes.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "5")

from framework.record.recorder import Recorder

__all__ = ["Recorder"]
