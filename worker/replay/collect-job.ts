import type { JobPiece, PieceOf } from '../../db/jobs/job-pieces.ts';

/** What was read of a job, in order. */
export interface CollectedJob {
  job: PieceOf<'job'>;
  turns: PieceOf<'turn'>[];
  messages: PieceOf<'message'>[];
  notes: PieceOf<'note'>[];
  compactions: PieceOf<'compaction'>[];
  effects: PieceOf<'effect'>[];
  events: PieceOf<'event'>[];
  exports: PieceOf<'export'>[];
  histories: PieceOf<'history'>[];
  steps: PieceOf<'step'>[];
}

/** Gathers the pieces of a job, without its snapshots; null when there are none. */
export async function collectJob(pieces: AsyncIterable<JobPiece>): Promise<CollectedJob | null> {
  let collected: CollectedJob | null = null;
  for await (const piece of pieces) {
    if (collected !== null) note(collected, piece);
    else if (piece.piece === 'job') collected = emptyOf(piece);
  }
  return collected;
}

function emptyOf(job: PieceOf<'job'>): CollectedJob {
  return {
    job,
    turns: [],
    messages: [],
    notes: [],
    compactions: [],
    effects: [],
    events: [],
    exports: [],
    histories: [],
    steps: [],
  };
}

function note(job: CollectedJob, piece: JobPiece): void {
  switch (piece.piece) {
    case 'job':
      return;
    case 'turn':
      return void job.turns.push(piece);
    case 'message':
      return void job.messages.push(piece);
    case 'note':
      return void job.notes.push(piece);
    case 'compaction':
      return void job.compactions.push(piece);
    case 'effect':
      return void job.effects.push(piece);
    case 'event':
      return void job.events.push(piece);
    case 'export':
      return void job.exports.push(piece);
    case 'history':
      return void job.histories.push(piece);
    case 'step':
      return void job.steps.push(piece);
    case 'snapshot':
    case 'pack':
      return;
    default:
      piece satisfies never;
  }
}
