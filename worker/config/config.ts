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
import { cloneVariables, reachOf } from './clone-config.ts';
import { commandLimitsOf, commandVariables, jobDisksOf, type CommandLimits } from './command-config.ts';
import { readAuthorities } from './extra-authorities.ts';
import { forgesOf, forgeVariables, tokensOf } from './forge-config.ts';
import { retentionOf, retentionVariables } from './retention-config.ts';
import type { Retention } from '../../db/for-worker/retention.ts';
import type { ModelSettings } from '../../models/registry.ts';

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
