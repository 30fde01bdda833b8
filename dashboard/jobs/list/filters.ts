import { searchTexts } from '../../search-texts.ts';

export const states = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'archived'] as const;
export type JobState = (typeof states)[number];

const dayMs = 86_400_000;
/** Ages that the list can be limited to, in milliseconds. */
const ages = { hour: dayMs / 24, day: dayMs, week: 7 * dayMs, month: 30 * dayMs } as const;
export type Age = keyof typeof ages;
export const ageNames = ['hour', 'day', 'week', 'month'] as const satisfies Age[];

/** Filters in the address of the job list. */
export interface JobFilters {
  status?: JobState;
  project?: string;
  model?: string;
  /** Category of the failure. */
  failure?: string;
  /** Name of the person or key that started the job. */
  startedBy?: string;
  /** Only jobs that are at most this old. */
  age?: Age;
  order?: 'oldest';
  q?: string;
}

/** Reads the filters from an address and ignores anything invalid. */
export function readFilters(search: Record<string, unknown>): JobFilters {
  const status = states.find((name) => name === search['status']);
  const age = ageNames.find((name) => name === search['age']);
  return {
    ...(status && { status }),
    ...searchTexts(search, 'project', 'model', 'failure', 'startedBy', 'q'),
    ...(age && { age }),
    ...(search['order'] === 'oldest' && { order: 'oldest' }),
  };
}

/** Returns the time since which jobs of an age were created, in ISO format. */
export function createdSince(age: Age, now: number = Date.now()): string {
  return new Date(now - ages[age]).toISOString();
}
