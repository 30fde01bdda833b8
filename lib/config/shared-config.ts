import { resolve } from 'node:path';
import { z } from 'zod';
import { EncryptionKeysError, parseEncryptionKeys } from '../encryption/keys.ts';
import type { EmbeddingChoice } from '../inputs/embedding-choice.ts';
import { parseWebhookHosts } from '../inputs/webhook-address.ts';
import { proxiesOf, proxyVariables } from '../network/proxies.ts';
import { readTemporalCredentials, temporalSettingsOf, temporalVariables } from '../temporal/temporal-credentials.ts';
import { tracingSettingsOf, tracingVariables } from '../tracing/tracing-settings.ts';
import { httpAddress, portNumber, wholeNumber } from './read-variables.ts';

/** The `DOCKET_ENCRYPTION_KEYS` variable in a process's configuration. */
const encryptionKeysVariable = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return parseEncryptionKeys(text);
    } catch (error) {
      if (!(error instanceof EncryptionKeysError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  });

/** Parses an amount in US dollars, such as `2.50`, as millionths of a dollar. */
const dollarsSchema = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'must be an amount in US dollars, such as 2.50')
  .refine((text) => Number(text) > 0, 'must be more than 0')
  .transform((amount) => Math.round(Number(amount) * 1e6));

/** Configuration of both processes. */
type SharedConfig = ReturnType<typeof sharedConfigOf>;

