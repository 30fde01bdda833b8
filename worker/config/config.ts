import { resolve } from 'node:path';
import { z } from 'zod';
import type { ForgeServers } from '../../activities/forges/forges.ts';
import { httpAddress, readVariables } from '../../lib/config/read-variables.ts';
import {
  providersOf,
  secretsAmong,
  sharedConfigOf,
  sharedVariables,
  type SharedConfig,
} from '../../lib/config/shared-config.ts';
import { pricesVariable, type PriceOverrides } from '../../models/prices.ts';
import { readAuthorities } from './extra-authorities.ts';
import { forgesOf, forgeVariables, tokensOf } from './forge-config.ts';
import type { Retention } from '../../db/for-worker/retention.ts';
import type { ModelSettings } from '../../models/registry.ts';
import { parseRunHosts } from '../../activities/sandbox/network.ts';
import type { SandboxLimits } from '../../activities/sandbox/profile.ts';
import { parseWebhookHosts } from '../../lib/inputs/webhook-address.ts';

const positive = (unit: string) => z.coerce.number(`must be a number of ${unit}`).positive('must be more than 0');

/** With less, git does not start. */
const wholeMegabytes = z.coerce.number('must be a number of megabytes').min(256, 'must be at least 256');

/** The variables of where repositories may lie and how large they may be. */
const cloneVariables = z.object({
  DOCKET_PRIVATE_HOSTS: z.string().default(''),
  DOCKET_REPOSITORY_MB: positive('megabytes').default(2_000),
  DOCKET_REPOSITORY_FILES: positive('files').default(200_000),
  DOCKET_REPOSITORY_DEPTH: positive('levels').default(100),
  DOCKET_GIT_MEMORY_MB: wholeMegabytes.default(4_096),
  DOCKET_CLONE_MINUTES: positive('minutes').default(15),
});

interface CloneEnvironment extends z.infer<typeof cloneVariables> {
  GITHUB_API_URL: string;
  GITLAB_URL: string;
  GITEA_URL?: string | undefined;
}

/** Hosts of which the public internet has the only one. */
const publicServers = new Set(['api.github.com', 'gitlab.com']);

