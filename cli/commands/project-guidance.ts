import type { Command } from 'commander';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { readYaml } from '../../lib/inputs/yaml.ts';
import { CommandError } from '../command-error.ts';
import { answerOf } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { collect, textOf } from './options.ts';
import { printRecord } from './output.ts';

type GuidanceChange = paths['/v1/projects/{id}/guidance']['patch']['requestBody']['content']['application/json'];
type Skill = NonNullable<GuidanceChange['skills']>[number];

interface GuidanceOptions {
  instructions?: string;
  skill?: string[];
}

/** Adds `docket project guidance`. */
export function addGuidanceCommand(group: Command, context: CommandContext): void {
  group
    .command('guidance')
    .description('show or change the instructions and skills of a project')
    .argument('<id>', 'the id of the project')
    .option('--instructions <file>', 'Markdown that becomes part of every prompt ("" for none)')
    .option('--skill <file>', 'a SKILL.md; replaces all skills (repeatable; "" for none)', collect)
    .action(async (id: string, { instructions, skill }: GuidanceOptions, command: Command) => {
      const { api } = await connect(context, command);
      const params = { path: { id } };
      if (instructions === undefined && skill === undefined) {
        printRecord(command, await answerOf(api.GET('/v1/projects/{id}/guidance', { params })));
        return;
      }
      const body: GuidanceChange = {
        ...(instructions !== undefined && { instructions: instructions === '' ? null : await textOf(instructions) }),
        ...(skill !== undefined && { skills: await Promise.all(skill.map(skillIn)) }),
      };
      printRecord(command, await answerOf(api.PATCH('/v1/projects/{id}/guidance', { params, body })));
    });
}

/** Reads a file with the name and description of a skill in its front matter. */
async function skillIn(file: string): Promise<Skill> {
  const text = await textOf(file);
  const [whole = '', block = ''] = /^---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|$)/ms.exec(text) ?? [];
  const { name, description } = frontMatterOf(block);
  if (typeof name === 'string' && typeof description === 'string')
    return { name, description, content: text.slice(whole.length) };
  throw new CommandError(
    `${file} is not a skill: it has to begin with front matter that has a name and a description.`,
  );
}

function frontMatterOf(block: string): { name?: unknown; description?: unknown } {
  try {
    const values = readYaml(block, { maxAliases: 100 });
    return typeof values === 'object' && values !== null ? values : {};
  } catch {
    return {};
  }
}