interface ProviderSettings {
  anthropicApiKey?: string;
  openaiApiKey?: string;
  googleApiKey?: string;
  compatible?: { baseUrl: string; apiKey?: string; sendsCacheKey?: boolean; marksPrefixes?: boolean };
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const maxPrefixLength = 500;

/** Default of DOCKET_MAX_SNAPSHOT_GB: the API starts no jobs above it, and the worker removes snapshots. */
export const defaultSnapshotGigabytes = 20;

/** Where the API listens. */
export const listenVariables = z.object({ PORT: portNumber.default(8080), HOST: z.string().default('127.0.0.1') });

/** The variables that both processes read. */
export const sharedVariables = z.object({
  DATABASE_URL: z
    .string({ error: 'is missing; set it to the address of PostgreSQL, or use "npm start", which brings its own' })
    .refine((text) => URL.canParse(text) && /^postgres(?:ql)?:\/\//i.test(text), 'must be a postgres:// address'),
  DOCKET_DATABASE_CONNECTIONS: wholeNumber(2, 1_000).optional(),
  DOCKET_BASE_URL: httpAddress.optional(),
  ...temporalVariables.shape,
  ...proxyVariables.shape,
  DOCKET_ENCRYPTION_KEYS: encryptionKeysVariable,
  ...tracingVariables.shape,
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  ANTHROPIC_API_KEY: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: z.string().optional(),
  OPENAI_COMPATIBLE_BASE_URL: httpAddress.optional(),
  OPENAI_COMPATIBLE_API_KEY: z.string().optional(),
  DOCKET_EMBEDDING_MODEL: z.string().optional(),
  DOCKET_EMBEDDING_QUERY_PREFIX: z.string().trim().max(maxPrefixLength).default(''),
  DOCKET_EMBEDDING_PASSAGE_PREFIX: z.string().trim().max(maxPrefixLength).default(''),
  OPENAI_COMPATIBLE_PROMPT_CACHE_KEY: z.enum(['true', 'false'], 'must be true or false').default('false'),
  OPENAI_COMPATIBLE_CACHE_CONTROL: z.enum(['true', 'false'], 'must be true or false').default('false'),
  DOCKET_MAX_JOB_DOLLARS: dollarsSchema.optional(),
  DOCKET_MAX_PROJECT_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: dollarsSchema.optional(),
  DOCKET_ALLOWED_HOSTS: z.string().default('github.com'),
  DOCKET_WEBHOOK_ALLOWED_HOSTS: z.string().default(''),
  DOCKET_LOCAL_REPOSITORIES: z.string().optional(),
});

type SharedEnvironment = z.infer<typeof sharedVariables>;

export function sharedConfigOf(env: SharedEnvironment) {
  const hosts = env.DOCKET_ALLOWED_HOSTS.split(',').map((host) => host.trim().toLowerCase());
  return {
    logLevel: env.LOG_LEVEL,
    /** Null turns tracing off. */
    tracing: tracingSettingsOf(env),
    /** `connections` is the most that a process opens; null leaves it to the process. */
    database: { url: env.DATABASE_URL, connections: env.DOCKET_DATABASE_CONNECTIONS ?? null },
    temporal: temporalSettingsOf(env),
    /** For requests to providers of models. */
    proxies: proxiesOf(env),
    /** The first key encrypts and all of them decrypt; with none, values are stored in plain text. */
    encryptionKeys: env.DOCKET_ENCRYPTION_KEYS,
    /** The operator's budgets, in millionths of a US dollar, which cap those of projects; null means unlimited. */
    budgets: {
      jobMicros: env.DOCKET_MAX_JOB_DOLLARS ?? null,
      dayMicros: env.DOCKET_MAX_PROJECT_DOLLARS_PER_DAY ?? null,
      organizationMicros: env.DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY ?? null,
    },
    repositories: {
      allowedHosts: hosts.filter((host) => host !== ''),
      localRoot: env.DOCKET_LOCAL_REPOSITORIES === undefined ? null : resolve(env.DOCKET_LOCAL_REPOSITORIES),
    },
    /** Model that finds passages by meaning; null for none. */
    embedding: embeddingOf(env),
    /** `host` or `host:port` of webhook receivers that are allowed to have a private address and no TLS. */
    webhookAllowedHosts: parseWebhookHosts(env.DOCKET_WEBHOOK_ALLOWED_HOSTS),
  };
}

function embeddingOf(env: SharedEnvironment): EmbeddingChoice | null {
  const model = env.DOCKET_EMBEDDING_MODEL;
  if (model === undefined) return null;
  return {
    model,
    queryPrefix: env.DOCKET_EMBEDDING_QUERY_PREFIX,
    passagePrefix: env.DOCKET_EMBEDDING_PASSAGE_PREFIX,
  };
}

export function providersOf(env: SharedEnvironment): ProviderSettings {
  const baseUrl = env.OPENAI_COMPATIBLE_BASE_URL;
  return {
    anthropicApiKey: env.ANTHROPIC_API_KEY,
    openaiApiKey: env.OPENAI_API_KEY,
    googleApiKey: env.GOOGLE_GENERATIVE_AI_API_KEY,
    compatible:
      baseUrl === undefined
        ? undefined
        : {
            baseUrl,
            apiKey: env.OPENAI_COMPATIBLE_API_KEY,
            sendsCacheKey: env.OPENAI_COMPATIBLE_PROMPT_CACHE_KEY === 'true',
            marksPrefixes: env.OPENAI_COMPATIBLE_CACHE_CONTROL === 'true',
          },
  };
}

/** Returns the values that must never be stored or leave the process: the shared ones and its own. */
export function secretsAmong(config: SharedConfig, providers: ProviderSettings, own: string[]): string[] {
  const { database, encryptionKeys, tracing, temporal, proxies } = config;
  const values = [
    providers.anthropicApiKey,
    providers.openaiApiKey,
    providers.googleApiKey,
    providers.compatible?.apiKey,
    ...encryptionKeys.map(({ secret }) => secret.export().toString('base64')),
    ...own,
    ...[database.url, proxies.http, proxies.https].map(passwordOf),
    readTemporalCredentials(temporal).apiKey,
    ...(tracing?.secrets ?? []),
  ];
  return values.filter((value) => value !== undefined).filter((value) => value !== '');
}

/** The driver of PostgreSQL also takes a password literally if it cannot be decoded, such as one with a bare %. */
function passwordOf(url = 'http://none'): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
