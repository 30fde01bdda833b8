import { AsyncLocalStorage } from 'node:async_hooks';
import { createKnownScrubber } from './known-scrubber.ts';
import { createRedactor } from './redactor.ts';

/** Functions that remove secrets from texts. */
export interface SecretMasks {
  /** See `createRedactor`. */
  redact(text: string): string;
  /**
   * Redacts only the known secrets, for transcripts. Text that merely looks like a credential is left alone: masking it
   * in what the model reads or writes would also mask it in the repository's files.
   */
  mask(text: string): string;
  /** The same for inputs of tools, which run as they are stored: here, secrets that are plain words stay, too. */
  maskInput(text: string): string;
}

/** A fixed set of secrets, with its masks. */
export interface MaskedSecrets extends SecretMasks {
  readonly values: readonly string[];
}

/**
 * The secrets that a process must never store or disclose. Those of a project are known only in work for that project:
 * elsewhere, they would alter the texts of others and so reveal what they are. Outside any work, all are known.
 */
export interface KnownSecrets extends SecretMasks {
  /** Adds a secret of the process, which is redacted in all work. */
  add(secret: string): void;
  /** Adds secrets of a project. From then on, the current work knows everything that was ever added for this project. */
  learn(projectId: string, secrets: readonly string[]): void;
  /** Runs work that knows no project's secrets until it calls `learn`. */
  during<Result>(work: () => Result): Result;
  /** Returns the secrets that the current work knows so far, for callbacks that may run outside of it. */
  here(): MaskedSecrets;
  /** Redacts all secrets, in logs and traces: only the operator reads them. */
  redactLog(text: string): string;
}

/** Work in progress, and the masks that it used last. */
interface Work {
  projects: Set<string>;
  latest: { version: number; masks: MaskedSecrets } | null;
}

/** Generated passwords of letters alone are longer. */
const plainWord = /^[a-z]{1,14}$/;

/** Starts with the secrets of the process; those of projects are added when they are read. */
export function createKnownSecrets(initial: readonly string[]): KnownSecrets {
  const own = new Set(initial);
  const all = new Set(initial);
  const ofProjects = new Map<string, Set<string>>();
  const works = new AsyncLocalStorage<Work>();
  const built = new Map<string, MaskedSecrets>();
  /** Grows with what any work may know. */
  let version = 0;

  /** Builds the masks of a set of secrets only when it has grown. */
  function masksOf(key: string, secrets: ReadonlySet<string>): MaskedSecrets {
    const known = built.get(key);
    if (known?.values.length === secrets.size) return known;
    const masks = createMasks([...secrets]);
    built.set(key, masks);
    return masks;
  }

  const masksOfAll = () => masksOf('all', all);

  function masksFor(projects: ReadonlySet<string>): MaskedSecrets {
    const ids = [...projects].toSorted();
    return masksOf(`of ${ids.join(' ')}`, new Set([...own, ...ids.flatMap((id) => [...(ofProjects.get(id) ?? [])])]));
  }

  function here(): MaskedSecrets {
    const work = works.getStore();
    if (work === undefined) return masksOfAll();
    if (work.latest?.version !== version) work.latest = { version, masks: masksFor(work.projects) };
    return work.latest.masks;
  }

  return {
    add(secret) {
      own.add(secret);
      all.add(secret);
      version += 1;
    },
    learn(projectId, secrets) {
      works.getStore()?.projects.add(projectId);
      const ofProject = ofProjects.get(projectId) ?? new Set();
      ofProjects.set(projectId, ofProject);
      for (const secret of secrets) {
        ofProject.add(secret);
        all.add(secret);
      }
      version += 1;
    },
    during: (work) => works.run({ projects: new Set(), latest: null }, work),
    here,
    redact: (text) => here().redact(text),
    mask: (text) => here().mask(text),
    maskInput: (text) => here().maskInput(text),
    redactLog: (text) => masksOfAll().redact(text),
  };
}

function createMasks(values: readonly string[]): MaskedSecrets {
  const mask = createKnownScrubber(values);
  const noWords = values.filter((value) => !plainWord.test(value));
  const maskInput = noWords.length === values.length ? mask : createKnownScrubber(noWords);
  return { values, mask, maskInput, redact: createRedactor(values, mask) };
}

/** Applies a mask to every text in a JSON value. */
export function maskDeep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskDeep(item, mask)]));
}
