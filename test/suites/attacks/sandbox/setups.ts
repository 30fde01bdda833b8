import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentPath } from '../../../../lib/environments/environment.ts';
import type { ScriptedToolCall } from '../../../support/servers/scripted-model-server.ts';
import { processesNamed } from '../../../support/sandbox/sandbox.ts';
import type { Attack } from '../stage/attack.ts';
import { carelessCopy, inCopy } from '../stage/careless-copy.ts';
import { sandboxProblem } from '../stage/in-sandbox.ts';
import { carelessly, type Scene } from '../stage/scene.ts';
import { runSetupJob, type SeenJob } from '../stage/setup-stage.ts';

/** Disk of a setup in these attacks. */
const diskBytes = 64 << 20;
const secret = 'tok-4f9a2c81d7e6b350';

interface SetupAttack {
  name: string;
  /** The setup; on a careless program, it runs in the tree of the scene with the files of this machine. */
  script(scene: Scene): string;
  limits?: object;
  secrets?: Record<string, string>;
  /** Calls of the agent afterwards. */
  calls?: ScriptedToolCall[];
  /** Whether the script reached the canary on a careless program. */
  careless(result: { scene: Scene; output: string; home: string }): Promise<boolean>;
  reached(seen: SeenJob, scene: Scene): boolean | Promise<boolean>;
  contained: string;
  needs?: string | null;
  /** It does not end by itself, so only `careless` runs it. */
  isEndless?: boolean;
}

/** Runs a script as an ordinary CI job without a sandbox. */
export async function withoutSandbox(scene: Scene, script: string, secrets: Record<string, string> = {}) {
  const home = join(scene.directory, 'home');
  await mkdir(home);
  const env = { HOME: home, ...secrets };
  return { scene, home, output: await carelessly('sh', ['-c', script], { cwd: scene.tree, env }) };
}

const hasCompleted = ({ job }: SeenJob) => job.status === 'completed';
const run = (command: string) => ({ name: 'run', input: { command } });
const sizeOf = async (path: string) => (await stat(path)).size;
/** What the job published besides the description of its environment, which holds the script. */
const published = ({ files: { [environmentPath]: _description, ...files } }: SeenJob) => JSON.stringify(files);
const inLayer = (text: string) => (seen: SeenJob) => seen.layer?.archive.includes(text) ?? false;
const inEvents = (text: string) => (seen: SeenJob) => seen.events.includes(text);

const floods: SetupAttack[] = [
  {
    name: 'a file that fills the disk',
    script: () => 'head -c 100M /dev/zero > ~/big',
    careless: async ({ home }) => (await sizeOf(join(home, 'big'))) > diskBytes,
    reached: hasCompleted,
    contained: 'the disk of a setup is limited',
  },
  {
    name: 'many files that fill the disk',
    script: () => 'for i in $(seq 600); do head -c 300K /dev/zero > ~/$i; done',
    careless: async ({ home }) => (await readdir(home)).length * 300_000 > 2 * diskBytes,
    reached: hasCompleted,
    contained: 'the disk of a setup is limited',
  },
  {
    name: 'a file that only looks larger than the disk',
    script: () => 'truncate -s 10G ~/sparse',
    careless: async ({ home }) => (await sizeOf(join(home, 'sparse'))) > 1e9,
    reached: hasCompleted,
    contained: 'the kernel limits the size of a file',
  },
  {
    name: 'many files with holes, whose archive fills the disk',
    script: () => 'for i in $(seq 40); do truncate -s 60M ~/$i; done',
    careless: async ({ home }) => (await readdir(home)).length * (await sizeOf(join(home, '1'))) > 1e9,
    reached: ({ layer }) => (layer?.archive.length ?? 0) > 2 * diskBytes,
    contained: 'the archive of a layer is limited like the files',
  },
  {
    name: 'more memory than it may have',
    script: () => '[ "$(head -c 300M /dev/zero | tail -c 250M | wc -c)" -gt 200000000 ] && echo held',
    limits: { memoryMb: 100 },
    careless: async ({ output }) => output.includes('held'),
    reached: hasCompleted,
    contained: 'the memory of a setup is limited',
  },
  {
    name: 'more processes than it may have',
    script: () => 'for i in $(seq 200); do sleep 5 >/dev/null 2>&1 & done; echo all',
    careless: async ({ output }) => output.includes('all'),
    reached: hasCompleted,
    contained: 'the number of processes is limited',
  },
  {
    name: 'a script that never ends',
    script: () => 'sleep 600',
    limits: { setupSeconds: 1 },
    isEndless: true,
    careless: async ({ scene }) =>
      (await carelessly('sh', ['-c', 'timeout 2 sleep 600; echo $?'], { cwd: scene.tree })).includes('124'),
    reached: ({ job }) => job.failureCategory !== 'setup_failed',
    contained: 'a time limit',
  },
  {
    name: 'output without end',
    script: () => 'yes docket | head -c 100M',
    careless: async ({ output }) => output.length > 60e6,
    reached: (seen) => hasCompleted(seen) || seen.events.length > 1e6,
    contained: 'a command has 64 MB of output, of which the timeline keeps a sample',
  },
  {
    name: 'a process that goes on after the setup',
    script: ({ canary }) => `sh -c 'sleep 30; : ${canary}' >/dev/null 2>&1 &`,
    async careless({ scene }) {
      const left = await processesNamed(scene.canary);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      return left.length > 0;
    },
    reached: async (_seen, scene) => (await processesNamed(scene.canary)).length > 0,
    contained: 'all processes end with the setup',
  },
];

