import type { ServerValue } from '../../db/organizations/project-tools.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';

/**
 * Registers the headers or environment variables of a server for redaction, also without a scheme such as `Bearer`, and
 * returns them.
 */
export function learnValues(secrets: Pick<KnownSecrets, 'add'>, values: readonly ServerValue[] = []): ServerValue[] {
  for (const { value } of values) {
    secrets.add(value);
    const credential = /^[A-Za-z]+ +(\S{6,})$/.exec(value)?.[1];
    if (credential !== undefined) secrets.add(credential);
  }
  return [...values];
}
