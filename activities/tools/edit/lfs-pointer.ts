import { ToolProblem } from '../tool-problem.ts';

/** The specification bounds the size of a pointer. */
const maxBytes = 1_024;
const pointer = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n[^]*^oid /m;

/** Refuses to change a pointer of Git LFS: a checkout would then no longer find the content of the file. */
export function checkNoPointer(shown: string, bytes: Uint8Array): void {
  if (bytes.length >= maxBytes || !pointer.test(Buffer.from(bytes).toString('latin1'))) return;
  throw new ToolProblem(
    `${shown} is only a pointer of Git LFS: its content is elsewhere and cannot be read or changed here.`,
  );
}
