import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { agentPathOf, type AgentPath } from './agent-path.ts';
import { openFile, openFolder, resolveLinks, statIn, type Folder } from './beneath.ts';
import type { ToolContext } from '../agent-tool.ts';
import { maxFileBytes } from '../edit/text-file.ts';
import { ToolProblem, problemOf } from '../tool-problem.ts';

/** Returns the folder of a path and its name there. Throws ToolProblem for the root itself. */
export function splitPath(path: AgentPath): { parent: AgentPath; name: string } {
  const name = path.parts.at(-1);
  if (name === undefined) throw new ToolProblem('The root of the repository is a folder, not a file.');
  return { parent: agentPathOf(path.parts.slice(0, -1)), name };
}

/** Returns a note for the output when a changed file stays out of the pull request; empty otherwise. */
export async function leftOutNote(path: AgentPath, { leftOut }: Pick<ToolContext, 'leftOut'>): Promise<string> {
  switch ((await leftOut?.(path.parts.join('/'))) ?? null) {
    case 'ignored':
      return (
        `\nGit ignores ${path.shown}: it is not part of the pull request and may be gone at a later step. ` +
        'If it belongs to the change, use another path or change .gitignore.'
      );
    case 'submodule':
      return `\n${path.shown} is in a submodule, which is another repository: it is not part of the pull request.`;
    case null:
      return '';
  }
}

/** Reads a file, through symbolic links as long as they stay in the tree. Throws ToolProblem. */
export async function readThroughLinks(root: string, path: AgentPath): Promise<Buffer> {
  const { parent, name } = splitPath(await resolveLinks(root, path));
  await using folder = await openFolder(root, parent);
  return (await readIn(folder, name, path.shown)).bytes;
}

/** Reads a regular file of an open folder, up to the size limit. Throws ToolProblem. */
export async function readIn(folder: Folder, name: string, shown: string): Promise<{ bytes: Buffer; stat: Stats }> {
  const { file, stat } = await openFile(folder, name, shown);
  try {
    return { bytes: await readAll(file, stat, shown), stat };
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file atomically. `replaces` is the file as it was read, null when there was none; its mode bits are kept.
 * Throws ToolProblem when the file has changed since.
 */
export async function putFile(
  folder: Folder,
  file: { name: string; shown: string; bytes: Uint8Array; replaces: Stats | null },
): Promise<void> {
  if (file.bytes.length > maxFileBytes) {
    throw new ToolProblem(`${file.shown} would be larger than ${maxFileBytes} bytes; nothing was written.`);
  }
  const draft = folder.at(`.docket-${randomUUID()}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    const handle = await open(draft, flags, 0o666);
    try {
      await handle.writeFile(file.bytes);
      if (file.replaces !== null) await handle.chmod(file.replaces.mode & 0o7777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (!isSame(file.replaces, await statIn(folder, file.name))) {
      throw new ToolProblem(`${file.shown} was changed in the meantime; read it again.`);
    }
    await rename(draft, folder.at(file.name));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw problemOf(error, file.shown);
  }
}

async function readAll(file: FileHandle, stat: Stats, shown: string): Promise<Buffer> {
  const tooLarge = new ToolProblem(`${shown} is larger than ${maxFileBytes} bytes, the most that tools open.`);
  if (stat.size > maxFileBytes) throw tooLarge;
  // One byte more than expected, to notice a file that grows while it is read.
  const buffer = Buffer.alloc(stat.size + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  throw new ToolProblem(`${shown} is growing while it is read; try again.`);
}

function isSame(before: Stats | null, now: Stats | null): boolean {
  if (before === null || now === null) return before === now;
  return before.ino === now.ino && before.dev === now.dev && before.size === now.size && before.mtimeMs === now.mtimeMs;
}
