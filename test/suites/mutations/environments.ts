import type { Mutation } from './list.ts';

const layers = { project: 'integration', tests: ['db/environment-layers'] } as const;
const jobs = { project: 'integration', tests: ['jobs/environments'] } as const;
const eviction = { project: 'integration', tests: ['db/layer-eviction'] } as const;
const keys = { project: 'integration', tests: ['workspaces/layer-key'] } as const;
const settings = { project: 'unit', tests: ['activities/environment/environment-settings'] } as const;
const parsing = { project: 'unit', tests: ['lib/environments/environment'] } as const;

/** Checks on the environments of jobs. */
export const environmentMutations: Mutation[] = [
  {
    name: 'a setup may leave a secret in a file',
    file: 'activities/environment/environments.ts',
    find: 'if (secret !== null) {',
    replace: 'if (secret === undefined) {',
    ...jobs,
  },
  {
    name: 'a secret across two parts of an archive is not found',
    file: 'activities/environment/layer-archive.ts',
    find: ' || seam.includes(value)',
    replace: '',
    ...layers,
  },
  {
    name: 'a secret that a login stored in base64 is not found',
    file: 'activities/environment/layer-archive.ts',
    find: 'return [value, ...base64Cores(value).filter(',
    replace: 'return [value, ...base64Cores(value).slice(3).filter(',
    ...layers,
  },
  {
    name: 'what a setup added outside .gitignore is published',
    file: 'activities/workspaces/job-layer.ts',
    find: "Buffer.from(patterns.join(''), 'latin1')",
    replace: "Buffer.from(patterns.slice(0, 0).join(''), 'latin1')",
    ...jobs,
  },
  {
    name: 'a finished layer of a dead builder is built again',
    file: 'activities/environment/provide-layer.ts',
    find: 'const stored = local ?? (',
    replace: 'const stored = (',
    ...layers,
  },
  {
    name: 'a suspended worker starts a setup that another has finished',
    file: 'activities/environment/provide-layer.ts',
    find: 'checkHeld(await layers.start(id, holdMs, notice));',
    replace: 'await layers.start(id, holdMs, notice);',
    ...layers,
  },
  {
    name: 'a setup that another has finished is announced once more',
    file: 'db/for-worker/environment-layers.ts',
    find: 'append_job_events(id, $4, null, $5) from job) from held`',
    replace: 'append_job_events(id, $4, null, $5) from job) from (select) as held`',
    ...layers,
  },
  {
    name: 'a setup starts with all that the last one installed',
    file: 'activities/environment/run-setup.ts',
    find: '--skip-old-files $found`',
    replace: '--skip-old-files`',
    ...jobs,
  },
  {
    name: 'package caches that fill the disk end a setup',
    file: 'activities/environment/environments.ts',
    find: 'if (last !== null && hasFilledDisk(end)) return null;',
    replace: '',
    ...jobs,
  },
  {
    name: 'a changed lock file does not run the setup again',
    file: 'activities/environment/layer-key.ts',
    find: 'secretNames.toSorted(), inputs]',
    replace: 'secretNames.toSorted()]',
    ...keys,
  },
  {
    name: 'an environment cannot name the files that its setup depends on',
    file: 'activities/environment/layer-key.ts',
    find: 'environment.inputs ?? usualInputs',
    replace: 'usualInputs',
    ...keys,
  },
  {
    name: 'a setup is not run again for a new secret',
    file: 'activities/environment/layer-key.ts',
    find: 'variables, secretNames.toSorted(),',
    replace: 'variables,',
    ...keys,
  },
  {
    name: 'what a setup installed is used in another image',
    file: 'activities/environment/layer-key.ts',
    find: 'imageId === null ? kind',
    replace: "imageId !== '' ? kind",
    ...keys,
  },
  {
    name: 'what a setup installed is used on another processor',
    file: 'activities/sandbox/machine.ts',
    find: 'bubblewrap/${process.arch}/',
    replace: 'bubblewrap/',
    ...keys,
  },
  {
    name: 'a damaged layer is used',
    file: 'activities/environment/layer-archive.ts',
    find: "if (chunk === null) return hash.digest('hex') === sha256;",
    replace: "if (chunk === null) return hash.digest('hex') !== '';",
    ...layers,
  },
  {
    name: 'the layers of a project are not bounded',
    file: 'db/for-worker/environment-layers.ts',
    find: 'position > $2 and project_id',
    replace: 'position > $2 + 100 and project_id',
    ...layers,
  },
  {
    name: 'the layers of an organization are not bounded',
    file: 'db/for-worker/environment-layers.ts',
    find: 'or total > $3)',
    replace: 'or total > $3 * 100)',
    ...eviction,
  },
  {
    name: 'a layer that jobs use is removed before one that they do not',
    file: 'db/for-worker/environment-layers.ts',
    find: 'set used_at = now()',
    replace: 'set used_at = used_at',
    ...eviction,
  },
  {
    name: 'a layer that no job uses is kept',
    file: 'db/for-worker/retention.ts',
    find: 'const unusedLayerDays = 30;',
    replace: 'const unusedLayerDays = 3_000;',
    ...eviction,
  },
  {
    name: 'what a dead builder stored of a layer is kept',
    file: 'db/for-worker/retention.ts',
    find: "oldest('environment_layers', 'held_until')",
    replace: "oldest('environment_layers', 'held_until', 'false')",
    ...eviction,
  },
  {
    name: 'layers fill the disk of a worker',
    file: 'activities/environment/layer-files.ts',
    find: 'if (bytes <= mostBytes || ',
    replace: 'if (bytes > 0 || ',
    ...eviction,
  },
  {
    name: 'a worker removes the layer that it used last',
    file: 'activities/environment/layer-files.ts',
    find: 'if (stored !== null) await utimes(',
    replace: 'if (stored === null) await utimes(',
    ...eviction,
  },
  {
    name: 'a worker removes a layer that commands are reading',
    file: 'activities/environment/layer-files.ts',
    find: ' || Date.now() - folder.usedAtMs < keepMs',
    replace: '',
    ...eviction,
  },
  {
    name: 'a project exceeds the limits of the operator',
    file: 'activities/environment/environment-settings.ts',
    find: 'return Math.min(wanted, most);',
    replace: 'return wanted;',
    ...settings,
  },
  {
    name: 'the agent reaches the hosts of the setup',
    file: 'activities/environment/environment-settings.ts',
    find: 'hosts.agent ?? []',
    replace: 'hosts.agent ?? ceilings.hosts',
    ...settings,
  },
  {
    name: 'a description may set variables of the sandbox',
    file: 'lib/environments/variable-name.ts',
    find: ' && !reserved.test(name)',
    replace: ' && reserved.source !== name',
    ...parsing,
  },
];
