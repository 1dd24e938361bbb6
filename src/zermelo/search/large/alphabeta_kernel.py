"""Looking ahead on boards above 64 cells: alpha-beta that makes and unmakes its moves.

The estimate counts windows, all stretches of `win` cells: one that holds stones of one side only
is worth more the fewer are missing. Counts are kept up to date with every stone, and so is what a
cell gains for a side, which orders the moves. Counts are hints; the truth comes from `result_after`.

What may be called proven. A win needs one move whose child is a proven loss. A loss needs every
legal move to be answered for, though only the most promising `width` moves are searched:

- the other side has a winning cell and this side has none: every move but the block loses in 2,
  since no stone elsewhere changes a run through a free cell; with two such cells, the block too
- else all legal moves were searched: where the promising ones all lose and the window asks for
  a proof, the rest are searched as well; where it does not, the loss counts as a bad estimate

So a score beyond ±DECISIVE is the truth. Its distance is, too, as far as the depth reaches with no
move left out; beyond that it is a bound: the win comes no later than it says.
"""

from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import BoardGame
from zermelo.kernels import kernel

FAR, DECISIVE, CAP = 1 << 14, 1 << 13, 8000  # scores: a win, the least proven one, any estimate
# Columns of `frames`, one row a ply of the stack.
ALPHA, BETA, BEST, NEXT, COUNT, STAGE, DEPTH, MOVE, PLACE, LENGTH, KILLER = range(11)
THREATS, THREAT, THREAT_2 = range(11, 14)  # the other side's winning moves: how many, and two
NUM_COLUMNS = 14
# What a frame's list of moves is.
WHOLE = 0  # all legal moves
CHOSEN = 1  # the promising ones: some were left out
FOURS = 2  # at the horizon: moves that threaten to win, beside the estimate
FORCED = 3  # the one block
HINTS = 4  # cells that complete a window, for either side: to judge, not to search
DOOMED = 5  # every move loses to a threat, if not by itself
# Entries of `control`.
PLY, NODES, BUDGET, SIDE, LEFT, SCORE, HORIZON, WIDTH, TEMPO, MAX_FOURS, READY = range(11)
NUM_CONTROLS = 11
NEW = -1  # frames[NEXT] of a state just entered
WEIGHTS = 2  # the row of `tally` that holds what a window with so many stones is worth
MAX_PLY = 100


@kernel(
    "uint8[::1], int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int32[:,::1], "
    "int32[:,::1], int32[::1], int32[:,::1], int32[:,::1], int64[:,::1]"
)
def look_ahead(  # noqa: PLR0915 - numbered steps on one stack
    game: BoardGame,
    cells: Any,  # the padded board; as it was when the search is over
    control: Any,
    frames: Any,  # [ply, column]
    moves: Any,  # [ply, actions, then their ranks]
    lines: Any,  # [ply, the moves expected from there; frames[ply, LENGTH] of them]
    windows: Any,  # [window, its cells as places of the padded board]
    through: Any,  # [place, (action, nearness to the centre, number of windows, those …)]
    gates: Any,  # [action, the place that is free as long as the action is legal]
    counts: Any,  # [side, window]
    gains: Any,  # [side, place]: what the windows through it are worth
    tally: Any,  # [side, (live windows by stones …, their worth)], then the weights
) -> Any:
    """Search the state in `cells` as frames[0] asks; True when control[SCORE] is its score.

    False when the budget of nodes is spent: call again with a higher one to go on.
    """
    ply = control[PLY]
    if control[READY] == 0:
        for place in range(len(cells)):
            if 0 < cells[place] < 3:
                put(place, cells[place] - 1, 1, windows, through, counts, gains, tally)
        control[READY] = 1
    score, ranks = 0, moves.shape[1] // 2
    while True:
        done = False
        side = (control[SIDE] + ply) & 1
        # 1. Enter a state: list the cells where either side seems to win.
        if frames[ply, NEXT] == NEW:
            if control[NODES] >= control[BUDGET]:
                control[PLY] = ply
                return False
            control[NODES] += 1
            list_hints(game, ply, side, cells, frames, moves, windows, through, counts, tally)
        # 2. Put the next stone of the list and judge it; if the game goes on, so do we below it.
        at, stage = frames[ply, NEXT], frames[ply, STAGE]
        if at < frames[ply, COUNT] and frames[ply, BEST] < frames[ply, BETA]:
            frames[ply, NEXT] = at + 1
            frames[ply, MOVE] = moves[ply, at]
            place = game.landing(cells, moves[ply, at])
            owner = moves[ply, ranks + at] if stage == HINTS else side
            cells[place] = 1 + owner
            over, value = game.result_after(cells, place, control[LEFT] - ply - 1)
            if not over and stage < HINTS:
                frames[ply, PLACE] = place
                put(place, side, 1, windows, through, counts, gains, tally)
                descend(ply, frames)
                ply += 1
                continue
            cells[place] = 0
            frames[ply + 1, LENGTH] = 0
            score = 1 - FAR if value > 0 else (FAR - 1 if value < 0 else 0)
            if stage == HINTS and (owner != side or not over or value >= 0):
                if over and value < 0:
                    note_threat(ply, frames)
                continue
            if stage == DOOMED and not over:
                score = 2 - FAR
                answer(ply, frames, lines)
        # 3. Behind the hints comes the list proper. A list that has run out may grow; then the
        #    state is done.
        elif stage == HINTS and frames[ply, BEST] < FAR - 1:
            done, score = settle(
                game, ply, side, cells, control, frames, moves, windows, through, gates, counts,
                gains, tally,
            )  # fmt: skip
            if not done:
                continue
        elif is_widened(ply, cells, frames, moves, gates):
            continue
        else:
            done = True
            score = closed(ply, control, frames)
        # 4. Hand the score up: the one place where signs flip and a ply is added.
        if done:
            if ply == 0:
                control[SCORE] = score
                return True
            ply -= 1
            cells[frames[ply, PLACE]] = 0
            side = (control[SIDE] + ply) & 1
            put(frames[ply, PLACE], side, -1, windows, through, counts, gains, tally)
            score = -score + sign(score)
        # 5. Keep the best.
        if score > frames[ply, BEST]:
            frames[ply, BEST] = score
            if score > frames[ply, ALPHA]:
                lines[ply, 0] = frames[ply, MOVE]
                frames[ply, LENGTH] = 1 + frames[ply + 1, LENGTH]
                for i in range(frames[ply + 1, LENGTH]):
                    lines[ply, 1 + i] = lines[ply + 1, i]
            if score >= frames[ply, BETA]:
                frames[ply, KILLER] = frames[ply, MOVE]


