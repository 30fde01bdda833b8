import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../lib/config-error.ts';
import {
  readTemporalCredentials,
  temporalSettingsOf,
  temporalVariables,
  type TemporalSettings,
} from '../lib/temporal/temporal-credentials.ts';
import { dollarsSchema } from '../lib/inputs/dollars.ts';
import { tracingSettingsOf, tracingVariables, type TracingSettings } from '../lib/tracing/tracing-settings.ts';
import { encryptionKeysVariable } from '../lib/encryption/keys-variable.ts';
import type { EncryptionKey } from '../lib/encryption/keys.ts';
import { pricesVariable, type PriceOverrides } from '../models/prices.ts';
import type { BudgetCeilings } from './administration/budget-ceilings.ts';
import type { ModelSettings } from '../models/registry.ts';
import type { JobLimits } from '../workflows/contract/job.ts';
import { quotaVariables } from './access/quotas.ts';
import type { Quotas } from '../db/organizations/quotas.ts';
import { parseWebhookHosts } from '../lib/inputs/webhook-address.ts';

export { ConfigError } from '../lib/config-error.ts';

export interface ApiConfig {
  logLevel: string;
  /** Null: nothing is traced. */
  tracing: TracingSettings | null;
  http: { host: string; port: number; baseUrl: string; trustedProxies: number };
  database: { url: string };
  temporal: TemporalSettings;
  keyPepper: string;
  /** The first seals, all open; none: values are stored as they are. */
  encryptionKeys: EncryptionKey[];
  /** Folder for the files of the search indexes in use. */
  cacheDirectory: string;
  models: { settings: ModelSettings; agent: string; assistant: string; embedding: string | null };
  repositories: { allowedHosts: string[]; localRoot: string | null };
  /** `host` or `host:port` that webhooks may lead to though it is private, and without TLS. */
  webhookAllowedHosts: string[];
  rateLimits: { jobsPerHour: number; assistantPerHour: number; assistantPerIpPerDay: number; eventStreams: number };
  /** The operator's, in millionths of a US dollar: what a project says of itself is never more. */
  budgets: BudgetCeilings;
  prices: PriceOverrides;
  /** What an organization may have at most. */
  quotas: Quotas;
  jobLimits: JobLimits;
  /** Address of Temporal's web interface, for links. */
  temporalUiUrl: string | null;
  /** The organizations that see the machines of the service. */
  operatorOrganizations: string[];
  /** How long the process goes on serving after the signal to stop, so that proxies turn away. */
  drainMs: number;
}

function wholeNumber(minimum: number, maximum: number, fallback: number) {
  const sentence = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, sentence)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, sentence)
    .default(fallback);
}

function requiredText(sentence: string) {
  return z.string({ error: sentence });
}

function addressOf(protocol: RegExp, sentence: string) {
  return z.string().refine((text) => URL.canParse(text) && protocol.test(text), sentence);
}