const encoded = Buffer.from(`user:${secret}`).toString('base64');
const reversed = Array.from(secret).toReversed().join('');
/** Ways to print a secret, and to leave one in a file. */
const leaks: SetupAttack[] = [
  ...(
    [
      ['a secret that is printed', 'echo "token $API_TOKEN"; exit 1', secret],
      ['a secret that is printed in base64', 'printf "user:$API_TOKEN" | base64; exit 1', encoded],
      ['a secret that is printed backwards', 'echo "$API_TOKEN" | rev; exit 1', reversed],
    ] as const
  ).map(([name, script, text]): SetupAttack => ({
    name,
    script: () => script,
    secrets: { API_TOKEN: secret },
    careless: async ({ output }) => output.includes(text),
    reached: inEvents(text),
    contained: 'the secrets of a project are masked in what is stored',
  })),
  ...(
    [
      ['a secret in a file', 'echo "//registry/:_authToken=$API_TOKEN" > ~/.npmrc', '.npmrc', secret],
      ['a secret in the name of a file', 'touch ~/"session-$API_TOKEN"', '', secret],
      ['a secret in the target of a link', 'ln -s "/run/$API_TOKEN" ~/link', '', secret],
      ['a secret in base64, as a login stores it', 'printf "user:$API_TOKEN" | base64 > ~/.auth', '.auth', encoded],
    ] as const
  ).map(([name, script, file, text]): SetupAttack => ({
    name,
    script: () => script,
    secrets: { API_TOKEN: secret },
    async careless({ home }) {
      const listing = await carelessly('ls', ['-la', home], { cwd: home });
      return (file === '' ? listing : await readFile(join(home, file), 'utf8')).includes(text);
    },
    reached: (seen) => hasCompleted(seen) || inLayer(text)(seen),
    contained: 'a layer with a secret in it is not kept',
  })),
];