def put(
    place: Any,
    side: Any,
    step: Any,
    windows: Any,
    through: Any,
    counts: Any,
    gains: Any,
    tally: Any,
) -> None:
    """Count a stone in (step 1) or out (-1)."""
    length = windows.shape[1]
    tally[side, length + 1] += step * through[place, 1]
    for i in range(through[place, 2]):
        window = through[place, 3 + i]
        before, theirs = counts[side, window], counts[1 - side, window]
        after = before + step
        counts[side, window] = after
        if theirs == 0:
            owner = side
            worth = tally[WEIGHTS, after] - tally[WEIGHTS, before]
            tally[side, before] -= 1
            tally[side, after] += 1
        elif before + after == 1:  # it dies for the other side, or lives again
            owner = 1 - side
            worth = -step * tally[WEIGHTS, theirs]
            tally[owner, theirs] -= step
        else:
            continue
        tally[owner, length + 1] += worth
        for j in range(length):
            gains[owner, windows[window, j]] += worth


def descend(ply: Any, frames: Any) -> None:
    """Set up the frame of the child. A forced block costs no depth."""
    alpha = max(frames[ply, ALPHA], frames[ply, BEST])
    beta = frames[ply, BETA]
    frames[ply + 1, ALPHA] = -(beta + sign(beta))
    frames[ply + 1, BETA] = -(alpha + sign(alpha))
    frames[ply + 1, NEXT] = NEW
    frames[ply + 1, DEPTH] = frames[ply, DEPTH] - (0 if frames[ply, STAGE] == FORCED else 1)


def list_hints(
    game: BoardGame,
    ply: Any,
    side: Any,
    cells: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    through: Any,
    counts: Any,
    tally: Any,
) -> None:
    """The cells that complete a window, this side's first; in place of a rank whose they are."""
    length, ranks = windows.shape[1], moves.shape[1] // 2
    frames[ply, BEST] = -2 * FAR
    frames[ply, STAGE] = HINTS
    frames[ply, LENGTH] = 0
    frames[ply, THREATS] = 0
    count = 0
    for turn in range(2):
        owner = side if turn == 0 else 1 - side
        for window in range(len(windows) if tally[owner, length - 1] > 0 else 0):
            if counts[owner, window] != length - 1 or counts[1 - owner, window] != 0:
                continue
            place = windows[window, 0]
            for j in range(1, length):
                if cells[windows[window, j]] == 0:
                    place = windows[window, j]
            action = through[place, 0]
            known = game.landing(cells, action) != place
            for i in range(count):
                known = known or (moves[ply, i] == action and moves[ply, ranks + i] == owner)
            if not known:
                moves[ply, count] = action
                moves[ply, ranks + count] = owner
                count += 1
    frames[ply, NEXT] = 0
    frames[ply, COUNT] = count


def note_threat(ply: Any, frames: Any) -> None:
    """The move just judged would win for the other side; two of that kind are enough."""
    found = frames[ply, THREATS]
    frames[ply, THREATS] = found + 1
    if found == 0:
        frames[ply, THREAT] = frames[ply, MOVE]
    else:
        frames[ply, THREAT_2] = frames[ply, MOVE]
        frames[ply, COUNT] = frames[ply, NEXT]


def answer(ply: Any, frames: Any, lines: Any) -> None:
    """A move that leaves a threat: no other move lasts longer, and the line ends with the win."""
    frames[ply, COUNT] = frames[ply, NEXT]
    frames[ply + 1, LENGTH] = 1
    lines[ply + 1, 0] = frames[ply, THREAT]
    if frames[ply, THREAT] == frames[ply, MOVE]:
        lines[ply + 1, 0] = frames[ply, THREAT_2]


