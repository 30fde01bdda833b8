import type { Mutation } from '../list.ts';

const guidance = { project: 'integration', tests: ['jobs/model/guidance'] } as const;
const skills = { project: 'integration', tests: ['jobs/model/skills'] } as const;

/** Checks on what projects and repositories tell the agent. */
export const guidanceMutations: Mutation[] = [
  {
    name: 'a skill of any folder is offered',
    file: 'activities/model/skills.ts',
    find: 'files.filter((path) => rank(path) !== -1)',
    replace: 'files.filter((path) => path.endsWith(skillFileName))',
    ...skills,
  },
  {
    name: 'a later skill replaces an earlier one of the same name',
    file: 'activities/model/skills.ts',
    find: 'parsed.success && !skills.has(parsed.data.name)',
    replace: 'parsed.success',
    ...skills,
  },
  {
    name: 'a skill of the repository is offered beside that of the project',
    file: 'activities/model/instructions.ts',
    find: 'path !== null && own.every((skill) => skill.name !== name)',
    replace: 'path !== null && name !== null',
    ...skills,
  },
  {
    name: 'secrets in the skills of a project are stored with the turn',
    file: 'activities/model/instructions.ts',
    find: '[name, maskSecrets(content)]',
    replace: '[name, content]',
    ...skills,
  },
  {
    name: 'secrets in the instructions of a project reach the model',
    file: 'activities/model/instructions.ts',
    find: 'instructions === null ? null : maskSecrets(instructions)',
    replace: 'instructions',
    ...skills,
  },
  {
    name: 'a change of the project applies to a turn that has begun',
    file: 'activities/model/skills.ts',
    find: "effects.newest({ ...ref, effect: 'instructions' })",
    replace: "effects.result({ ...ref, turn: 1, effect: 'instructions' })",
    ...skills,
  },
  {
    name: 'CLAUDE.md counts beside AGENTS.md',
    file: 'activities/model/instructions.ts',
    find: 'guidanceFiles.slice(0, rank).every((better) => !known.has(`${folder}${better}`))',
    replace: 'known.has(`${folder}${name}`)',
    ...skills,
  },
  {
    name: 'a file of guidance has no limit',
    file: 'activities/model/read-beginning.ts',
    find: 'maxBytes: max + maxSecretLength });',
    replace: 'maxBytes: 1_000_000 });\n  if (file !== null) return maskSecrets(file.toString());',
    ...guidance,
  },
  {
    name: 'a branch or file whose name is a secret is suggested',
    file: 'activities/job/workspace.ts',
    find: 'name.length <= maxNameLength && redact(name) === name',
    replace: 'name.length <= maxNameLength',
    project: 'integration',
    tests: ['jobs/repository-names'],
  },
];
