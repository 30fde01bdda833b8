import type { McpHeader } from '../../db/organizations/project-tools.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';

/** Registers the headers of a server for redaction, also without a scheme such as `Bearer`, and returns them. */
export function learnHeaders(secrets: Pick<KnownSecrets, 'add'>, headers: readonly McpHeader[] = []): McpHeader[] {
  for (const { value } of headers) {
    secrets.add(value);
    const credential = /^[A-Za-z]+ +(\S{6,})$/.exec(value)?.[1];
    if (credential !== undefined) secrets.add(credential);
  }
  return [...headers];
}
