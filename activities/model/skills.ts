import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import { maxGuidanceLength, maxSkills, skillDescriptionSchema, skillNameSchema } from '../../lib/inputs/guidance.ts';
import { readFrontMatter } from '../../search/read/front-matter.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { SkillReader } from '../tools/skill-tool.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { readBeginning } from './read-beginning.ts';
import { instructionsOf, type Instructions } from './stored-instructions.ts';

type Skill = Instructions['skills'][number];

export const skillFileName = 'SKILL.md';
/** Folders of a repository with a folder per skill; of skills with the same name, the first one counts. */
const skillFolders = ['.docket/skills', '.claude/skills', '.github/skills', '.agents/skills'];
const skillPath = /^([^/]+\/skills)\/[^/\p{C}]{1,100}\/SKILL\.md$/u;
const describedSchema = z.object({ name: skillNameSchema, description: skillDescriptionSchema });
/** A description that YAML does not allow without quotes, such as one with a colon. */
const plainDescription = /^\uFEFF?---[^\S\n]*\n(?:(?!---)[^\n]*\n)*?description:[ \t]+(.+)/;

interface Reading {
  workspaces: Pick<Workspaces, 'readFile'>;
  maskSecrets(text: string): string;
}

/**
 * Returns the skills among the files of a commit. A file without a description is none; one without a valid name has that of
 * its folder.
 */
export async function skillsIn(
  deps: Reading,
  { access, commit, files }: { access: RepositoryAccess; commit: string; files: string[] },
): Promise<Skill[]> {
  const rank = (path: string) => skillFolders.indexOf(skillPath.exec(path)?.[1] ?? '');
  const paths = files.filter((path) => rank(path) !== -1).toSorted((a, b) => rank(a) - rank(b));
  const skills = new Map<string, Skill>();
  for (const path of paths.slice(0, maxSkills.repository)) {
    const text = await readBeginning(deps, { access, commit, path, max: maxGuidanceLength });
    const parsed = describedSchema.safeParse(describedIn(path, text ?? ''));
    if (parsed.success && !skills.has(parsed.data.name)) skills.set(parsed.data.name, { ...parsed.data, path });
  }
  return [...skills.values()];
}

function describedIn(path: string, text: string) {
  const { name, description } = readFrontMatter(text).values;
  return {
    name: skillNameSchema.safeParse(name).data ?? path.split('/').at(-2),
    description: description ?? plainDescription.exec(text)?.[1],
  };
}

export interface SkillReaderDeps extends Reading {
  effects: Pick<EffectStore, 'newest'>;
}

/** Creates the reader of the skills of a turn, as they were when it began. */
export function createSkillReader(
  deps: SkillReaderDeps,
  { ref, access }: { ref: TurnRef; access: RepositoryAccess },
): SkillReader {
  const { effects } = deps;
  return async (name) => {
    const { skills, commit } = instructionsOf(await effects.newest({ ...ref, effect: 'instructions' }));
    const names = skills.map((skill) => skill.name);
    const skill = skills.find((one) => one.name === name);
    if (skill === undefined) return { names, found: null };
    return { names, found: { path: skill.path, content: await contentOf(skill, commit) } };
  };

  async function contentOf({ name, path }: Skill, commit: string | null): Promise<string> {
    if (path === null) {
      const contents = z.record(z.string(), z.string()).safeParse(await effects.newest({ ...ref, effect: 'skills' }));
      return contents.data?.[name] ?? '';
    }
    const text = await readBeginning(deps, { access, commit: commit ?? '', path, max: maxGuidanceLength });
    return readFrontMatter(text ?? '').body.trim();
  }
}
