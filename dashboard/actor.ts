import type { ListedJob } from './http/types.ts';
import { headline, plain } from './plain.ts';

/** Returns the name of the author of a change; null when the audit log does not have it. */
export function nameOfActor(actor: ListedJob['startedBy']): string | null {
  if (actor === null) return null;
  return actor.name === null ? 'the operator' : headline(plain(actor.name), 60);
}
