import { resolve } from 'node:path';
import { z } from 'zod';
import { portNumber, readVariables, wholeNumber } from '../../lib/config/read-variables.ts';
import {
  defaultSnapshotGigabytes,
  providersOf,
  secretsAmong,
  sharedConfigOf,
  sharedVariables,
} from '../../lib/config/shared-config.ts';
import { priceVariables } from '../../models/prices.ts';
import { engineNames } from '../../activities/sandbox/engine.ts';
import { imagesOf, imageVariables } from './image-config.ts';
import { readAuthorities } from './extra-authorities.ts';
import { forgesOf, forgeVariables, tokensOf } from './forge-config.ts';
import { parseFetchHost } from '../../lib/inputs/fetch-hosts.ts';
import { parseRunHosts } from '../../lib/inputs/run-hosts.ts';
import { parseWebhookHosts } from '../../lib/inputs/webhook-address.ts';

/** Variables for the hosts and limits of repositories. */
const cloneVariables = z.object({
  DOCKET_PRIVATE_HOSTS: z.string().default(''),
  DOCKET_REPOSITORY_MB: wholeNumber(1).default(2_000),
  DOCKET_REPOSITORY_FILES: wholeNumber(1).default(200_000),
  DOCKET_REPOSITORY_DEPTH: wholeNumber(1).default(100),
  // git does not start with less
  DOCKET_GIT_MEMORY_MB: wholeNumber(256).default(4_096),
  DOCKET_CLONE_MINUTES: wholeNumber(1, 10_000).default(15),
});

interface CloneEnvironment extends z.infer<typeof cloneVariables> {
  GITHUB_API_URL: string;
  GITLAB_URL: string;
  GITEA_URL?: string | undefined;
}

/** Public hosts, which must not resolve to private addresses. */
const publicServers = new Set(['api.github.com', 'gitlab.com']);

/** Returns the hosts and limits for repositories. A self-hosted forge set by a variable may have a private address. */
function reachOf(env: CloneEnvironment) {
  const named = [env.GITHUB_API_URL, env.GITLAB_URL, env.GITEA_URL].flatMap((url) => URL.parse(url ?? '') ?? []);
  const own = named.filter(({ host }) => !publicServers.has(host)).map(fullHostOf);
  return {
    /** `host` or `host:port` of repositories and forges that may have private addresses. */
    privateHosts: [...parseWebhookHosts(env.DOCKET_PRIVATE_HOSTS), ...own],
    cloneLimits: {
      bytes: env.DOCKET_REPOSITORY_MB * 1e6,
      files: env.DOCKET_REPOSITORY_FILES,
      depth: env.DOCKET_REPOSITORY_DEPTH,
      memoryBytes: env.DOCKET_GIT_MEMORY_MB * 2 ** 20,
      timeoutMs: env.DOCKET_CLONE_MINUTES * 60_000,
    },
  };
}

function fullHostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

function hostsOf(text: string, context: z.RefinementCtx): string[] {
  const parsed = parseRunHosts(text);
  if (parsed.ok) return parsed.hosts;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
}

function fetchHostsOf(text: string, context: z.RefinementCtx): string[] {
  return parseWebhookHosts(text).flatMap((entry) => {
    const parsed = parseFetchHost(entry);
    if (parsed.ok) return parsed.host;
    context.addIssue({ code: 'custom', message: parsed.problem });
    return [];
  });
}

const commandVariables = z.object({
  DOCKET_RUN: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DOCKET_SANDBOX: z.enum(engineNames, `must be ${engineNames.join(' or ')}`).default(engineNames[0]),
  DOCKET_RUN_SECONDS: wholeNumber(1, 480).default(120),
  DOCKET_RUN_MEMORY_MB: wholeNumber(64, 1_000_000).default(2_048),
  DOCKET_RUN_PROCESSES: wholeNumber(16, 100_000).default(256),
  DOCKET_RUN_CPUS: wholeNumber(1, 10_000).optional(),
  DOCKET_RUN_DISK_MB: wholeNumber(1, 10_000).default(200),
  DOCKET_JOB_DISK_MB: wholeNumber(1, 1_000_000).optional(),
  DOCKET_RUN_HOSTS: z.string().transform(hostsOf).default([]),
  DOCKET_SETUP_SECONDS: wholeNumber(1, 1_080).default(600),
  DOCKET_ENVIRONMENT_MEMORY_MB: wholeNumber(64, 1_000_000).default(4_096),
  DOCKET_ENVIRONMENT_PROCESSES: wholeNumber(16, 100_000).default(1_024),
  DOCKET_ENVIRONMENT_DISK_GB: wholeNumber(1, 10_000).default(10),
  DOCKET_LAYERS_GB: wholeNumber(1).default(20),
  DOCKET_MAX_LAYERS_GB: wholeNumber(1).default(10),
});

