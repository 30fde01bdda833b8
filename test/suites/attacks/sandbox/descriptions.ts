import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';
import { readDevcontainer } from '../../../../lib/environments/devcontainer.ts';
import { parseEnvironment } from '../../../../lib/environments/environment.ts';
import { settingsOf, type EnvironmentCeilings } from '../../../../activities/environment/environment-settings.ts';
import type { Attack } from '../stage/attack.ts';
import { runSetupJob } from '../stage/setup-stage.ts';
import { sandboxProblem } from '../stage/in-sandbox.ts';

const ceilings: EnvironmentCeilings = {
  usual: { memoryBytes: 256 << 20, processes: 64, seconds: 60 },
  setup: { memoryBytes: 512 << 20, processes: 128, diskBytes: 64 << 20, totalBytes: 64 << 20 },
  jobDiskBytes: null,
  setupSeconds: 60,
  hosts: ['registry.test'],
};

interface Description {
  name: string;
  text: string;
  /** Whether a parsed description does what the attack wants. */
  reached(description: any): boolean;
  contained: string;
}

const laughs = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...'bcdefg'.split('').map((name, at) => {
    const before = 'abcdef'[at];
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`;
  }),
].join('\n');

const descriptions: Description[] = [
  {
    name: 'a key that is misspelled, so that its limit does not hold',
    text: 'setup: true\nhost: {setup: []}',
    reached: (read) => 'host' in read,
    contained: 'unknown keys are refused by name',
  },
  {
    name: 'a value that contains itself',
    text: 'setup: true\ninputs: &a [*a]',
    reached: (read) => read.inputs?.[0] === read.inputs && read.inputs !== undefined,
    contained: 'aliases are refused',
  },
  {
    name: 'aliases of aliases, which become half a million values',
    text: laughs,
    reached: (read) => read.f?.flat(Infinity).length > 500_000,
    contained: 'aliases are refused',
  },
  {
    name: 'keys that another map brings in',
    text: 'limits: &all {seconds: 480}\nsetup: "true"\nvariables: {<<: *all}',
    reached: (read) => read.variables?.seconds !== undefined,
    contained: 'aliases are refused, and keys are not merged',
  },
  {
    name: 'a number where a script belongs',
    text: 'setup: 5',
    reached: (read) => typeof read.setup === 'number',
    contained: 'every value has a type',
  },
  {
    name: 'a script with a NUL, which a shell reads only in part',
    text: 'setup: "echo good\\0; echo evil"',
    reached: (read) => read.setup?.includes('\0'),
    contained: 'texts have no NUL',
  },
  {
    name: 'a variable that loads code into every command',
    text: 'variables: {LD_PRELOAD: /tree/evil.so, BASH_ENV: /tree/evil}',
    reached: (read) => read.variables?.LD_PRELOAD !== undefined || read.variables?.BASH_ENV !== undefined,
    contained: 'variables of the shell and the loader are refused',
  },
  {
    name: 'a variable that leads around the proxy',
    text: 'variables: {https_proxy: "http://evil.test"}',
    reached: (read) => read.variables?.https_proxy !== undefined,
    contained: 'variables of the sandbox are refused',
  },
  {
    name: 'the prototype of objects',
    text: '__proto__: {setup: evil}\nsetup: "true"',
    reached: (read) =>
      read.setup === 'evil' || ({} as { setup?: string }).setup === 'evil' || Object.keys(read).includes('__proto__'),
    contained: 'unknown keys are refused by name',
  },
  {
    name: 'a pattern of hosts',
    text: 'hosts: {setup: ["*"], agent: ["*.test"]}',
    reached: (read) => read.hosts?.setup?.includes('*'),
    contained: 'hosts are plain names',
  },
  {
    name: 'an option as the name of an image',
    text: 'image: --privileged',
    reached: (read) => read.image === '--privileged',
    contained: 'names of images have a grammar',
  },
  {
    name: 'a path that adds another one',
    text: 'path: ["/tree/bin:/evil"]',
    reached: (read) => read.path?.[0].split(':').includes('/evil'),
    contained: 'a folder has no colon',
  },
  {
    name: 'a megabyte of description',
    text: `setup: ${'x'.repeat(1_000_000)}`,
    reached: (read) => read.setup?.length > 900_000,
    contained: 'a description has 64 KB',
  },
];

/** One sentence that a person can read, without line breaks. */
const isSentence = (problem: string) => problem.length < 400 && !/[\r\n]/.test(problem);

const lowered: readonly [string, string, (settings: ReturnType<typeof settingsOf>) => boolean][] = [
  [
    'memory',
    'limits: {memoryMb: 1000000}',
    ({ setup, agent }) => Math.max(setup.limits.memoryBytes, agent.limits!.memoryBytes) > ceilings.setup.memoryBytes,
  ],
  [
    'processes',
    'limits: {processes: 100000}',
    ({ setup, agent }) => Math.max(setup.limits.processes, agent.limits!.processes) > ceilings.setup.processes,
  ],
  [
    'disk',
    'limits: {diskGb: 10000}',
    ({ setup, agent }) => Math.max(setup.limits.diskBytes, agent.limits!.diskBytes) > ceilings.setup.diskBytes,
  ],
  ['time', 'limits: {setupSeconds: 1080}', ({ setup }) => setup.seconds > ceilings.setupSeconds],
];

const deep = '['.repeat(30_000);

function overflows(parse: () => unknown): boolean {
  try {
    parse();
    return false;
  } catch (error) {
    return error instanceof RangeError;
  }
}

export const descriptionAttacks: Attack[] = [
  ...descriptions.map(({ name, text, reached, contained }): Attack => ({
    class: 43,
    name,
    unprotected: async () => reached(parseYaml(text, { maxAliasCount: -1, merge: true })) === true,
    async product() {
      const parsed = parseEnvironment(text);
      return parsed.ok ? reached(parsed.environment) === true : !isSentence(parsed.problem);
    },
    contained,
  })),
  ...lowered.map(([what, text, isAbove]): Attack => ({
    class: 43,
    name: `more ${what} than the operator allows`,
    async unprotected() {
      const parsed = parseEnvironment(text);
      const unlimited = { memoryBytes: Infinity, processes: Infinity, diskBytes: Infinity, totalBytes: Infinity };
      if (!parsed.ok) return false;
      return isAbove(settingsOf(parsed.environment, { ...ceilings, setup: unlimited, setupSeconds: Infinity }));
    },
    async product() {
      const parsed = parseEnvironment(text);
      if (!parsed.ok) return true;
      const settings = settingsOf(parsed.environment, ceilings);
      return isAbove(settings) || settings.notices.length !== 1;
    },
    contained: 'limits are lowered to those of the operator, and the timeline says so',
  })),
  {
    class: 43,
    name: 'a devcontainer.json so deep that its parser overflows',
    unprotected: async () => overflows(() => parseJsonc(deep)),
    product: async () => overflows(() => readDevcontainer(deep)),
    contained: 'a file that cannot be parsed is ignored, and the timeline says so',
  },
  {
    class: 43,
    name: 'an image that does not exist',
    needs: sandboxProblem,
    isSlow: true,
    unprotected: async () => parseYaml('image: registry.test/none:1').image === 'registry.test/none:1',
    async product(scene) {
      const repository = await scene.repository();
      const { job, files } = await runSetupJob({
        repository,
        environment: { image: 'registry.test/none:1', setup: 'true' },
      });
      return job.failureCategory !== 'image_unavailable' || Object.keys(files).length > 0 || !isSentence(job.message!);
    },
    contained: 'the job fails with a category of its own, before anything runs',
  },
];