const httpAddress = addressOf(/^https?:\/\//i, 'must be an http:// or https:// address');

const environmentSchema = z.object({
  DATABASE_URL: requiredText(
    'is missing; set it to the address of PostgreSQL, or use "npm start", which brings its own',
  ).refine((text) => URL.canParse(text) && /^postgres(?:ql)?:\/\//i.test(text), 'must be a postgres:// address'),
  DOCKET_KEY_PEPPER: requiredText('is missing; set it to a long random text that never changes'),
  DOCKET_ENCRYPTION_KEYS: encryptionKeysVariable,
  DOCKET_CACHE_DIR: z.string().optional(),
  ...temporalVariables.shape,
  DOCKET_TEMPORAL_UI_URL: httpAddress.optional(),
  DOCKET_OPERATOR_ORGANIZATIONS: z.string().default(''),
  ...tracingVariables.shape,
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be one of trace, debug, info, warn, error, fatal, silent',
    )
    .default('info'),
  DOCKET_AGENT_MODEL: z.string().default('offline/editor'),
  DOCKET_ASSISTANT_MODEL: z.string().default('offline/extract'),
  DOCKET_EMBEDDING_MODEL: z.string().optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: z.string().optional(),
  OPENAI_COMPATIBLE_BASE_URL: httpAddress.optional(),
  OPENAI_COMPATIBLE_API_KEY: z.string().optional(),
  PORT: wholeNumber(0, 65_535, 8080),
  HOST: z.string().default('127.0.0.1'),
  DOCKET_BASE_URL: httpAddress.optional(),
  DOCKET_JOBS_PER_HOUR: wholeNumber(1, 1e9, 100),
  DOCKET_ASSISTANT_PER_HOUR: wholeNumber(1, 1e9, 10_000),
  DOCKET_ASSISTANT_PER_IP_PER_DAY: wholeNumber(1, 1e9, 10_000),
  DOCKET_MAX_JOB_DOLLARS: dollarsSchema.optional(),
  DOCKET_MAX_PROJECT_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_MODEL_PRICES: pricesVariable,
  DOCKET_MAX_EVENT_STREAMS: wholeNumber(1, 1e6, 500),
  DOCKET_TRUSTED_PROXIES: wholeNumber(0, 10, 0),
  DOCKET_DRAIN_SECONDS: wholeNumber(0, 600, 0),
  DOCKET_ALLOWED_HOSTS: z.string().default('github.com'),
  DOCKET_WEBHOOK_ALLOWED_HOSTS: z.string().default(''),
  DOCKET_LOCAL_REPOSITORIES: z.string().optional(),
  DOCKET_MAX_STEPS: wholeNumber(1, 10_000, 50),
  DOCKET_MAX_TOKENS: wholeNumber(1, 1e12, 2_000_000),
  DOCKET_MAX_JOB_MINUTES: wholeNumber(1, 100_000, 60),
});

/** Reads the variables of the API process. An empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv): ApiConfig {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const parsed = environmentSchema.safeParse(present);
  const quotas = quotaVariables.safeParse(present);
  if (!parsed.success || !quotas.success) {
    const issues = [parsed, quotas].flatMap(({ error }) => error?.issues ?? []);
    throw new ConfigError(issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`).join(' '));
  }
  return { ...configOf(parsed.data), quotas: quotas.data };
}

function configOf(env: z.infer<typeof environmentSchema>): Omit<ApiConfig, 'quotas'> {
  return {
    logLevel: env.LOG_LEVEL,
    tracing: tracingSettingsOf(env),
    http: {
      host: env.HOST,
      port: env.PORT,
      baseUrl: (env.DOCKET_BASE_URL ?? `http://${hostInUrl(env.HOST)}:${env.PORT}`).replace(/\/+$/, ''),
      trustedProxies: env.DOCKET_TRUSTED_PROXIES,
    },
    database: { url: env.DATABASE_URL },
    temporal: temporalSettingsOf(env),
    keyPepper: env.DOCKET_KEY_PEPPER,
    encryptionKeys: env.DOCKET_ENCRYPTION_KEYS,
    cacheDirectory: resolve(env.DOCKET_CACHE_DIR ?? join(tmpdir(), `docket-cache-${userInfo().uid}`)),
    models: {
      settings: modelSettingsOf(env),
      agent: env.DOCKET_AGENT_MODEL,
      assistant: env.DOCKET_ASSISTANT_MODEL,
      embedding: env.DOCKET_EMBEDDING_MODEL ?? null,
    },
    repositories: {
      allowedHosts: env.DOCKET_ALLOWED_HOSTS.split(',')
        .map((host) => host.trim().toLowerCase())
        .filter((host) => host !== ''),
      localRoot: env.DOCKET_LOCAL_REPOSITORIES === undefined ? null : resolve(env.DOCKET_LOCAL_REPOSITORIES),
    },
    webhookAllowedHosts: parseWebhookHosts(env.DOCKET_WEBHOOK_ALLOWED_HOSTS),
    rateLimits: {
      jobsPerHour: env.DOCKET_JOBS_PER_HOUR,
      assistantPerHour: env.DOCKET_ASSISTANT_PER_HOUR,
      assistantPerIpPerDay: env.DOCKET_ASSISTANT_PER_IP_PER_DAY,
      eventStreams: env.DOCKET_MAX_EVENT_STREAMS,
    },
    budgets: {
      jobMicros: env.DOCKET_MAX_JOB_DOLLARS ?? null,
      dayMicros: env.DOCKET_MAX_PROJECT_DOLLARS_PER_DAY ?? null,
      organizationMicros: env.DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY ?? null,
    },
    prices: env.DOCKET_MODEL_PRICES,
    jobLimits: {
      maxSteps: env.DOCKET_MAX_STEPS,
      maxTokens: env.DOCKET_MAX_TOKENS,
      maxDurationMs: env.DOCKET_MAX_JOB_MINUTES * 60_000,
    },
    temporalUiUrl: env.DOCKET_TEMPORAL_UI_URL ?? null,
    operatorOrganizations: env.DOCKET_OPERATOR_ORGANIZATIONS.split(',').flatMap((id) =>
      id.trim() === '' ? [] : [id.trim()],
    ),
    drainMs: env.DOCKET_DRAIN_SECONDS * 1000,
  };
}

function modelSettingsOf(env: z.infer<typeof environmentSchema>): ModelSettings {
  return {
    anthropicApiKey: env.ANTHROPIC_API_KEY,
    openaiApiKey: env.OPENAI_API_KEY,
    googleApiKey: env.GOOGLE_GENERATIVE_AI_API_KEY,
    compatible:
      env.OPENAI_COMPATIBLE_BASE_URL === undefined
        ? undefined
        : { baseUrl: env.OPENAI_COMPATIBLE_BASE_URL, apiKey: env.OPENAI_COMPATIBLE_API_KEY },
  };
}

function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** The values that must never leave the process. */
export function secretsOf({ models, database, keyPepper, encryptionKeys, tracing, temporal }: ApiConfig): string[] {
  const password = decodeURIComponent(new URL(database.url).password);
  const keys = encryptionKeys.map(({ secret }) => secret.export().toString('base64'));
  const { anthropicApiKey, openaiApiKey, googleApiKey, compatible } = models.settings;
  const own = [...keys, keyPepper, password, readTemporalCredentials(temporal).apiKey, ...(tracing?.secrets ?? [])];
  const values = [anthropicApiKey, openaiApiKey, googleApiKey, compatible?.apiKey, ...own];
  return values.filter((value) => value !== undefined).filter((value) => value !== '');
}
