import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { repeatWhile } from '../../lib/repeat-while.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';

export interface TurnWatchDeps {
  /** Returns which of these turns have ended or have been succeeded by a newer turn. */
  endedTurns(turns: TurnRef[]): Promise<TurnRef[]>;
  everyMs?: number;
}

/** Watches a turn until disposed; the signal aborts when the turn has ended. */
export type WatchTurn = (turn: TurnRef) => Disposable & { signal: AbortSignal };

/**
 * Polls the database for all turns that activities of this process work on, in one query. A cancellation is noticed at
 * once, even while Temporal is unreachable or delays its response to a heartbeat.
 */
export function createTurnWatch({ endedTurns, everyMs = 400 }: TurnWatchDeps): WatchTurn {
  const watched = new Map<AbortController, TurnRef>();
  // a database that is briefly unreachable is queried again
  const startPolling = repeatWhile(() => watched.size > 0, poll, everyMs);

  async function poll(): Promise<void> {
    const turns = new Map([...watched.values()].map((turn) => [nameOf(turn), turn]));
    const ended = new Set((await endedTurns([...turns.values()])).map(nameOf));
    for (const [controller, turn] of watched) if (ended.has(nameOf(turn))) controller.abort(turnEnded());
  }

  return (turn) => {
    const controller = new AbortController();
    watched.set(controller, turn);
    startPolling();
    return { signal: controller.signal, [Symbol.dispose]: () => void watched.delete(controller) };
  };
}

/** The failure of an activity whose turn has ended. */
export function turnEnded(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'The turn has ended or a newer one began.',
    type: FailureType.Superseded,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN, // expected, so it is not logged as a warning
  });
}

function nameOf({ jobId, turn }: TurnRef): string {
  return `${jobId}/${turn}`;
}
