import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { useReducer, useRef } from 'react';
import { answerOf, api } from '../http/client.ts';
import { useStream, type Connection, type StreamEvent } from '../http/event-stream.ts';
import type { JobEvent, JobPullRequest, Step, Turn } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import { withOutput, type CommandOutputs } from './timeline/command-outputs.ts';

export interface JobRef {
  projectId: string;
  id: string;
}

export function jobQuery({ projectId, id }: JobRef) {
  return queryOptions({
    queryKey: ['job', id],
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/job/{id}', { params: { path: { projectId, id } } })),
  });
}

/** Returns the query for the pull requests of a job. They are loaded again when the state of the one that is seen changes. */
export function pullRequestsQuery(
  { projectId, id }: JobRef,
  seen: Pick<JobPullRequest, 'id' | 'state' | 'draft'> | null,
) {
  return queryOptions({
    queryKey: ['job-pull-requests', id, seen?.id, seen?.state, seen?.draft],
    queryFn: async () => {
      const params = { path: { projectId, id } };
      return (await answerOf(api.GET('/v2/agent/{projectId}/job/{id}/pull-requests', { params }))).pullRequests;
    },
    enabled: seen !== null,
    placeholderData: keepPreviousData,
  });
}

/** Returns the query for a job as lists show it, with the branch and size of the change that its last turn left; null if it was deleted. */
export function listedJobQuery(id: string, endedAt: string | null) {
  return queryOptions({
    queryKey: ['listed-job', id, endedAt],
    queryFn: async () => {
      const { jobs } = await answerOf(api.GET('/v1/jobs', { params: { query: { q: id, limit: 1 } } }));
      return jobs[0] ?? null;
    },
  });
}

export function turnsQuery({ projectId, id }: JobRef) {
  return queryOptions({
    queryKey: ['job', id, 'turns'],
    queryFn: async ({ signal }): Promise<Turn[]> => {
      const turns: Turn[] = [];
      let after: number | null = 0;
      while (after !== null) {
        const page: { turns: Turn[]; nextAfter: number | null } = await answerOf(
          api.GET('/v2/agent/{projectId}/job/{id}/turns', {
            params: { path: { projectId, id }, query: { after } },
            signal,
          }),
        );
        turns.push(...page.turns);
        after = page.nextAfter;
      }
      return turns;
    },
  });
}

export const stepsPerPage = 100;

/** Returns the query for all steps. Steps that have ended are reused; only later ones are fetched again. */
export function stepsQuery({ projectId, id }: JobRef) {
  const queryKey = ['job', id, 'steps'];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<Step[]> => {
      const known = queryClient.getQueryData<Step[]>(queryKey) ?? [];
      const open = known.findIndex(({ endedAt }) => endedAt === null);
      const steps = open === -1 ? [...known] : known.slice(0, open);
      const last = steps.at(-1);
      let after: string | null = last === undefined ? '0.0' : `${last.turn}.${last.step}`;
      while (after !== null) {
        const page: { steps: Step[]; nextAfter: string | null } = await answerOf(
          api.GET('/v2/agent/{projectId}/job/{id}/steps', {
            params: { path: { projectId, id }, query: { after, limit: stepsPerPage } },
            signal,
          }),
        );
        steps.push(...page.steps);
        after = page.nextAfter;
      }
      return steps;
    },
  });
}

/** Returns the query for one step with the complete outputs of its tools. */
export function stepQuery({ projectId, id }: JobRef, { turn, step }: { turn: number; step: number }) {
  return queryOptions({
    queryKey: ['job', id, 'step', turn, step],
    queryFn: () =>
      answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}', {
          params: { path: { projectId, id, turn, step } },
        }),
      ),
  });
}

/** Returns the query for everything that the model read for a step. It does not change after the answer. */
export function stepPromptQuery({ projectId, id }: JobRef, { turn, step, answeredAt }: Step) {
  return queryOptions({
    queryKey: ['step-prompt', id, turn, step, answeredAt],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/prompt', {
          params: { path: { projectId, id, turn, step } },
          signal,
        }),
      ),
  });
}

interface PhaseMark {
  turn: number;
  phase: string;
  at: number;
}

/** Start of an attempt to get an answer from the model. */
export interface AttemptStart {
  attempt: number;
  at: number;
}

