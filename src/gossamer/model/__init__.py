"""The nouns: frozen or slotted, no I/O. Every other folder speaks in these."""

from gossamer.model.change import Change
from gossamer.model.document import Document, Link
from gossamer.model.exclusion import Exclusion, Judgement
from gossamer.model.locator import Locator
from gossamer.model.page import Fault, Page, Reason
from gossamer.model.request import RequestOutcome
from gossamer.model.visit import Before, Method, State, Visit, VisitRecord

__all__ = [
    "Before",
    "Change",
    "Document",
    "Exclusion",
    "Fault",
    "Judgement",
    "Link",
    "Locator",
    "Method",
    "Page",
    "Reason",
    "RequestOutcome",
    "State",
    "Visit",
    "VisitRecord",
]
