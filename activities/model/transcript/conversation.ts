import { ApplicationFailure } from '@temporalio/activity';
import type { JobContext, JobContextStore, JobNote } from '../../../db/for-worker/job-context.ts';
import type { NoteKind } from '../../../db/jobs/bundle-schema.ts';
import { isPlanning } from '../../../db/jobs/jobs.ts';
import type { PriceBook } from '../../../models/prices.ts';
import type { ModelCall, StepRef } from '../../../workflows/contract/job.ts';
import { FailureType } from '../../../workflows/contract/failures.ts';
import { commandNoteOf } from '../../tools/command-notes.ts';
import type { Commands } from '../../tools/commands.ts';
import type { CompactionCall } from './compaction.ts';
import type { AddGuidance } from '../guidance.ts';
import type { JobWithProject } from '../../job/granted-access.ts';
import { systemPrompt } from '../agent-prompt.ts';
import { findLoop, firstToWatch, loopSentence, nudgeOf } from '../loop-guard.ts';
import { conversationOf, estimateTokens, type Transcript } from './transcript.ts';
import type { JobTranscript, TranscriptReader } from './read-transcript.ts';

export interface ConversationDeps {
  context: Pick<JobContextStore, 'addNote'>;
  transcripts: Pick<TranscriptReader, 'read'>;
  compact(call: CompactionCall): Promise<void>;
  prices: Pick<PriceBook, 'windowOf'>;
  addGuidance: AddGuidance;
  commands: Commands;
}

export interface ConversationCall {
  call: ModelCall;
  /** The fence of the attempt. */
  fence: number;
  job: JobWithProject;
  signal: AbortSignal;
}

/** Notes that are given once per turn, and again after a compaction. */
const oncePerTurn = new Set<NoteKind>(['check', 'no-commands', 'planning']);
/** A request that fills more of the context window is compacted first. */
const fullShare = 0.8;
/** The agent gets a note when this many calls remain. */
const fewCalls = 5;

/** Steps after which an agent has followed a hint, so that it gets another one. */
const heededSteps = 20;

export type Conversation = ReturnType<typeof createConversation>;

/** Creates the part that keeps a job's conversation within its limits. All its decisions derive from stored data. */
export function createConversation(deps: ConversationDeps) {
  const { context, transcripts, compact, prices, addGuidance, commands } = deps;

  async function noted(at: ConversationCall, transcript: JobTranscript): Promise<JobTranscript> {
    const { jobId, turn, step } = at.call;
    const due: (JobNote & { notice?: string })[] = notesDue(at, transcript);
    const hasNoteOfTurn = transcript.notes.some((note) => note.turn === turn && oncePerTurn.has(note.kind));
    const note = hasNoteOfTurn ? null : isPlanning(at.job) ? planningNote : commandNoteOf(commands, at.job.project);
    const wasNotified = transcript.compaction?.turn === turn;
    if (note !== null) due.push({ turn, step, ...note, ...(wasNotified && { notice: undefined }) });
    for (const note of due) await context.addNote({ jobId, ...note });
    const hasNewGuidance = await addGuidance({
      ...at,
      folders: transcript.instructions.folders,
      ref: { jobId, turn, step },
      transcript,
    });
    return due.length === 0 && !hasNewGuidance ? transcript : transcripts.read(at.call);
  }

  async function shortened({ call, fence, job, signal }: ConversationCall, transcript: Transcript, window: number) {
    const { jobId, turn, step } = call;
    await compact({ step: { jobId, turn, step, fence }, job, transcript, window, signal });
    return transcripts.read(call);
  }

  return {
    /**
     * Returns the conversation for a call, after storing the notes and the compaction that are due. Throws when the agent
     * is stopped for repeating itself. `read` is the context of the call as just read; null for none.
     */
    async forCall(call: ConversationCall, read: JobContext | null): Promise<JobTranscript> {
      const transcript = await noted(call, await transcripts.read(call.call, read));
      const window = prices.windowOf(call.job.model);
      const isNew = transcript.compaction?.turn === call.call.turn && transcript.compaction.step === call.call.step;
      const tokens = tokensOf(transcript, call.job);
      if (isNew || tokens <= window * fullShare) return transcript;
      return shortened(call, transcript, window);
    },

    /**
     * Returns a shorter conversation after the provider rejected one as too long. Throws when nothing is left to omit.
     */
    shortened(call: ConversationCall, transcript: JobTranscript): Promise<JobTranscript> {
      // the context window is smaller than assumed
      const tokens = tokensOf(transcript, call.job);
      return shortened(call, transcript, Math.min(prices.windowOf(call.job.model), tokens * fullShare));
    },
  };
}

function tokensOf(transcript: JobTranscript, { model }: Pick<JobWithProject, 'model'>): number {
  return estimateTokens(conversationOf(transcript, { model }), systemPrompt(transcript.instructions));
}

function notesDue(at: Pick<ConversationCall, 'call' | 'job'>, transcript: Transcript): JobNote[] {
  const { call } = at;
  const { turn, step, callsLeft = Infinity, lastBefore = null } = call;
  const has = (kind: NoteKind) => transcript.notes.some((note) => note.kind === kind && isOf(note, call));
  const due: JobNote[] = [];
  const add = (kind: NoteKind, text: string) => {
    if (!has(kind)) due.push({ turn, step, kind, text });
  };
  const nudge = has('nudge') ? null : nudgeDue(at, transcript);
  if (nudge !== null) add('nudge', nudge);
  if (lastBefore !== null) add('last-call', lastCallText);
  else if (callsLeft === fewCalls && step > 1) add('calls-left', fewCallsText);
  return due;
}

/** Checks the steps in which the agent may have repeated itself. */
function nudgeDue({ call, job }: Pick<ConversationCall, 'call' | 'job'>, transcript: Transcript): string | null {
  const { prompts, steps, notes } = transcript;
  const first = firstToWatch(call.turn, job, prompts);
  const loop = findLoop(steps.filter(({ turn, step }) => turn === call.turn && step >= first));
  if (loop === null) return null;
  const since = Math.max(first, call.step - heededSteps);
  const wasNudged = notes.some((note) => note.kind === 'nudge' && note.turn === call.turn && note.step > since);
  if (wasNudged) throw ApplicationFailure.nonRetryable(loopSentence(loop), FailureType.NoProgress);
  return nudgeOf(loop);
}

function isOf(note: JobNote, { turn, step }: StepRef): boolean {
  return note.turn === turn && note.step === step;
}

const planningNote = {
  kind: 'planning',
  text: 'This turn only plans: no tool changes a file. Look at everything that the task touches, then call finish with the plan. A person reads it and approves, changes or rejects it before anything is changed.',
} as const;
const fewCallsText = `You have ${fewCalls} answers left in this turn, this one included. Do what matters most first, and leave the files in a state that can be used.`;
const lastCallText =
  'This is your last answer before a limit of this turn; no tool but finish can be called. Call finish now. Set complete to true when everything that was asked for is done; otherwise set it to false and name in the summary what is left.';