/** What the worker may reach and take in. A server of one's own that a variable names is allowed wherever it lies. */
function reachOf(env: CloneEnvironment) {
  const named = [env.GITHUB_API_URL, env.GITLAB_URL, env.GITEA_URL].flatMap((url) => URL.parse(url ?? '') ?? []);
  const own = named.filter(({ host }) => !publicServers.has(host)).map(fullHostOf);
  return {
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

/** What one command of an agent may use. */
interface CommandLimits extends SandboxLimits {
  maxSeconds: number;
  /** What it may reach; none: it has no network. */
  hosts: string[];
}

function hostsOf(text: string, context: z.RefinementCtx): string[] {
  const parsed = parseRunHosts(text);
  if (parsed.ok) return parsed.hosts;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
}

const wholeNumber = (from: number, to: number) => {
  const rule = `must be a whole number from ${from} to ${to}`;
  return z.coerce.number(rule).int(rule).min(from, rule).max(to, rule);
};

const commandVariables = z.object({
  DOCKET_RUN: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DOCKET_RUN_SECONDS: wholeNumber(1, 480).default(120),
  DOCKET_RUN_MEMORY_MB: wholeNumber(64, 1_000_000).default(2_048),
  DOCKET_RUN_PROCESSES: wholeNumber(16, 100_000).default(256),
  DOCKET_RUN_DISK_MB: wholeNumber(1, 10_000).default(200),
  DOCKET_JOB_DISK_MB: wholeNumber(1, 1_000_000).optional(),
  DOCKET_RUN_HOSTS: z.string().transform(hostsOf).default([]),
});

/** Null: working copies lie on the disk of the worker. */
function jobDisksOf(env: z.infer<typeof commandVariables>): { growthBytes: number } | null {
  return env.DOCKET_JOB_DISK_MB === undefined ? null : { growthBytes: env.DOCKET_JOB_DISK_MB * 2 ** 20 };
}

/** Null: agents run no commands. */
function commandLimitsOf(env: z.infer<typeof commandVariables>): CommandLimits | null {
  if (env.DOCKET_RUN === 'off') return null;
  return {
    maxSeconds: env.DOCKET_RUN_SECONDS,
    hosts: env.DOCKET_RUN_HOSTS,
    memoryBytes: env.DOCKET_RUN_MEMORY_MB * 2 ** 20,
    processes: env.DOCKET_RUN_PROCESSES,
    diskBytes: env.DOCKET_RUN_DISK_MB * 2 ** 20,
  };
}

const atLeast = (least: number) => {
  const rule = `must be a whole number of at least ${least}`;
  return z.coerce.number(rule).int(rule).min(least, rule).max(1e9, rule);
};

const retentionVariables = z.object({
  DOCKET_JOB_DAYS: atLeast(0).default(365),
  DOCKET_AUDIT_DAYS: atLeast(0).default(730),
  DOCKET_MAX_SNAPSHOT_GB: atLeast(1).default(20),
  DOCKET_MAX_THREADS: atLeast(1).default(100_000),
});

function retentionOf(env: z.infer<typeof retentionVariables>): Retention {
  return {
    jobDays: env.DOCKET_JOB_DAYS,
    auditDays: env.DOCKET_AUDIT_DAYS,
    snapshotBytes: env.DOCKET_MAX_SNAPSHOT_GB * 2 ** 30,
    threads: env.DOCKET_MAX_THREADS,
  };
}

export { ConfigError } from '../../lib/config/read-variables.ts';

export interface WorkerConfig extends SharedConfig {
  models: ModelSettings;
  prices: PriceOverrides;
  /** `host` or `host:port` of repositories and forges that may have private addresses. */
  privateHosts: string[];
  cloneLimits: { bytes: number; files: number; depth: number; memoryBytes: number; timeoutMs: number };
  siteDirectories: string | null;
  workDirectory: string;
  /** What the mirrors of repositories may take on disk. */
  mirrorBytes: number;
  /** The servers that the worker has a credential for. */
  forges: ForgeServers;
  /** Authorities of certificates beside the usual ones, in PEM; null: none. */
  extraAuthorities: string | null;
  /** Where links of the local forge lead. */
  baseUrl: string;
  /** Days that events and histories of archived jobs are kept; 0: for good. */
  historyDays: number;
  retention: Retention;
  /** Names the code of this worker for Temporal's Worker Versioning; null: not versioned. */
  buildId: string | null;
  /** Null: no health answer. */
  healthPort: number | null;
  /** How long what runs may go on after the signal to stop. */
  graceMs: number;
  /** What commands of agents may use; null: they run none. */
  commands: CommandLimits | null;
  /** What the disk of each job has room for beside its files; null: working copies lie on the disk of the worker. */
  jobDisks: { growthBytes: number } | null;
}

const environmentSchema = z.object({
  ...sharedVariables.shape,
  DOCKET_MODEL_PRICES: pricesVariable,
  DOCKET_BASE_URL: httpAddress.default('http://127.0.0.1:8080'),
  DOCKET_WORK_DIR: z.string().default('.docket/work'),
  DOCKET_MIRRORS_GB: z.coerce.number('must be a number of gigabytes').positive('must be more than 0').default(20),
  ...cloneVariables.shape,
  DOCKET_SITE_DIRECTORIES: z.string().optional(),
  DOCKET_HISTORY_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number of days; 0 keeps histories forever')
    .default('90'),
  ...retentionVariables.shape,
  ...forgeVariables.shape,
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  ...commandVariables.shape,
  DOCKET_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'must be up to 100 letters, digits and . _ + -')
    .optional(),
  DOCKET_WORKER_HEALTH_PORT: z.coerce
    .number('must be the number of a port')
    .int('must be the number of a port')
    .min(0, 'must be the number of a port')
    .max(65_535, 'must be the number of a port')
    .optional(),
  DOCKET_GRACE_SECONDS: z.coerce
    .number('must be a number of seconds')
    .min(0, 'must be 0 or more')
    .max(3_600, 'must be 3600 or less')
    .default(20),
});

/** Reads the variables of the worker process. An empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  return configOf(readVariables(environmentSchema, env));
}

function configOf(env: z.infer<typeof environmentSchema>): WorkerConfig {
  return {
    ...sharedConfigOf(env),
    models: providersOf(env),
    prices: env.DOCKET_MODEL_PRICES,
    ...reachOf(env),
    siteDirectories: pathOrNull(env.DOCKET_SITE_DIRECTORIES),
    workDirectory: resolve(env.DOCKET_WORK_DIR),
    mirrorBytes: env.DOCKET_MIRRORS_GB * 1e9,
    forges: forgesOf(env),
    extraAuthorities: env.NODE_EXTRA_CA_CERTS === undefined ? null : readAuthorities(env.NODE_EXTRA_CA_CERTS),
    baseUrl: trimmed(env.DOCKET_BASE_URL),
    historyDays: Number(env.DOCKET_HISTORY_DAYS),
    retention: retentionOf(env),
    buildId: env.DOCKET_BUILD_ID ?? null,
    healthPort: env.DOCKET_WORKER_HEALTH_PORT ?? null,
    graceMs: env.DOCKET_GRACE_SECONDS * 1000,
    commands: commandLimitsOf(env),
    jobDisks: jobDisksOf(env),
  };
}

/** The values that must never be stored or leave the worker. */
export function secretsOf(config: WorkerConfig): string[] {
  return secretsAmong(config, config.models, tokensOf(config.forges));
}

function pathOrNull(path: string | undefined): string | null {
  return path === undefined ? null : resolve(path);
}

function trimmed(address: string): string {
  return address.replace(/\/+$/, '');
}
