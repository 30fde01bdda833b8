import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { NoteKind } from '../../db/jobs/bundle-schema.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { folderGuidance } from './agent-prompt.ts';
import { parseAgentPath } from '../tools/files/agent-path.ts';
import { ToolProblem } from '../tools/tool-problem.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { readGuidance } from './instructions.ts';
import { baseOf, type JobAccess } from '../job/job-access.ts';
import type { Transcript } from './transcript/transcript.ts';

export interface GuidanceDeps {
  context: Pick<JobContextStore, 'addNote'>;
  access: Pick<JobAccess, 'repositoryOf'>;
  workspaces: Pick<Workspaces, 'readFile'>;
  maskSecrets(text: string): string;
}

interface GuidanceCall {
  ref: StepRef;
  job: JobRow;
  /** Paths of the guidance files in folders. */
  folders: readonly string[];
  transcript: Transcript;
  signal: AbortSignal;
}

/**
 * Stores notes from the nearest guidance files before the next call of the model; returns whether there are new ones.
 */
export type AddGuidance = (call: GuidanceCall) => Promise<boolean>;

/** Largest number of notes; more would leave no room for the work. The first ones that the agent reaches count. */
const maxNotes = 8;

/**
 * Creates the function that shows the agent the guidance of a folder once it works there: in files that a prompt names
 * or that its tools were called with. A note is stored before it is used, so that every attempt sends the same request.
 */
export function createGuidance(deps: GuidanceDeps): AddGuidance {
  const { context, access } = deps;
  return async ({ ref, job, folders, transcript, signal }) => {
    if (folders.length === 0) return false;
    const known = new Set<string>(
      transcript.notes.map(({ kind }) => kind).filter((kind) => kind.startsWith('guidance:')),
    );
    const nearest = nearestOf(placesIn(transcript), folders);
    const due = nearest.filter((path) => !known.has(kindOf(path))).slice(0, Math.max(0, maxNotes - known.size));
    let hasNewGuidance = false;
    for (const path of due) {
      const at = { access: await access.repositoryOf(job, signal), commit: baseOf(job).commit, path };
      const text = await readGuidance(deps, at);
      if (text === null || text.trim() === '') continue;
      await context.addNote({ ...ref, jobId: job.id, kind: kindOf(path), text: folderGuidance(path, text) });
      hasNewGuidance = true;
    }
    return hasNewGuidance;
  };
}

function kindOf(path: string): NoteKind {
  return `guidance:${path}`;
}

/** Returns the parts of every path that was mentioned, in order. */
function placesIn({ prompts, steps }: Transcript): string[][] {
  const words = prompts.flatMap(({ prompt }) => prompt.split(/[\s"'`“”‘’<>()[\]{},;]/u));
  const named = words.filter((word) => word.indexOf('/', 1) !== -1);
  const calls = steps.flatMap(({ response }) => response?.toolCalls ?? []).filter((call) => call.invalid === undefined);
  return [...named, ...calls.flatMap(({ input }) => pathsOf(input))].flatMap((path) => partsOf(path) ?? []);
}

function pathsOf(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return [];
  const given = Object.entries(input).filter(([field]) => ['path', 'from', 'to'].includes(field));
  return given.flatMap(([, value]) => (typeof value === 'string' ? [value] : []));
}

function partsOf(path: string): [string[]] | null {
  try {
    return [parseAgentPath(path).parts];
  } catch (error) {
    if (error instanceof ToolProblem) return null;
    throw error;
  }
}

/** Returns for each place the file in its folder or in the nearest folder above; the root's is in the prompt. */
function nearestOf(places: string[][], folders: readonly string[]): string[] {
  const fileIn = new Map(folders.map((path) => [path.slice(0, path.lastIndexOf('/')), path]));
  const found = places.map((parts) =>
    parts.map((_, at) => fileIn.get(parts.slice(0, parts.length - at).join('/'))).find((path) => path !== undefined),
  );
  return [...new Set(found.filter((path) => path !== undefined))];
}