interface Notice {
  turn: number;
  /** Step that was about to begin. */
  step: number | null;
  text: string;
}

/** How a turn ended. */
export interface TurnEnd {
  turn: number;
  /** Title of its failure; null if it completed. */
  failure: string | null;
  isCancelled: boolean;
  title: string | null;
  message: string | null;
  prLink: string | null;
}

/** Data that only the events contain: the text of a running answer, the output of running commands, when phases and attempts began, notices, and ends of turns. */
export interface LiveOutput {
  words: Map<string, { attempt: number; text: string }>;
  phases: PhaseMark[];
  /** By step. */
  starts: Map<string, AttemptStart[]>;
  notices: Notice[];
  ends: TurnEnd[];
  outputs: CommandOutputs;
}

export function stepKeyOf({ turn, step }: { turn: number; step: number }): string {
  return `${turn}.${step}`;
}

/** Adds events to the state of the earlier ones. */
export function withEvents(live: LiveOutput, events: JobEvent[]): LiveOutput {
  let words = live.words;
  const marks: PhaseMark[] = [];
  let starts = live.starts;
  const notices: Notice[] = [];
  const ends: TurnEnd[] = [];
  let outputs = live.outputs;
  for (const event of events) {
    const { type, turn, step, data, createdAt } = event;
    outputs = withOutput(outputs, event);
    if (type === 'phase' && typeof data['phase'] === 'string') {
      marks.push({ turn, phase: data['phase'], at: Date.parse(createdAt) });
    }
    if (type === 'notice') notices.push({ turn, step, text: textOf(data['text']) ?? '' });
    if (type === 'finish' || type === 'failure') {
      const failure = type === 'failure' ? textOf(data['title']) : null;
      ends.push({
        turn,
        failure,
        isCancelled: data['category'] === 'cancelled',
        title: type === 'finish' ? textOf(data['title']) : null,
        message: textOf(data['message']),
        prLink: textOf(data['prLink']),
      });
    }
    if (step === null) continue;
    const key = stepKeyOf({ turn, step });
    const { attempt, offset, text } = data;
    // a new attempt discards the text of the earlier one; the text of earlier steps is stored
    if (type === 'step-start' && typeof attempt === 'number') {
      words = new Map([[key, { attempt, text: '' }]]);
      if (starts === live.starts) starts = new Map(starts);
      starts.set(key, [...(starts.get(key) ?? []), { attempt, at: Date.parse(createdAt) }]);
    }
    if (type === 'text' && typeof attempt === 'number' && typeof text === 'string' && typeof offset === 'number') {
      const known = words.get(key);
      const before = known?.attempt === attempt ? known.text.slice(0, offset) : '';
      words = new Map([[key, { attempt, text: before + text }]]);
    }
  }
  // an unchanged list stays the same object, so that a streaming text does not render the whole conversation
  const joined = <Item>(known: Item[], more: Item[]) => (more.length === 0 ? known : [...known, ...more]);
  return {
    words,
    phases: joined(live.phases, marks),
    starts,
    notices: joined(live.notices, notices),
    ends: joined(live.ends, ends),
    outputs,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export const noOutput: LiveOutput = {
  words: new Map(),
  phases: [],
  starts: new Map(),
  notices: [],
  ends: [],
  outputs: new Map(),
};

/**
 * Follows a job from its first event. Data that the events announce is read from the API. The events end with a turn; a
 * new `round` resumes them for the next one.
 */
export function useLiveJob(ref: JobRef, round: number): LiveOutput & { connection: Connection } {
  const [live, add] = useReducer(withEvents, noOutput);
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  const take = (events: StreamEvent[]) => {
    const parsed = events.flatMap(({ data }) => (data === '' ? [] : [parseEvent(data)]));
    if (parsed.length === 0) return;
    add(parsed);
    if (parsed.every(({ type }) => type === 'text' || type === 'output')) return;
    waiting.current ??= setTimeout(() => {
      waiting.current = null;
      void queryClient.invalidateQueries({ queryKey: ['job', ref.id] });
    }, 150);
  };
  const connection = useStream(`/v2/agent/${ref.projectId}/job/${ref.id}/events`, take, round);
  return { ...live, connection };
}

function parseEvent(data: string): JobEvent {
  return JSON.parse(data);
}
