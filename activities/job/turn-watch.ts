import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { repeatWhile } from '../model/repeat-while.ts';

export interface TurnWatchDeps {
  /** Which of these turns have ended, or are not the newest of their job any more. */
  endedTurns(turns: TurnRef[]): Promise<TurnRef[]>;
  everyMs?: number;
}

/** Watches a turn until it is disposed of; the signal aborts when the turn has ended. */
export type WatchTurn = (turn: TurnRef) => Disposable & { signal: AbortSignal };

/**
 * Asks the database for the turns that activities of this process work on, all in one query. A cancel is there at once, also
 * while Temporal is away or keeps the answer to a heartbeat back.
 */
export function createTurnWatch({ endedTurns, everyMs = 400 }: TurnWatchDeps): WatchTurn {
  const watched = new Map<AbortController, TurnRef>();
  // a database that is away for a moment is asked again
  const lookOn = repeatWhile(() => watched.size > 0, look, everyMs);

  async function look(): Promise<void> {
    const turns = new Map([...watched.values()].map((turn) => [nameOf(turn), turn]));
    const ended = new Set((await endedTurns([...turns.values()])).map(nameOf));
    for (const [controller, turn] of watched) if (ended.has(nameOf(turn))) controller.abort(turnEnded());
  }

  return (turn) => {
    const controller = new AbortController();
    watched.set(controller, turn);
    lookOn();
    return { signal: controller.signal, [Symbol.dispose]: () => void watched.delete(controller) };
  };
}

/** The failure of an activity whose turn is over. */
export function turnEnded(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'The turn has ended or a newer one began.',
    type: FailureType.Superseded,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN, // an expected end: no warning in the log
  });
}

function nameOf({ jobId, turn }: TurnRef): string {
  return `${jobId}/${turn}`;
}
