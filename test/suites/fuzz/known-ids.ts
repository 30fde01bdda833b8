import type { Random } from '../chaos/plans/random.ts';
import type { FuzzAnswer } from './check-answer.ts';

/** A resource that a response named. */
interface Known {
  id: string;
  /** Of the address that was answered. */
  projectId: string | null;
  webhookId: string | null;
}

export interface KnownIds {
  /** Collects the ids in a response, for later requests. */
  learn(path: string, answer: FuzzAnswer): void;
  /** One of a kind of id, by its first letters; null while none is known. */
  pick(prefix: string, random: Random, fits?: (known: Known) => boolean): Known | null;
  /** The newest of a kind. */
  newest(prefix: string, count: number): string[];
  any(random: Random): string | null;
}

/** Of each kind of id, the newest are asked for. */
const maxKnown = 200;
const maxAnswerLength = 100_000;

export function createKnownIds(): KnownIds {
  const known = new Map<string, Known[]>();
  const of = (prefix: string) => known.get(prefix) ?? [];

  return {
    learn(path, { status, text }) {
      if (status >= 300 || text.length > maxAnswerLength) return;
      const projectId = /^\/v2\/agent\/(prj_[0-9a-z]+)\//.exec(path)?.[1] ?? null;
      const webhookId = /\/webhooks\/(whk_[0-9a-z]+)\//.exec(path)?.[1] ?? null;
      for (const [id, prefix = ''] of text.matchAll(/\b(job_|whk_|dlv_|thr_|prj_|pr_|gap_)[0-9a-z]{20,40}\b/g)) {
        const ids = of(prefix).filter((one) => one.id !== id || one.projectId !== null);
        if (ids.some((one) => one.id === id)) continue;
        known.set(prefix, [...ids, { id, projectId, webhookId }].slice(-maxKnown));
      }
    },
    pick(prefix, random, fits = () => true) {
      const some = of(prefix).filter(fits);
      return some.length === 0 ? null : random.pick(some);
    },
    newest: (prefix, count) =>
      of(prefix)
        .slice(-count)
        .map(({ id }) => id),
    any(random) {
      const all = [...known.values()].flat();
      return all.length === 0 ? null : random.pick(all).id;
    },
  };
}