/** Most setups of a project that are kept; an older one is that of an earlier state of its lock files. */
const maxLayers = 5;

/** Returns the limits of the environments of projects. */
function environmentsOf(env: z.infer<typeof commandVariables>) {
  const diskBytes = env.DOCKET_ENVIRONMENT_DISK_GB * 2 ** 30;
  return {
    ceilings: {
      usual: {
        memoryBytes: env.DOCKET_RUN_MEMORY_MB * 2 ** 20,
        processes: env.DOCKET_RUN_PROCESSES,
        seconds: env.DOCKET_RUN_SECONDS,
      },
      setup: {
        memoryBytes: Math.max(env.DOCKET_ENVIRONMENT_MEMORY_MB, env.DOCKET_RUN_MEMORY_MB) * 2 ** 20,
        processes: Math.max(env.DOCKET_ENVIRONMENT_PROCESSES, env.DOCKET_RUN_PROCESSES),
        cpus: env.DOCKET_RUN_CPUS,
        diskBytes,
        totalBytes: diskBytes,
      },
      setupSeconds: env.DOCKET_SETUP_SECONDS,
      hosts: env.DOCKET_RUN_HOSTS,
      jobDiskBytes: jobDisksOf(env)?.growthBytes ?? null,
    },
    /** Limits of what setups installed: of a project, and of an organization in the database. */
    layerBounds: { maxLayers, maxBytes: env.DOCKET_MAX_LAYERS_GB * 1e9 },
    /** Limit of what this machine keeps of it. */
    machineBytes: env.DOCKET_LAYERS_GB * 1e9,
  };
}

/** Returns null when working copies are on the worker's disk. */
function jobDisksOf(env: z.infer<typeof commandVariables>) {
  return env.DOCKET_JOB_DISK_MB === undefined ? null : { growthBytes: env.DOCKET_JOB_DISK_MB * 2 ** 20 };
}

/** Returns the limits of one agent command; null when agents cannot run commands. */
function commandLimitsOf(env: z.infer<typeof commandVariables>) {
  if (env.DOCKET_RUN === 'off') return null;
  return {
    engine: env.DOCKET_SANDBOX,
    maxSeconds: env.DOCKET_RUN_SECONDS,
    /** Hosts that a command may connect to; empty for no network. */
    hosts: env.DOCKET_RUN_HOSTS,
    memoryBytes: env.DOCKET_RUN_MEMORY_MB * 2 ** 20,
    processes: env.DOCKET_RUN_PROCESSES,
    cpus: env.DOCKET_RUN_CPUS,
    diskBytes: env.DOCKET_RUN_DISK_MB * 2 ** 20,
  };
}

const retentionVariables = z.object({
  DOCKET_JOB_DAYS: wholeNumber(0).default(365),
  DOCKET_TRANSCRIPT_DAYS: wholeNumber(0, 99_999).default(180),
  DOCKET_AUDIT_DAYS: wholeNumber(0).default(730),
  DOCKET_MAX_SNAPSHOT_GB: wholeNumber(1).default(defaultSnapshotGigabytes),
  DOCKET_MAX_THREADS: wholeNumber(1).default(100_000),
});

function retentionOf(env: z.infer<typeof retentionVariables>) {
  return {
    jobDays: env.DOCKET_JOB_DAYS,
    transcriptDays: env.DOCKET_TRANSCRIPT_DAYS,
    auditDays: env.DOCKET_AUDIT_DAYS,
    snapshotBytes: env.DOCKET_MAX_SNAPSHOT_GB * 2 ** 30,
    threads: env.DOCKET_MAX_THREADS,
  };
}

