import { createHash } from 'node:crypto';
import type { ServerTool } from './mcp-session.ts';

/** Returns a hash of what a server says about a tool, which changes when the tool does. */
export function hashOfTool({ name, description, inputSchema, annotations }: ServerTool): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted([name, description, inputSchema, annotations])))
    .digest('hex');
}

/** Sorts the fields of all objects, because a server may list them in any order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}
