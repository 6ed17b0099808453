"""Large jobs on a Ray cluster; addresses are shown as they were set."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

# A job cannot be done by the cluster; what it had finished is kept.
FAILED = WorkbenchError.row(
    N_("The Ray cluster could not do what was asked: {why}"),
    N_("Look at the log of Ray; empty WORKBENCH_RAY_ADDRESS to work on this machine alone."),
    code="WB950",
)
PACKAGE_MISSING = WorkbenchError.row(
    N_("WORKBENCH_RAY_ADDRESS is set, but the package `ray` is not installed."),
    N_("Run `{command}` and start again, or leave WORKBENCH_RAY_ADDRESS empty."),
    code="WB951",
    package="ray",
)
NEEDS_SERVERS = WorkbenchError.row(
    N_("The workers of a Ray cluster share a Milvus server and a PostgreSQL database; not set: {missing}."),
    N_("Set {missing}, or empty WORKBENCH_RAY_ADDRESS to work on this machine alone."),
    code="WB952",
)
"""What workers on several machines share cannot be a file of one of them."""
GONE = WorkbenchError.row(
    N_("The Ray cluster at {address} has not answered for {seconds} seconds; what it had finished is kept."),
    N_("Look whether its head still runs; then resume the job."),
    code="WB954",
)
FULL = WorkbenchError.row(
    N_("The Ray cluster at {address} has had no room for a worker for {seconds} seconds."),
    N_("Add a node, or end what else is running there; then resume the job."),
    code="WB954",
)
STUCK = WorkbenchError.row(
    N_("The workers of the Ray cluster at {address} have finished nothing for {seconds} seconds."),
    N_("Look at their logs for what they wait for; then resume the job."),
    code="WB954",
)
WORKER_LOST = WorkbenchError.row(
    N_("{times} workers ended one after the other while they did this part of the job."),
    N_("Look whether they ran out of memory; then resume the job."),
    code="WB955",
)
WORKER_UNUSABLE = WorkbenchError.row(
    N_("A worker of the Ray cluster could not begin: {why}"),
    N_("Install the same version of the workbench and of its packages on every node; then resume the job."),
    code="WB956",
)
"""Another version, a package that is missing, a server that it cannot reach."""
UNREACHABLE = WorkbenchError.row(
    N_("The Ray cluster at {address} cannot be joined: {why}"),
    N_("Start it (`ray start --head`), or correct WORKBENCH_RAY_ADDRESS; then resume the job."),
    code="WB953",
)
"""A head that is being started again refuses for a while, so that it is tried again."""
