import type { Caller } from '../../db/caller.ts';
import type { KeyKind, KeyOrigins } from '../../db/organizations/keys.ts';

/** Caller of a request: a key, or a dashboard session that acts as one. */
export interface ApiCaller extends Caller {
  keyId: string;
  kind: KeyKind;
  /** Where its key may be used; absent for a session. */
  origins?: KeyOrigins;
}
