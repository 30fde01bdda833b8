import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { ServerJob } from '../mcp/server-process.ts';
import type { ProjectGuidanceReader } from '../../db/for-worker/projects/project-guidance.ts';
import { pinTools, type PinDeps, type ServerNotice } from '../mcp/pinned-tools.ts';
import { commonHosts } from '../../lib/inputs/fetch-hosts.ts';
import type { PageNetwork } from '../tools/fetch/fetch-page.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { newestRules } from './agent-prompt.ts';
import { readBeginning } from './read-beginning.ts';
import { skillFileName, skillsIn } from './skills.ts';
import { hasInstructions, instructionsOf, noInstructions, type Instructions } from './stored-instructions.ts';

export interface InstructionDeps extends PinDeps {
  context: Pick<JobContextStore, 'addNote'>;
  effects: EffectStore;
  guidance: ProjectGuidanceReader;
  pages: Pick<PageNetwork, 'hosts'>;
  workspaces: Pick<Workspaces, 'readFile' | 'findFiles'>;
  maskSecrets(text: string): string;
}

/** The turn that begins. */
interface TurnStart {
  ref: TurnRef;
  firstStep: number;
  job: ServerJob & { project: Pick<ProjectRow, 'fetchHosts'> };
  commit: string;
  access: RepositoryAccess;
}

/** Names of the files in which a repository has its guidance, in order of preference. */
const guidanceFiles = ['AGENTS.md', 'CLAUDE.md'];
/** Largest part of the file in the root, and of one in a folder, in characters. */
const maxBytes = { root: 16 * 1024, folder: 8 * 1024 };
const maxFolders = 500;
const plainPath = /^[^\p{C}\p{Zl}\p{Zp}]{1,300}$/u;

/**
 * Stores the instructions and tools with a turn, so that every model call of it uses them and later changes to the files by the
 * agent have no effect. Those of the repository are read from the base commit of the first turn.
 */
export async function storeInstructions(
  deps: InstructionDeps,
  { ref, firstStep, job, commit, access }: TurnStart,
): Promise<void> {
  const { effects, context, guidance, pages, maskSecrets } = deps;
  const { project } = job;
  const effect = { ...ref, effect: 'instructions' };
  const { fence, result } = await effects.claim(effect);
  if (hasInstructions(result)) return;
  const first = ref.turn === 1 ? null : instructionsOf(await effects.result({ ...effect, turn: 1 }));
  // the same files as in the first turn, even if its project's skills took precedence then
  const found =
    first?.commit === null ? first : await readRepository(deps, { commit: first?.commit ?? commit, access });
  const { instructions, skills } = await guidance.read(project.id);
  const { tools, notices } = await pinTools(deps, { job, signal: access.signal });
  for (const notice of notices) await context.addNote({ ...ref, step: firstStep, ...noteOf(notice) });
  const fetchHosts = commonHosts(project.fetchHosts, pages.hosts);
  const unreached = hostNote(project.fetchHosts, fetchHosts);
  if (unreached !== null) await context.addNote({ ...ref, step: firstStep, ...unreached });
  const own = skills.map(({ name, description }) => ({ name, description: maskSecrets(description), path: null }));
  const ofFiles = found.skills.filter(({ name, path }) => path !== null && own.every((skill) => skill.name !== name));
  const contents = Object.fromEntries(skills.map(({ name, content }) => [name, maskSecrets(content)]));
  await storeContents(effects, ref, contents);
  const stored: Instructions = {
    ...found,
    project: instructions === null ? null : maskSecrets(instructions),
    skills: [...own, ...ofFiles],
    tools,
    fetchHosts,
    rules: newestRules,
  };
  await effects.storeResult({ ...effect, fence, result: stored });
}

/** Tells the agent and the job's watchers about a server that cannot be used. */
function noteOf({ server, problem, detail }: ServerNotice) {
  const text = `The MCP server ${server} ${problem}.`;
  // what the server wrote is not for the agent, to whom it could give orders
  const notice = detail === undefined ? text : `${text} It wrote: ${detail}`;
  return { kind: `mcp:${server}` as const, text, notice };
}

/** Tells about hosts of a project that the operator does not allow, or only in part. */
function hostNote(wanted: readonly string[], allowed: readonly string[]) {
  const unreached = wanted.filter((host) => !allowed.includes(host));
  if (unreached.length === 0) return null;
  const text = `Some or all web pages of ${unreached.join(', ')} cannot be fetched: DOCKET_FETCH_HOSTS of the worker does not list them.`;
  return { kind: 'fetch-hosts' as const, text, notice: text };
}

/** Apart from the instructions, because every call of the model reads those. */
async function storeContents(effects: EffectStore, ref: TurnRef, contents: Record<string, string>): Promise<void> {
  if (Object.keys(contents).length === 0) return;
  const effect = { ...ref, effect: 'skills' };
  const { fence } = await effects.claim(effect);
  await effects.storeResult({ ...effect, fence, result: contents });
}

async function readRepository(
  deps: InstructionDeps,
  { commit, access }: { commit: string; access: RepositoryAccess },
): Promise<Instructions> {
  const files = await deps.workspaces.findFiles({ ...access, commit, names: [...guidanceFiles, skillFileName] });
  const found = preferred(files.filter((path) => plainPath.test(path)));
  const file = guidanceFiles.find((name) => found.includes(name)) ?? 'AGENTS.md';
  const folders = found.filter((path) => path.includes('/')).slice(0, maxFolders);
  const text = found.includes(file) ? await readGuidance(deps, { access, commit, path: file }) : null;
  return { ...noInstructions, text, file, folders, commit, skills: await skillsIn(deps, { access, commit, files }) };
}

/** Returns the guidance files, one of each folder. */
function preferred(files: string[]): string[] {
  const known = new Set(files);
  return files.filter((path) => {
    const [name = '', folder] = [path.split('/').at(-1), path.slice(0, path.lastIndexOf('/') + 1)];
    const rank = guidanceFiles.indexOf(name);
    return rank !== -1 && guidanceFiles.slice(0, rank).every((better) => !known.has(`${folder}${better}`));
  });
}

/** Returns one guidance file of a commit, redacted and truncated; null when the commit has no such file. */
export async function readGuidance(
  deps: { workspaces: Pick<Workspaces, 'readFile'>; maskSecrets(text: string): string },
  at: { access: RepositoryAccess; commit: string; path: string },
): Promise<string | null> {
  return readBeginning(deps, { ...at, max: at.path.includes('/') ? maxBytes.folder : maxBytes.root });
}
