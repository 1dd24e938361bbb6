"""Records: finished and unfinished games as text, in our own formats and those of other programs.

Each format has its own module; `formats` lists them. Reading is strict: every move is replayed by
the rules, errors name the line and the reason, and a record never loads a game file. Commands and
screens import this package.
"""

from zermelo.core.errors import BadRecord
from zermelo.records.formats import FORMATS, RecordFormat, read, read_all, write
from zermelo.records.record import Record

__all__ = ["FORMATS", "BadRecord", "Record", "RecordFormat", "read", "read_all", "write"]
