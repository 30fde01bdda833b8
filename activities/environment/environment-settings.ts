import type { Environment } from '../../lib/environments/environment.ts';
import { homePoint, type SandboxLimits } from '../sandbox/command-environment.ts';
import type { PreparedEnvironment } from './prepared-environment.ts';

/** Operator’s limits on the environment of a project. */
export interface EnvironmentCeilings {
  /** Settings of commands where a project has none of its own. */
  usual: Pick<SandboxLimits, 'memoryBytes' | 'processes'> & { seconds: number };
  /** Largest limits that a project may set; also those of setup by default. */
  setup: SandboxLimits & { totalBytes: number };
  /** Most bytes that commands may add to a job's disk; null if jobs have no disks of their own. */
  jobDiskBytes: number | null;
  setupSeconds: number;
  hosts: readonly string[];
}

/** The environment of a project within the operator's ceilings. */
export interface EnvironmentSettings {
  setup: { path: string[]; hosts: string[]; limits: SandboxLimits; seconds: number };
  agent: Pick<PreparedEnvironment, 'variables' | 'path' | 'limits' | 'run'>;
  /** Sentences about values that were lowered to a limit. */
  notices: string[];
}

/** Returns the settings of the commands of an environment, in setup and afterwards. */
export function settingsOf(environment: Environment, ceilings: EnvironmentCeilings): EnvironmentSettings {
  const notices: string[] = [];
  const { limits: own = {}, hosts, variables = {} } = environment;

  function within<Usual extends number | undefined>(
    name: string,
    wanted: number | undefined,
    { usual, max = Infinity }: { usual: Usual; max: number | undefined },
  ): number | Usual {
    if (wanted === undefined) return usual;
    if (wanted > max)
      notices.push(`limits.${name} of the environment is lowered to ${max}, the most that the worker allows.`);
    return Math.min(wanted, max);
  }

  const { usual, setup, jobDiskBytes } = ceilings;
  const megabyte = 2 ** 20;
  const gigabyte = 2 ** 30;
  const memory = within('memoryMb', own.memoryMb, {
    usual: usual.memoryBytes / megabyte,
    max: setup.memoryBytes / megabyte,
  });
  const processes = within('processes', own.processes, { usual: usual.processes, max: setup.processes });
  const cpus = within('cpus', own.cpus, { usual: setup.cpus, max: setup.cpus });
  const disk = within('diskGb', own.diskGb, { usual: setup.totalBytes / gigabyte, max: setup.totalBytes / gigabyte });
  const seconds = within('seconds', own.seconds, { usual: usual.seconds, max: 480 });
  const setupSeconds = within('setupSeconds', own.setupSeconds, {
    usual: ceilings.setupSeconds,
    max: ceilings.setupSeconds,
  });

  const unknown = [...(hosts?.setup ?? []), ...(hosts?.agent ?? [])].filter((host) => !ceilings.hosts.includes(host));
  if (unknown.length > 0) {
    notices.push(
      `Commands cannot reach ${[...new Set(unknown)].join(', ')}: DOCKET_RUN_HOSTS of the worker does not list it.`,
    );
  }
  const among = (wanted: readonly string[]) => wanted.filter((host) => ceilings.hosts.includes(host));
  const path = (environment.path ?? []).map((folder) => folder.replace(/^~/, homePoint));
  const totalBytes = Math.floor(disk * gigabyte);
  const diskBytes = Math.min(totalBytes, jobDiskBytes ?? Infinity);
  if (own.diskGb !== undefined && diskBytes < totalBytes)
    notices.push(
      `limits.diskGb of the environment is ${own.diskGb}, but the disk of a job has room for ${Math.round(diskBytes / megabyte)} MB besides the repository (DOCKET_JOB_DISK_MB of the worker).`,
    );
  const limits = { processes, cpus, diskBytes, totalBytes };
  return {
    setup: {
      path,
      hosts: among(hosts?.setup ?? ceilings.hosts),
      limits: {
        ...limits,
        memoryBytes: own.memoryMb === undefined ? setup.memoryBytes : memory * megabyte,
        processes: own.processes === undefined ? setup.processes : processes,
      },
      seconds: setupSeconds,
    },
    agent: {
      variables,
      path,
      limits: { ...limits, memoryBytes: memory * megabyte },
      run: { maxSeconds: seconds, hosts: among(hosts === undefined ? ceilings.hosts : (hosts.agent ?? [])) },
    },
    notices,
  };
}
