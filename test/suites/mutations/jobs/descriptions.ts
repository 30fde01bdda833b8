import type { Mutation } from '../list.ts';

const borrowed = { project: 'integration', tests: ['jobs/borrowed-environments'] } as const;
const parsing = { project: 'unit', tests: ['lib/environments/environment'] } as const;
const describing = { project: 'unit', tests: ['activities/environment/describe-environment'] } as const;

/** Checks on the descriptions of environments, Docket's own and those of other products. */
export const descriptionMutations: Mutation[] = [
  {
    name: 'a description may set variables of the sandbox',
    file: 'lib/environments/variable-name.ts',
    find: ' && !reserved.test(name)',
    replace: ' && reserved.source !== name',
    ...parsing,
  },
  {
    name: "the image of another product's file ends a job",
    file: 'activities/environment/base-images.ts',
    find: 'if (isOwn || image === null || !(error instanceof ImageError)) throw error;',
    replace: 'throw error;',
    ...borrowed,
  },
  {
    name: 'a setup that runs once more looks for an image that the job goes on without',
    file: 'activities/environment/environments.ts',
    find: 'baseImage: turn.environment,',
    replace: 'baseImage: { image: again.description.environment.image ?? null, packages: [] },',
    ...borrowed,
  },
  {
    name: "the setup of another product's file ends a job",
    file: 'activities/environment/environments.ts',
    find: 'if (description.isOwn || !isSetupFailure(error)) throw error;',
    replace: 'throw error;',
    ...borrowed,
  },
  {
    name: "the start of another product's file ends commands",
    file: 'activities/environment/environments.ts',
    find: '{ script, isOwn: description.isOwn }',
    replace: '{ script, isOwn: true }',
    ...borrowed,
  },
  {
    name: 'a command runs without its services',
    file: 'activities/tools/started-command.ts',
    find: "'exit 1'",
    replace: "':'",
    project: 'integration',
    tests: ['sandbox/started-command'],
  },
  {
    name: "the setup of another product's file runs without network",
    file: 'activities/environment/environments.ts',
    find: 'if (!isOwn && settings.setup.hosts.length === 0) {',
    replace: "if (!isOwn && name === '') {",
    ...borrowed,
  },
  {
    name: 'the timeline does not say what was ignored',
    file: 'activities/environment/describe-environment.ts',
    find: 'ignored.length === 0 ? [used]',
    replace: 'ignored.length !== -1 ? [used]',
    ...borrowed,
  },
  {
    name: 'aliases in the file of another product end a job',
    file: 'lib/environments/copilot-setup-steps.ts',
    find: 'if (error instanceof SyntaxError) return null;',
    replace: '',
    ...parsing,
  },
  {
    name: "another product's file names an archive of the operator",
    file: 'lib/environments/borrowed.ts',
    find: "parseImageName(value)?.kind === 'registry'",
    replace: 'parseImageName(value) !== null',
    ...parsing,
  },
  {
    name: 'an image is used without what is built on it',
    file: 'lib/environments/devcontainer.ts',
    find: 'const image = isBuilt ? null : ',
    replace: 'const image = isBuilt && said.length === 0 ? null : ',
    ...parsing,
  },
  {
    name: 'maps as the keys of YAML hold a process for minutes',
    file: 'lib/inputs/yaml.ts',
    find: "if (key !== null && !isScalar(key)) return refuse('has a key that is not a single value');",
    replace: '',
    project: 'unit',
    tests: ['lib/inputs/yaml'],
  },
  {
    name: "each job runs the setup of another product's file that has just failed",
    file: 'activities/environment/environments.ts',
    find: 'description.isOwn ? 0 : skipMinutes * 60_000',
    replace: 'description.isOwn ? 0 : skipMinutes',
    ...borrowed,
  },
  {
    name: 'a wrong glob of an environment ends jobs as a fault of the service',
    file: 'lib/environments/environment.ts',
    find: 'text(300).pipe(globSchema)',
    replace: 'text(300)',
    ...parsing,
  },
  {
    name: 'numbers among the variables of an environment are rounded',
    file: 'lib/inputs/yaml.ts',
    find: 'if (scalar.value !== null) scalar.value = scalar.source;',
    replace: 'if (scalar.value !== null) scalar.value = String(scalar.value);',
    ...parsing,
  },
  {
    name: "one wrong value discards another product's file",
    file: 'lib/environments/borrowed.ts',
    find: 'if (removed.length === 0) return null;',
    replace: 'return null;',
    ...parsing,
  },
  {
    name: 'an empty command is a syntax error of the setup',
    file: 'lib/environments/devcontainer.ts',
    find: 'hasCommands(given) ? ',
    replace: 'hasCommands(given) || true ? ',
    ...parsing,
  },
  {
    name: 'the steps of a setup do not hand on their variables',
    file: 'lib/environments/copilot-setup-steps.ts',
    find: '*) export "$line" ;;',
    replace: '*) ;;',
    ...borrowed,
  },
  {
    name: 'a description that is a symbolic link is passed over in silence',
    file: 'activities/environment/describe-environment.ts',
    find: 'if (unread.size === 0) return other;',
    replace: 'if (other !== null || unread.size === 0) return other;',
    ...describing,
  },
];
