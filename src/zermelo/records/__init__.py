"""Records: finished and unfinished games as text, in our own formats and in those of others.

Each format has a file; `formats` lists them. Reading is strict: the rules replay every move, errors
name the line and the reason, and a record never loads a game file. Commands and screens import it.
"""

from zermelo.core.errors import BadRecord
from zermelo.records.formats import FORMATS, RecordFormat, read, read_all, write
from zermelo.records.record import Record

__all__ = ["FORMATS", "BadRecord", "Record", "RecordFormat", "read", "read_all", "write"]
