import { z } from 'zod';
import type { ToolContext } from '../agent-tool.ts';
import { etagOf } from './text-file.ts';
import { ToolProblem } from '../tool-problem.ts';

export const etagSchema = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'is not an etag from read')
  .describe("The file's etag from read; the call is rejected if the file has changed since");

/**
 * Throws ToolProblem when the etag is neither that of the file nor the one before changes of the same answer; `bytes` is null
 * when there is no file.
 */
export function checkEtag(
  { shown, etag, bytes }: { shown: string; etag: string | undefined; bytes: Buffer | null },
  { formerEtags }: Pick<ToolContext, 'formerEtags'>,
): void {
  if (etag === undefined) return;
  if (bytes === null)
    throw new ToolProblem(`${shown} does not exist, so it cannot have that etag. Nothing was changed.`);
  const current = etagOf(bytes);
  if (current === etag || formerEtags?.get(current) === etag) return;
  throw new ToolProblem(`${shown} has changed since it had that etag; read it again. Nothing was changed.`);
}

/** Lets later calls of the same answer name a file that this one has changed by the etag that it had. */
export function keepEtag(
  { etag, bytes }: { etag: string | undefined; bytes: Uint8Array },
  { formerEtags }: Pick<ToolContext, 'formerEtags'>,
): void {
  if (etag !== undefined) formerEtags?.set(etagOf(bytes), etag);
}