def settle(
    game: BoardGame,
    ply: Any,
    side: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    through: Any,
    gates: Any,
    counts: Any,
    gains: Any,
    tally: Any,
) -> Any:
    """(settled, score) for a state without a win at once; or its moves are listed, best first."""
    length = windows.shape[1]
    frames[ply, NEXT] = 0
    frames[ply, COUNT] = 0
    if frames[ply, ALPHA] >= FAR - 2:
        return True, FAR - 2
    # 1. The horizon, unless a block is forced: only threats to win are looked at beyond it.
    full = ply + 2 >= len(frames)
    if full or (frames[ply, THREATS] == 0 and frames[ply, DEPTH] <= 0):
        control[HORIZON] = 1
        score = tally[side, length + 1] - tally[1 - side, length + 1] + control[TEMPO]
        score = min(max(score, -CAP), CAP)
        frames[ply, BEST] = score
        frames[ply, STAGE] = FOURS
        beyond = full or frames[ply, DEPTH] <= -control[MAX_FOURS]
        if score >= frames[ply, BETA] or beyond or tally[side, length - 2] == 0:
            return True, score
        list_fours(game, ply, side, cells, control, frames, moves, windows, through, counts, gains)
        return False, 0
    # 2. One threat leaves the block, two leave nothing.
    if frames[ply, THREATS] > 0:
        frames[ply, STAGE] = FORCED
        if frames[ply, THREATS] == 1:
            moves[ply, 0] = frames[ply, THREAT]
            frames[ply, COUNT] = 1
        return False, 0
    # 3. The promising moves.
    legal = 0
    for action in range(len(gates)):
        if cells[gates[action]] == 0:
            legal += 1
            place = game.landing(cells, action)
            rank = 4 * gains[side, place] + 3 * gains[1 - side, place] + through[place, 1]
            if action == frames[ply, KILLER]:
                rank += 4 * tally[WEIGHTS, length - 2]
            insert(ply, action, rank, control[WIDTH], frames, moves)
    frames[ply, STAGE] = WHOLE if frames[ply, COUNT] == legal else CHOSEN
    return False, 0


def list_fours(
    game: BoardGame,
    ply: Any,
    side: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    through: Any,
    counts: Any,
    gains: Any,
) -> None:
    """The moves after which a window of this side lacks one stone."""
    length = windows.shape[1]
    for window in range(len(windows)):
        if counts[side, window] != length - 2 or counts[1 - side, window] != 0:
            continue
        for j in range(length):
            place = windows[window, j]
            action = through[place, 0]
            if cells[place] == 0 and game.landing(cells, action) == place:
                known = False
                for i in range(frames[ply, COUNT]):
                    known = known or moves[ply, i] == action
                if not known:
                    insert(ply, action, gains[side, place], control[WIDTH], frames, moves)


def insert(ply: Any, action: Any, rank: Any, limit: Any, frames: Any, moves: Any) -> None:
    """An action into the list, highest rank first; beyond the limit the last one drops out."""
    ranks = moves.shape[1] // 2
    at = frames[ply, COUNT]
    if at < limit:
        frames[ply, COUNT] = at + 1
    elif moves[ply, ranks + at - 1] < rank:
        at -= 1
    else:
        return
    while at > 0 and moves[ply, ranks + at - 1] < rank:
        moves[ply, at] = moves[ply, at - 1]
        moves[ply, ranks + at] = moves[ply, ranks + at - 1]
        at -= 1
    moves[ply, at] = action
    moves[ply, ranks + at] = rank


def is_widened(ply: Any, cells: Any, frames: Any, moves: Any, gates: Any) -> Any:
    """Whether a list that has run out was followed by all other legal moves.

    So it is where the promising moves lose and a proof matters, and where the block loses by
    itself or there are two threats: then any move that does not lose by itself lasts longest.
    """
    best = frames[ply, BEST]
    if best >= frames[ply, BETA]:
        return False
    if frames[ply, STAGE] == CHOSEN and max(best, frames[ply, ALPHA]) < -DECISIVE:
        frames[ply, STAGE] = WHOLE
    elif frames[ply, STAGE] == FORCED and best <= 1 - FAR:
        frames[ply, STAGE] = DOOMED
        if frames[ply, COUNT] == 0:  # of two threats block one: that is what people do
            moves[ply, 0] = frames[ply, THREAT]
            frames[ply, COUNT] = 1
    else:
        return False
    tried = frames[ply, COUNT]
    for action in range(len(gates)):
        known = cells[gates[action]] != 0
        for i in range(tried):
            known = known or moves[ply, i] == action
        if not known:
            moves[ply, frames[ply, COUNT]] = action
            frames[ply, COUNT] += 1
    return True


def closed(ply: Any, control: Any, frames: Any) -> Any:
    """The score of a state whose moves are tried: with some left out, no loss is proven."""
    best = frames[ply, BEST]
    if frames[ply, STAGE] == CHOSEN and best < frames[ply, BETA]:
        control[HORIZON] = 1
        return max(best, -CAP)
    return best
