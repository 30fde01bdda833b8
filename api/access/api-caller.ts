import type { Caller } from '../../db/caller.ts';
import type { KeyKind, KeyRules } from '../../db/organizations/keys.ts';

/** Caller of a request: a key, or a dashboard session that acts as one. */
export interface ApiCaller extends Caller {
  keyId: string;
  kind: KeyKind;
  /** Rules of its key; absent for a session. */
  rules?: KeyRules;
}
