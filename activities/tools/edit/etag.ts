import { z } from 'zod';
import { etagOf } from './text-file.ts';
import { ToolProblem } from '../tool-problem.ts';

export const etagSchema = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'is not an etag from read')
  .describe("The file's etag from read; the call is rejected if the file has changed since");

/** Throws ToolProblem when the etag is not that of the file; `bytes` is null when there is no file. */
export function checkEtag({
  shown,
  etag,
  bytes,
}: {
  shown: string;
  etag: string | undefined;
  bytes: Buffer | null;
}): void {
  if (etag === undefined) return;
  if (bytes === null)
    throw new ToolProblem(`${shown} does not exist, so it cannot have that etag. Nothing was changed.`);
  if (etagOf(bytes) !== etag) {
    throw new ToolProblem(`${shown} has changed since it had that etag; read it again. Nothing was changed.`);
  }
}
