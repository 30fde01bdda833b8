/** The organization whose rows a query may read or change. Every query that the API makes takes one. */
export interface Owner {
  organizationId: string;
}

/** A site; its id is valid in its organization only. */
export interface SiteRef extends Owner {
  id: string;
}

/** The author of a change, for the audit log. An operator at the command line has neither a key nor a session. */
export interface Caller extends Owner {
  keyId: string | null;
  sessionId: string | null;
}

/** The operator at the command line, acting for an organization. */
export function operatorOf({ organizationId }: Owner): Caller {
  return { organizationId, keyId: null, sessionId: null };
}

/** A store whose every method takes the organization first; a method that does not is `never`. */
export type OwnedStore<Store> = {
  [Name in keyof Store]: Store[Name] extends (...given: infer Given) => unknown
    ? Given extends [Owner, ...unknown[]]
      ? Store[Name]
      : never
    : Store[Name];
};
