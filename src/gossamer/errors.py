"""Our own failures, each with a message that says what to do next.

The web failing is data (`model.Fault`), never an exception.

    GossamerError
    ├── ConfigError      a setting is unknown, malformed or contradicts another      exit 2
    ├── CrawlDirError    the directory is no crawl, is in use, is too new, is read-only   exit 2
    ├── SeedError        no seed can be crawled                                       exit 2
    ├── QueryError       a search query that is not understood; says where and why   exit 2
    ├── CursorError      a place in a list that there is not, or no longer           exit 2
    ├── IndexInUseError  another process writes the index                            exit 2
    ├── IndexVersionError  another version of gossamer made the index                exit 2
    ├── AppError         an application failed, or took too long                     exit 3
    ├── ControlError     a command did not reach the crawl, or the crawl could not do it   exit 1
    ├── SupervisorError  the crawl dies again and again                              exit 1
    ├── ClusterError     what agents share does not work                             exit 1
    │   ├── EngineError       no nats-server that can be used, or it does not start
    │   ├── UnavailableError  the broker did not answer: whether it has done it is not known
    │   ├── LogFullError      a log takes no more until it is trimmed
    │   ├── LogRewoundError   a log ends before a place that was read or written already
    │   ├── TokenLostError    a partition has another owner now
    │   ├── SessionLostError  the others have given this agent up
    │   ├── NameTakenError    another agent of this name is at work                  exit 2
    │   ├── BatchError        a message that is no batch of URLs
    │   ├── DiffError         what should be records of a partition is not
    │   └── ObjectsError      where checkpoints are kept cannot be read or written, or what is there is damaged
    ├── DamagedError     a file of the crawl cannot be read; names it                exit 1
    │   └── IndexDamagedError  the index; who keeps it up to date makes it again
    └── DiskFullError    the disk is full; says how much is needed                    exit 1
"""

from __future__ import annotations


class GossamerError(Exception):
    exit_status = 1


class ConfigError(GossamerError):
    exit_status = 2


class CrawlDirError(GossamerError):
    exit_status = 2


class SeedError(GossamerError):
    exit_status = 2


class QueryError(GossamerError):
    """`position` is that of the character in the query from which it is not understood."""

    exit_status = 2

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position = position
        self.why = why


class AppError(GossamerError):
    """Its process says so by its exit status: started again it would only fail again."""

    exit_status = 3


class CursorError(GossamerError):
    """`stale`: it was one, and does not fit what is there now."""

    exit_status = 2

    def __init__(self, why: str, stale: bool = False) -> None:
        super().__init__(why)
        self.stale = stale


class IndexInUseError(GossamerError):
    exit_status = 2


class IndexVersionError(GossamerError):
    exit_status = 2


class ControlError(GossamerError):
    pass


class SupervisorError(GossamerError):
    pass


class DamagedError(GossamerError):
    pass


class IndexDamagedError(DamagedError):
    pass


class DiskFullError(GossamerError):
    pass


class ClusterError(GossamerError):
    pass


class EngineError(ClusterError):
    pass


class UnavailableError(ClusterError):
    pass


class LogFullError(ClusterError):
    pass


class LogRewoundError(ClusterError):
    pass


class TokenLostError(ClusterError):
    def __init__(self, text: str, partitions: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.partitions = partitions


class SessionLostError(ClusterError):
    pass


class NameTakenError(ClusterError):
    exit_status = 2


class BatchError(ClusterError):
    pass


class DiffError(ClusterError):
    pass


class ObjectsError(ClusterError):
    pass
