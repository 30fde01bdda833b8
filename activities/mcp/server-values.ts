import type { ServerValue } from '../../db/organizations/project-tools.ts';

/** Returns the secrets in the headers or environment variables of a server: values, with and without a scheme such as `Bearer`. */
export function secretsOfValues(values: readonly ServerValue[]): string[] {
  return values.flatMap(({ value }) => {
    const credential = /^[A-Za-z]+ +(\S{6,})$/.exec(value)?.[1];
    return credential === undefined ? [value] : [value, credential];
  });
}