const entries: SetupAttack[] = [
  {
    name: 'links to a file outside',
    script: ({ secretFile }) => `ln -s ${secretFile} ~/leak; ln -s ${secretFile} leak`,
    calls: [run('cat ~/leak leak'), { name: 'read', input: { path: 'leak' } }],
    careless: async ({ home, scene }) => (await readFile(join(home, 'leak'), 'utf8')).includes(scene.canary),
    reached: ({ said }, { canary }) => said.includes(canary),
    contained: 'commands see no other files, and the tools follow no links',
  },
  {
    name: 'a device',
    script: () => 'mknod ~/disk b 7 200 || true; mknod disk b 7 200 || true',
    careless: async ({ home }) => (await stat(join(home, 'disk'))).isBlockDevice(),
    reached: ({ layer }) => /^[bc]/m.test(layer?.listing ?? 'c'),
    contained: 'a setup has no capabilities',
    needs: process.getuid?.() === 0 ? null : 'root',
  },
  {
    name: 'a pipe that a reader waits for',
    script: () => 'mkfifo ~/pipe pipe',
    calls: [{ name: 'read', input: { path: 'pipe' } }],
    careless: async ({ scene }) =>
      (await carelessly('sh', ['-c', 'timeout 1 cat pipe; echo $?'], { cwd: scene.tree })).includes('124'),
    reached: (seen) => !hasCompleted(seen),
    contained: 'only files, folders and links of a working copy are kept',
  },
  {
    name: 'a name that forges another in a list of paths',
    script: () => `touch -- -rf "$(printf 'planted\\nREADME.md')" --checkpoint-action=exec=touch`,
    careless: async ({ scene }) => (await readdir(scene.tree)).includes('planted\nREADME.md') || scene.ran(),
    reached: (seen, scene) =>
      !hasCompleted(seen) || scene.ran() || Object.keys(seen.files).some((path) => path.includes('planted')),
    contained: 'lists of paths end with NUL, and are no arguments',
  },
  {
    name: 'hooks of git',
    script: ({ mark }) =>
      `(mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch ${mark}\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit) 2>/dev/null || true`,
    async careless({ scene }) {
      const copy = await carelessCopy(scene);
      await carelessly(
        'sh',
        ['-c', `printf '#!/bin/sh\\ntouch ${scene.mark}\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`],
        { cwd: copy },
      );
      await inCopy(copy, 'commit', '--allow-empty', '-qm', 'x');
      return scene.ran();
    },
    reached: (seen, scene) => !hasCompleted(seen) || scene.ran(),
    contained: 'the repository of a job is outside of its working copy',
  },
  {
    name: 'files and changes that the pull request would carry',
    script: () => 'echo planted >> README.md; echo planted > planted.txt; mkdir more; echo planted > more/planted.txt',
    async careless({ scene }) {
      const copy = await carelessCopy(scene);
      await carelessly('sh', ['-c', 'echo planted > planted.txt'], { cwd: copy });
      await inCopy(copy, 'add', '-A');
      return (await inCopy(copy, 'diff', '--cached')).includes('planted');
    },
    reached: (seen) => !hasCompleted(seen) || published(seen).includes('planted'),
    contained: 'what a setup adds is excluded, and what it changes is dropped',
  },
];

const ways: SetupAttack[] = [
  {
    name: 'it reads files of the machine',
    script: ({ secretFile, directory }) =>
      `cat ${secretFile}; find ${directory} -name secret.txt -exec cat {} + 2>/dev/null || true`,
    careless: async ({ output, scene }) => output.includes(scene.canary),
    reached: (seen, { canary }) => inEvents(canary)(seen),
    contained: 'no other file of the machine is mounted',
  },
  {
    name: 'it writes a file of the machine',
    script: ({ mark }) => `touch ${mark} /usr/docket-planted || true`,
    careless: async ({ scene }) => scene.ran(),
    reached: (_seen, scene) => scene.ran(),
    contained: 'everything but HOME and the working copy is read-only',
  },
];

export const setupAttacks: Attack[] = [...floods, ...leaks, ...entries, ...ways].map(
  ({
    name,
    script,
    limits,
    secrets,
    calls,
    careless,
    reached,
    contained,
    needs = null,
    isEndless = false,
  }): Attack => ({
    class: 42,
    name,
    needs: sandboxProblem ?? needs,
    isSlow: true,
    unprotected: async (scene) => careless(await withoutSandbox(scene, isEndless ? 'true' : script(scene), secrets)),
    async product(scene) {
      const repository = await scene.repository();
      const environment = { setup: script(scene), ...(limits && { limits }) };
      return reached(await runSetupJob({ repository, environment, secrets, calls }), scene);
    },
    contained,
  }),
);
