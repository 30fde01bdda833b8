import { actorOf, turnEnderOf, type Actor } from '../organizations/actors.ts';
import type { ImageRef } from './job-images.ts';
import { isJobOf } from './job-statements.ts';

/** A message that was sent to a job during a turn. */
interface TimelineMessage {
  position: number;
  /** The step that was the first to read it; null while it waits. */
  step: number | null;
  prompt: string;
  images: ImageRef[];
  createdAt: string;
  /** Null when the audit log does not have it. */
  sentBy: Actor | null;
}

export interface TimelineTurn {
  turn: number;
  prompt: string;
  images: ImageRef[];
  status: 'active' | 'completed' | 'failed';
  createdAt: Date;
  endedAt: Date | null;
  /** Commit that the turn's changes are compared with; null until it is known. */
  baseCommit: string | null;
  /** Commit that the turn pushed last; null when it pushed nothing. */
  headCommit: string | null;
  messages: TimelineMessage[];
  /** The author of its prompt, or of the approval that started it; null when the audit log does not have it. */
  startedBy: Actor | null;
  /** Who cancelled it or rejected its plan; null when nobody did. */
  endedBy: Actor | null;
}

/** A change of job $1 of organization $4. */
const ofJob = { organization: '$4', subject: '$1' };
const by = (at: string) => ({ ...ofJob, at });
/** Who ended a turn, or the wait after it. Entries about cancelled jobs did not always name the turn. */
const endedBy = `coalesce(${turnEnderOf({ ...ofJob, turn: 'turns.turn' })}, ${actorOf(
  by('(select case when jobs.turn = turns.turn then jobs.ended_at else turns.ended_at end from jobs where id = $1)'),
)})`;

/** Selects the turns of a job ($1) of an organization ($4) after one ($2), at most $3, each with its messages. */
export const turnRows = `
  select turn, prompt, images, status, created_at as "createdAt", ended_at as "endedAt", base_commit as "baseCommit", (
           select result ->> 'commit' from job_effects as pushes
           where pushes.job_id = turns.job_id and pushes.turn = turns.turn and effect = 'push'
         ) as "headCommit", coalesce((
           select jsonb_agg(jsonb_build_object('position', position, 'step', step, 'prompt', said.prompt, 'images', said.images,
                                               'createdAt', said.created_at, 'sentBy', ${actorOf(by('said.created_at'))}) order by position)
           from job_messages as said where said.job_id = turns.job_id and said.turn = turns.turn
         ), '[]') as messages, ${actorOf(by('turns.created_at'))} as "startedBy", ${endedBy} as "endedBy"
  from job_turns as turns
  where job_id = $1 and turn > $2 and ${isJobOf('$1', '$4')} order by turn limit $3`;
