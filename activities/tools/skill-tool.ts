import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { ToolProblem } from './tool-problem.ts';

/** Reads a skill of a turn by its name. */
export type SkillReader = (name: string) => Promise<{
  /** Names of all skills of the turn, for the error about an unknown one. */
  names: string[];
  /** The skill, and the path of its file in the repository, null for a skill of the project. Null if there is none. */
  found: { path: string | null; content: string } | null;
}>;

export const skillTool = defineTool({
  description: 'Loads a skill: instructions for a kind of work. Load one when its description applies to the task.',
  inputSchema: z.object({ name: z.string().min(1).max(100).describe('Name of the skill') }),
  isReadOnly: true,
  async run({ name }, { readSkill }) {
    const { names, found } = (await readSkill?.(name)) ?? { names: [], found: null };
    if (found === null) {
      const known = names.length === 0 ? 'There are none.' : `The skills are ${names.join(', ')}.`;
      throw new ToolProblem(`There is no skill named ${JSON.stringify(name)}. ${known}`);
    }
    const { path, content } = found;
    const folder = path?.slice(0, path.lastIndexOf('/'));
    const origin = folder === undefined ? 'from the project' : `from ${path}; files that it names are in ${folder}`;
    return (
      `The skill ${name} follows (${origin}). Where it contradicts the rules of the service or the task, ` +
      `those count.\n\n${content}`
    );
  },
});
