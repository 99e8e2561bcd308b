"""What may happen to a cluster, each as a function that does it to a crawl in its middle and says to whom and when."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster.judge import Fault
from cluster.scene import Scene

LEASE = 6.0
GAP = 1.0
_OUT = 2 * LEASE  # seconds that a victim is away for
_BROKER_OUT = 10.0

Act = Callable[[Scene, random.Random], Fault]


@dataclass(frozen=True)
class Kind:
    """`exposed`: seconds before the fault whose pages may be fetched again, None if none may be."""

    name: str
    act: Act
    says: str
    newcomers: int = 0  # agents that the fault brings
    brokers: int = 1
    exposed: float | None = 5.0


def _victim(scene: Scene, dice: random.Random) -> str:
    return dice.choice(sorted(agent.name for agent in scene.crew.running()))


def kill(scene: Scene, dice: random.Random) -> Fault:
    """With its supervisor: nobody starts it again."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    victim.kill()
    victim.spent = True
    return Fault(at, victim.name)


def kill_inner(scene: Scene, dice: random.Random) -> Fault:
    """Its supervisor has it back at once, with its directory."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    victim.signal_inner(signal.SIGKILL)
    return Fault(at, victim.name, at)


def freeze(scene: Scene, dice: random.Random) -> Fault:
    """All of it, as if the machine were stopped."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    victim.signal(signal.SIGSTOP)
    time.sleep(_OUT)
    back = time.monotonic()
    victim.signal(signal.SIGCONT)
    return Fault(at, victim.name, back)


def freeze_inner(scene: Scene, dice: random.Random) -> Fault:
    """Its supervisor sees that it is past its deadline."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    victim.signal_inner(signal.SIGSTOP)
    return Fault(at, victim.name, at)


def cut_from_broker(scene: Scene, dice: random.Random) -> Fault:
    """Every other time only what the agent says is lost: it hears the broker, which does not hear it."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    scene.network.cut_brokers(victim.machine, scene.brokers.machines, both=dice.random() < 0.5)
    time.sleep(_OUT)
    back = time.monotonic()
    scene.network.mend(victim.machine, scene.brokers.machines)
    return Fault(at, victim.name, back)


def cut_from_all(scene: Scene, dice: random.Random) -> Fault:
    """Every other time it is told so by its own network card."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    scene.network.cut(victim.machine, silently=dice.random() < 0.5)
    time.sleep(_OUT)
    back = time.monotonic()
    scene.network.mend(victim.machine, scene.brokers.machines)
    return Fault(at, victim.name, back)


def kill_broker(scene: Scene, dice: random.Random) -> Fault:
    """It is back a little later."""
    leader = scene.brokers.leader(dice.random() < 0.5)
    at = time.monotonic()
    leader.kill()
    time.sleep(_BROKER_OUT)
    leader.start()
    return Fault(at, f"broker {leader.name}")


def lose_disk(scene: Scene, dice: random.Random) -> Fault:
    """The agent dies and its disk with it; a new one joins, with the old name on its machine or another elsewhere."""
    victim = scene.crew.agents[_victim(scene, dice)]
    at = time.monotonic()
    victim.kill()
    scene.crew.lose_disk(victim.name)
    if dice.random() < 0.5:
        scene.crew.start(victim.name)
    else:
        victim.spent = True
        scene.crew.start("b1")
    return Fault(at, victim.name, time.monotonic())


def join(scene: Scene, dice: random.Random) -> Fault:
    at = time.monotonic()
    scene.crew.start("b1")
    return Fault(at, "b1", at)


def drain(scene: Scene, dice: random.Random) -> Fault:
    victim = _victim(scene, dice)
    at = time.monotonic()
    scene.crew.drain(victim)
    return Fault(at, victim)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("kill", kill, "kill -9 of an agent"),
        Kind("restart", kill_inner, "kill -9, started again by its supervisor"),
        Kind("freeze", freeze, "SIGSTOP for 2 L, SIGCONT"),
        Kind("stuck", freeze_inner, "SIGSTOP, killed by its supervisor"),
        Kind("cut-broker", cut_from_broker, "cut from the broker for 2 L"),
        Kind("cut-all", cut_from_all, "cut from everything for 2 L"),
        Kind("broker", kill_broker, "kill -9 of the broker that leads, of three", brokers=3),
        Kind("disk", lose_disk, "agent's disk lost"),
        Kind("join", join, "an agent joins", newcomers=1, exposed=None),
        Kind("drain", drain, "an agent is drained", exposed=None),
    )
}
