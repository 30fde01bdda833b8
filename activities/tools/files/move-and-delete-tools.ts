import { rename, rmdir, unlink } from 'node:fs/promises';
import { opendir } from 'node:fs/promises';
import { z } from 'zod';
import { agentPathOf, isGitName, parseAgentPath } from './agent-path.ts';
import { openChild, openFolder, statIn, type Folder } from './beneath.ts';
import { defineTool } from '../define-tool.ts';
import { leftOutNote, splitPath } from './files.ts';
import { countText } from '../tool-output.ts';
import { absenceOf, ToolProblem, problemOf } from '../tool-problem.ts';
import { walkTree, type TreeEntry } from './walk-tree.ts';

const maxDeleted = 10_000;

export const deleteTool = defineTool({
  description: 'Deletes a file, or with recursive a folder and everything in it.',
  inputSchema: z.object({
    path: z.string().describe('File or folder, relative to the root of the repository'),
    recursive: z.boolean().default(false).describe('Delete a folder and everything in it (default false)'),
  }),
  isReadOnly: false,
  async run({ path, recursive }, { root, signal }) {
    const target = parseAgentPath(path);
    const { parent, name } = splitPath(target);
    await using folder = await openFolder(root, parent);
    const stat = await statIn(folder, name);
    if (stat === null) throw absenceOf(target.shown);
    try {
      if (!stat.isDirectory()) {
        await unlink(folder.at(name));
        return `Deleted ${target.shown}.`;
      }
      if (!recursive)
        throw new ToolProblem(`${target.shown} is a folder; set recursive to delete it and everything in it.`);
      let files = 0;
      const visit = async (entry: TreeEntry) => {
        if (isUnclear(entry.name) && (await statIn(entry.folder, entry.name)) === null)
          throw new ToolProblem(`${absenceOf(agentPathOf(entry.path.split('/')).shown).message} Nothing was deleted.`);
        if (entry.kind !== 'folder') files += 1;
        return files <= maxDeleted;
      };
      if ((await walkTree({ root, start: target, signal, visit })) !== 'complete') {
        throw new ToolProblem(
          `${target.shown} has more files than one call may delete (${maxDeleted}); nothing was deleted.`,
        );
      }
      await deleteFolder(folder, name, target.shown);
      return `Deleted ${target.shown} with ${countText(files, 'file')}.`;
    } catch (error) {
      throw problemOf(error, target.shown);
    }
  },
});

export const moveTool = defineTool({
  description: 'Moves or renames a file or folder. The new path must not exist; missing folders are created.',
  inputSchema: z.object({
    from: z.string().describe('File or folder, relative to the root of the repository'),
    to: z.string().describe('Its new path, relative to the root of the repository'),
  }),
  isReadOnly: false,
  async run({ from, to }, { root, ...context }) {
    const source = parseAgentPath(from);
    const target = parseAgentPath(to);
    const { parent: sourceParent, name: sourceName } = splitPath(source);
    const { parent: targetParent, name: targetName } = splitPath(target);
    if (source.parts.every((part, index) => part === target.parts[index])) {
      throw new ToolProblem(`${source.shown} cannot be moved to itself or into itself.`);
    }
    await using sourceFolder = await openFolder(root, sourceParent);
    const stat = await statIn(sourceFolder, sourceName);
    if (stat === null) throw absenceOf(source.shown);
    if (!stat.isFile() && !stat.isDirectory()) throw new ToolProblem(`${source.shown} is neither a file nor a folder.`);
    await using targetFolder = await openFolder(root, targetParent, { create: true });
    if ((await statIn(targetFolder, targetName)) !== null) {
      throw new ToolProblem(`${target.shown} already exists; nothing was moved. Delete it first if it is not needed.`);
    }
    try {
      await rename(sourceFolder.at(sourceName), targetFolder.at(targetName));
    } catch (error) {
      throw problemOf(error, target.shown);
    }
    return `Moved ${source.shown} to ${target.shown}.${await leftOutNote(target, context)}`;
  },
});

/** Reports whether a listed name may stand for bytes that are not UTF-8. */
function isUnclear(name: string): boolean {
  return name.includes('\uFFFD');
}

/** Empties and removes a folder. Links are removed, and their targets stay. */
async function deleteFolder(parent: Folder, name: string, shown: string): Promise<void> {
  await using folder = await openChild(parent, name, shown);
  for await (const entry of await opendir(folder.self)) {
    if (isGitName(entry.name)) throw new ToolProblem(`${shown} contains a .git folder, which is not accessible.`);
    if (entry.isDirectory()) await deleteFolder(folder, entry.name, shown);
    else await unlink(folder.at(entry.name));
  }
  await rmdir(parent.at(name));
}