export type WorkerConfig = ReturnType<typeof configOf>;

const environmentSchema = z.object({
  ...sharedVariables.shape,
  ...priceVariables.shape,
  DOCKET_FETCH_HOSTS: z.string().transform(fetchHostsOf).default([]),
  DOCKET_WORK_DIR: z.string().default('.docket/work'),
  DOCKET_MIRRORS_GB: wholeNumber(1).default(20),
  ...cloneVariables.shape,
  DOCKET_SITE_DIRECTORIES: z.string().optional(),
  DOCKET_WAIT_DAYS: wholeNumber(1, 365).default(7),
  DOCKET_SELF_REVIEW: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DOCKET_HISTORY_DAYS: wholeNumber(0, 99_999).default(90),
  ...retentionVariables.shape,
  ...forgeVariables.shape,
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  ...commandVariables.shape,
  ...imageVariables.shape,
  DOCKET_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'must be up to 100 letters, digits and . _ + -')
    .optional(),
  DOCKET_WORKER_HEALTH_PORT: portNumber.optional(),
  DOCKET_GRACE_SECONDS: wholeNumber(0, 3_600).default(20),
  DOCKET_WORKER_SLOTS: wholeNumber(2, 1_000).default(40),
});

/** Reads the variables of the worker process. An empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return configOf(readVariables(environmentSchema, env));
}

function configOf(env: z.infer<typeof environmentSchema>) {
  return {
    ...sharedConfigOf(env),
    models: providersOf(env),
    prices: env.DOCKET_MODEL_PRICES,
    /** Hosts of the web pages that agents may fetch, as in `parseFetchHost`. */
    fetchHosts: env.DOCKET_FETCH_HOSTS,
    ...reachOf(env),
    siteDirectories: pathOrNull(env.DOCKET_SITE_DIRECTORIES),
    workDirectory: resolve(env.DOCKET_WORK_DIR),
    /** Disk space limit of the repository mirrors. */
    mirrorBytes: env.DOCKET_MIRRORS_GB * 1e9,
    /** Servers that the worker has a credential for. */
    forges: forgesOf(env),
    /** Additional CA certificates in PEM; null for none. */
    extraAuthorities: env.NODE_EXTRA_CA_CERTS === undefined ? null : readAuthorities(env.NODE_EXTRA_CA_CERTS),
    /** Base address of the local forge's links. */
    baseUrl: env.DOCKET_BASE_URL ?? 'http://127.0.0.1:8080',
    /** Days that events and histories of archived jobs are retained; 0 for no limit. */
    historyDays: env.DOCKET_HISTORY_DAYS,
    retention: retentionOf(env),
    /** Days after which a job that waits for a person fails. */
    waitDays: env.DOCKET_WAIT_DAYS,
    /** Whether agents review their change unless the project says otherwise. */
    selfReview: env.DOCKET_SELF_REVIEW === 'on',
    /** Names this worker's code for Temporal's Worker Versioning; null: not versioned. */
    buildId: env.DOCKET_BUILD_ID ?? null,
    /** Null for no health endpoint. */
    healthPort: env.DOCKET_WORKER_HEALTH_PORT ?? null,
    /** How long running work may continue after the stop signal. */
    graceMs: env.DOCKET_GRACE_SECONDS * 1000,
    /** How many activities of jobs run at once. */
    slots: env.DOCKET_WORKER_SLOTS,
    commands: commandLimitsOf(env),
    images: imagesOf(env),
    environments: environmentsOf(env),
    /** Free space on each job's own disk; null when working copies are on the worker's disk. */
    jobDisks: jobDisksOf(env),
  };
}

/** Returns the values that must never be stored or leave the worker. */
export function secretsOf(config: WorkerConfig): string[] {
  return secretsAmong(config, config.models, tokensOf(config.forges));
}

function pathOrNull(path: string | undefined): string | null {
  return path === undefined ? null : resolve(path);
}
