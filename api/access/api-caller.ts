import type { Caller } from '../../db/caller.ts';
import type { KeyKind } from '../../db/organizations/keys.ts';

/** Who a request acts for: a key, or the session of the dashboard that stands for it. */
export interface ApiCaller extends Caller {
  keyId: string;
  kind: KeyKind;
}
