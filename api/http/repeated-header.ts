import type { IncomingMessage } from 'node:http';

/** Reports whether a header field occurs more than once. Node uses the first; a proxy may have used another one. */
export function hasSeveral({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, field: string): boolean {
  let count = 0;
  for (let position = 0; position < rawHeaders.length; position += 2) {
    const name = rawHeaders[position];
    if (name?.length === field.length && name.toLowerCase() === field) count += 1;
  }
  return count > 1;
}
