import { resolve } from 'node:path';
import { z } from 'zod';
import { dollarsSchema } from '../../lib/inputs/dollars.ts';
import { tracingSettingsOf, tracingVariables, type TracingSettings } from '../../lib/tracing/tracing-settings.ts';
import type { ForgeServers } from '../../activities/forges/forges.ts';
import { encryptionKeysVariable } from '../../lib/encryption/keys-variable.ts';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';
import { pricesVariable, type PriceOverrides } from '../../models/prices.ts';
import { cloneVariables, reachOf } from './clone-config.ts';
import { ConfigError } from '../../lib/config-error.ts';
import {
  readTemporalCredentials,
  temporalSettingsOf,
  temporalVariables,
  type TemporalSettings,
} from '../../lib/temporal/temporal-credentials.ts';
import { commandLimitsOf, commandVariables, jobDisksOf, type CommandLimits } from './command-config.ts';
import { readAuthorities } from './extra-authorities.ts';
import { forgesOf, forgeVariables, tokensOf } from './forge-config.ts';
import type { Budgets } from '../../db/for-worker/budgets.ts';
import { retentionOf, retentionVariables } from './retention-config.ts';
import type { Retention } from '../../db/for-worker/retention.ts';
import type { ModelSettings } from '../../models/registry.ts';
import { parseWebhookHosts } from '../../lib/inputs/webhook-address.ts';

export { ConfigError } from '../../lib/config-error.ts';

export interface WorkerConfig {
  logLevel: string;
  /** Null: nothing is traced. */
  tracing: TracingSettings | null;
  database: { url: string };
  temporal: TemporalSettings;
  /** The first seals, all open; none: values are stored as they are. */
  encryptionKeys: EncryptionKey[];
  models: ModelSettings;
  prices: PriceOverrides;
  /** The operator's: what a project says of itself is never more. */
  budgets: Budgets;
  repositories: { allowedHosts: string[]; localRoot: string | null };
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
  /** `host` or `host:port` that webhooks may lead to though it is private, and without TLS. */
  webhookAllowedHosts: string[];
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

const httpAddress = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:\/\//i.test(text), 'must be an http:// or https:// address');

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const environmentSchema = z.object({
  DATABASE_URL: z
    .string({ error: 'is missing; set it to the address of PostgreSQL, or use "npm start", which brings its own' })
    .refine((text) => URL.canParse(text) && /^postgres(?:ql)?:\/\//i.test(text), 'must be a postgres:// address'),
  ...temporalVariables.shape,
  DOCKET_ENCRYPTION_KEYS: encryptionKeysVariable,
  ...tracingVariables.shape,
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  ANTHROPIC_API_KEY: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: z.string().optional(),
  OPENAI_COMPATIBLE_BASE_URL: httpAddress.optional(),
  OPENAI_COMPATIBLE_API_KEY: z.string().optional(),
  DOCKET_MAX_JOB_DOLLARS: dollarsSchema.optional(),
  DOCKET_MAX_PROJECT_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_MODEL_PRICES: pricesVariable,
  DOCKET_BASE_URL: httpAddress.default('http://127.0.0.1:8080'),
  DOCKET_WORK_DIR: z.string().default('.docket/work'),
  DOCKET_MIRRORS_GB: z.coerce.number('must be a number of gigabytes').positive('must be more than 0').default(20),
  DOCKET_ALLOWED_HOSTS: z.string().default('github.com'),
  ...cloneVariables.shape,
  DOCKET_WEBHOOK_ALLOWED_HOSTS: z.string().default(''),
  DOCKET_LOCAL_REPOSITORIES: z.string().optional(),
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
  const present = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== '');
  const parsed = environmentSchema.safeParse(Object.fromEntries(present));
  if (parsed.success) return configOf(parsed.data);
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`).join(' '));
}

function configOf(env: z.infer<typeof environmentSchema>): WorkerConfig {
  const hosts = env.DOCKET_ALLOWED_HOSTS.split(',').map((host) => host.trim().toLowerCase());
  return {
    logLevel: env.LOG_LEVEL,
    tracing: tracingSettingsOf(env),
    database: { url: env.DATABASE_URL },
    temporal: temporalSettingsOf(env),
    encryptionKeys: env.DOCKET_ENCRYPTION_KEYS,
    models: modelsOf(env),
    prices: env.DOCKET_MODEL_PRICES,
    budgets: {
      jobMicros: env.DOCKET_MAX_JOB_DOLLARS ?? null,
      dayMicros: env.DOCKET_MAX_PROJECT_DOLLARS_PER_DAY ?? null,
      organizationMicros: env.DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY ?? null,
    },
    repositories: {
      allowedHosts: hosts.filter((host) => host !== ''),
      localRoot: pathOrNull(env.DOCKET_LOCAL_REPOSITORIES),
    },
    ...reachOf(env),
    webhookAllowedHosts: parseWebhookHosts(env.DOCKET_WEBHOOK_ALLOWED_HOSTS),
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

function modelsOf(env: z.infer<typeof environmentSchema>): ModelSettings {
  const baseUrl = env.OPENAI_COMPATIBLE_BASE_URL;
  return {
    anthropicApiKey: env.ANTHROPIC_API_KEY,
    openaiApiKey: env.OPENAI_API_KEY,
    googleApiKey: env.GOOGLE_GENERATIVE_AI_API_KEY,
    compatible: baseUrl === undefined ? undefined : { baseUrl, apiKey: env.OPENAI_COMPATIBLE_API_KEY },
  };
}

/** The values that must never be stored or leave the worker. */
export function secretsOf({ models, forges, database, encryptionKeys, tracing, temporal }: WorkerConfig): string[] {
  const password = decodeURIComponent(new URL(database.url).password);
  const keys = encryptionKeys.map(({ secret }) => secret.export().toString('base64'));
  const { anthropicApiKey, openaiApiKey, googleApiKey, compatible } = models;
  const own = [
    ...keys,
    ...tokensOf(forges),
    password,
    readTemporalCredentials(temporal).apiKey,
    ...(tracing?.secrets ?? []),
  ];
  const values = [anthropicApiKey, openaiApiKey, googleApiKey, compatible?.apiKey, ...own];
  return values.filter((value) => value !== undefined).filter((value) => value !== '');
}

function pathOrNull(path: string | undefined): string | null {
  return path === undefined ? null : resolve(path);
}

function trimmed(address: string): string {
  return address.replace(/\/+$/, '');
}
