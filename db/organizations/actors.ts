/** The author of a change. */
export interface Actor {
  /** Name of the person who was signed in, or of the key, or the id of the key; null for the operator. */
  name: string | null;
  /** Null for an operator at the command line. */
  keyId: string | null;
}

const name = 'coalesce(entries.person, left(keys.name, 200), entries.key_id)';
const entriesWithKeys = `
  audit_entries as entries left join api_keys as keys
    on keys.id = entries.key_id and keys.organization_id = entries.organization_id`;
const actor = `select jsonb_build_object('name', ${name}, 'keyId', entries.key_id) from ${entriesWithKeys}`;

/** SQL expressions for a change: its organization, the id of its object, and the time of its transaction. */
interface ChangeColumns {
  organization: string;
  subject: string;
  at: string;
}

/** Condition: the entry is that of a change, which has the time of the same transaction. A gap's job is in the details. */
const isEntryOf = ({ organization, subject, at }: ChangeColumns) => `
  entries.organization_id = ${organization} and entries.created_at = ${at}
  and (entries.subject = ${subject} or entries.details ->> 'jobId' = ${subject})`;

/** Selects the actor of a change; null when the audit log does not have it. */
export function actorOf(change: ChangeColumns): string {
  return `(${actor} where ${isEntryOf(change)} limit 1)`;
}

/** Condition: a change was made by an actor of this name. */
export function isByActor(change: ChangeColumns, named: string): string {
  return `exists (select from ${entriesWithKeys} where ${isEntryOf(change)} and ${name} = ${named})`;
}

/** Selects who cancelled a turn of a job or rejected its plan; null when the audit log names nobody. */
export function turnEnderOf({ organization, subject, turn }: Omit<ChangeColumns, 'at'> & { turn: string }): string {
  return `(
    ${actor} where entries.organization_id = ${organization} and entries.subject = ${subject}
      and entries.action in ('job.cancel', 'job.reject') and entries.details ->> 'turn' = ${turn}::text limit 1)`;
}

/** Selects the actor of the newest such action on an object; null when the audit log has none. */
export function newestActorOf({
  organization,
  subject,
  action,
}: Omit<ChangeColumns, 'at'> & { action: string }): string {
  return `(
    ${actor} where entries.organization_id = ${organization} and entries.subject = ${subject} and entries.action = '${action}'
    order by entries.created_at desc limit 1)`;
}
