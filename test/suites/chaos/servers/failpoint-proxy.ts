import { setTimeout as delay } from 'node:timers/promises';
import { ForgeError } from '../../../../activities/forges/forge.ts';
import type { GitCall, GitSequence } from '../../../../activities/git/git.ts';
import type { Edge, FailpointFile } from '../failpoint-file.ts';
import { GitError } from '../../../../activities/git/git-error.ts';

type Part = Record<string, unknown>;
type Callable = (...args: unknown[]) => unknown;

const delayMs = 2_500;

/** The error that a caller gets when the connection to a part is lost. */
const losses: Record<string, () => Error> = {
  stores: () => new Error('Connection terminated unexpectedly'),
  git: () => new GitError('unreachable'),
  forge: () => new ForgeError('unavailable', 'The forge did not answer.'),
  model: () => Object.assign(new TypeError('fetch failed'), { code: 'ECONNRESET' }),
  client: () => Object.assign(new Error('14 UNAVAILABLE: connection lost'), { code: 14, details: '', metadata: {} }),
  workspaces: () => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }),
  activities: () => new Error('The activity was lost.'),
};

/** Functions that do no I/O: their results are wrapped instead of the functions. */
export const immediate = new Set([
  'forProject',
  'checkVersion',
  'credential',
  'credentialOf',
  'languageModel',
  'problemWith',
  'getHandle',
  'openJob',
  'withDeadline',
]);

/**
 * Wraps the parts of a process. Each function of a part is a place with two edges; the places follow from the parts, so a
 * new store write or activity gets its place automatically.
 */
export function createFailpoints(owner: 'api' | 'worker', file: FailpointFile) {
  const listed = new Set<string>();

  return function instrument<Wrapped extends object>(kind: string, part: Wrapped): Wrapped {
    if (kind === 'stores') return eachOf(part, (name, store) => wrap('stores', name, store)) as Wrapped;
    if (kind === 'clients') return part; // its parts have their own places
    if (kind === 'client') return clientOf(part as Part) as Wrapped;
    return wrap(kind, kind === 'workspaces' ? 'workspaces' : kind, part as Part) as Wrapped;
  };

  function eachOf(parts: object, change: (name: string, part: Part) => unknown): object {
    return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(name, part as Part)]));
  }

  /** Only the calls that Temporal's client makes over the network. */
  function clientOf(client: Part): Part {
    const workflow = wrap('client', 'temporal', client['workflow'] as Part, new Set(['start', 'signalWithStart']));
    return new Proxy(client, {
      get: (target, key) => (key === 'workflow' ? workflow : bound(target, key)),
    });
  }

  function wrap(kind: string, prefix: string, part: Part, only: Set<string> | null = null): Part {
    const names = Object.keys(part).filter((key) => typeof part[key] === 'function' && !immediate.has(key));
    list([...(only ?? names)].map((key) => `${prefix}.${key}`));
    return new Proxy(part, {
      get(target, key) {
        const value = bound(target, key);
        if (typeof value !== 'function' || typeof key !== 'string') return value;
        const call = value as Callable;
        if (key === 'forProject') return (...args: unknown[]) => wrap('forge', 'forge', call(...args) as Part);
        if (key === 'languageModel')
          return (...args: unknown[]) => wrap('model', 'model', call(...args) as Part, new Set(['doStream']));
        if (immediate.has(key) || only?.has(key) === false) return value;
        return (...args: unknown[]) => pass(kind, placeOf(prefix, key, args), () => call(...args));
      },
    });
  }

  function list(places: string[]): void {
    const unlisted = places.filter((place) => !listed.has(place));
    for (const place of unlisted) listed.add(place);
    file.list(unlisted.map((place) => `${owner}/${place}`));
  }

  async function pass(kind: string, name: string, work: () => unknown): Promise<unknown> {
    const place = `${owner}/${name}`;
    file.trace(place);
    await act(kind, place, 'before');
    const result = await work();
    await act(kind, place, 'after');
    return result;
  }

  async function act(kind: string, place: string, edge: Edge): Promise<void> {
    switch (file.pass(place, edge)) {
      case 'kill':
        process.kill(process.pid, 'SIGKILL');
        return new Promise(() => undefined);
      case 'lose':
        throw losses[kind]!();
      case 'delay':
        await delay(delayMs);
        return;
      case 'halt':
        process.kill(process.pid, 'SIGSTOP'); // the suite resumes it
        return;
      default:
    }
  }
}

function bound(target: object, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key, target);
  return typeof value === 'function' ? (value as Callable).bind(target) : value;
}

/** Commands of git are separate places: `git.push`, `git.fetch`. A sequence is named after its first command. */
function placeOf(prefix: string, key: string, args: unknown[]): string {
  if (prefix !== 'git') return `${prefix}.${key}`;
  const words = key === 'runAll' ? ((args[0] as GitSequence).commands[0]?.args ?? []) : (args[0] as GitCall).args;
  const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '-c');
  return `git.${command ?? key}`;
}
