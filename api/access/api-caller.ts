import type { Caller } from '../../db/caller.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { KeyKind, KeyRules } from '../../db/organizations/keys.ts';
import type { Role } from '../../lib/roles.ts';

/** Caller of a request: a key, or a dashboard session that acts as one. */
export interface ApiCaller extends Caller {
  keyId: string;
  kind: KeyKind;
  /** Limits what the caller may do where an admin key or a session is required. */
  role: Role;
  /** Rules of its key; absent for a session. */
  rules?: KeyRules;
  /** The site that the path of its request names, if it has been looked up; null when there is none. */
  site?: Promise<SiteRow | null>;
}
