import { resolve } from 'node:path';
import { z } from 'zod';
import { httpAddress, readVariables, wholeNumber } from '../lib/config/read-variables.ts';
import {
  listenVariables,
  providersOf,
  secretsAmong,
  sharedConfigOf,
  sharedVariables,
} from '../lib/config/shared-config.ts';
import { temporaryFolderOf } from '../lib/private-folder.ts';
import { priceVariables } from '../models/prices.ts';
import { quotaVariables } from './access/quotas.ts';

export type ApiConfig = ReturnType<typeof readConfig>;

const environmentSchema = z.object({
  ...sharedVariables.shape,
  DOCKET_KEY_PEPPER: z.string({ error: 'is missing; set it to a long random text that never changes' }),
  DOCKET_CACHE_DIR: z.string().optional(),
  DOCKET_TEMPORAL_UI_URL: httpAddress.optional(),
  DOCKET_OPERATOR_ORGANIZATIONS: z.string().default(''),
  DOCKET_AGENT_MODEL: z.string().default('offline/editor'),
  DOCKET_ASSISTANT_MODEL: z.string().default('offline/extract'),
  DOCKET_RERANKING_MODEL: z.string().optional(),
  COHERE_API_KEY: z.string().optional(),
  COHERE_BASE_URL: httpAddress.optional(),
  ...listenVariables.shape,
  DOCKET_JOBS_PER_HOUR: wholeNumber(1, 1e9).default(100),
  DOCKET_ASSISTANT_PER_HOUR: wholeNumber(1, 1e9).default(10_000),
  DOCKET_ASSISTANT_PER_IP_PER_DAY: wholeNumber(1, 1e9).default(10_000),
  ...priceVariables.shape,
  DOCKET_MAX_EVENT_STREAMS: wholeNumber(1, 1e6).default(500),
  DOCKET_TRUSTED_PROXIES: wholeNumber(0, 10).default(0),
  DOCKET_CAPTCHA_VERIFY_URL: httpAddress.optional(),
  DOCKET_DRAIN_SECONDS: wholeNumber(0, 600).default(0),
  DOCKET_MAX_STEPS: wholeNumber(1, 10_000).default(50),
  DOCKET_MAX_TOKENS: wholeNumber(1, 1e12).default(2_000_000),
  DOCKET_MAX_JOB_MINUTES: wholeNumber(1, 100_000).default(60),
});

const variables = z.preprocess(
  (present) => ({ settings: present, quotas: present }),
  z.object({ settings: environmentSchema, quotas: quotaVariables }),
);

/** Reads the environment variables of the API process. An empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { settings, quotas } = readVariables(variables, env);
  return { ...configOf(settings), /** Limits per organization. */ quotas };
}

function configOf(env: z.infer<typeof environmentSchema>) {
  return {
    ...sharedConfigOf(env),
    http: {
      host: env.HOST,
      port: env.PORT,
      baseUrl: env.DOCKET_BASE_URL ?? `http://${hostInUrl(env.HOST)}:${env.PORT}`,
      trustedProxies: env.DOCKET_TRUSTED_PROXIES,
    },
    keyPepper: env.DOCKET_KEY_PEPPER,
    /** Where responses of CAPTCHAs are verified; null for the providers' own addresses. */
    captchaVerifyUrl: env.DOCKET_CAPTCHA_VERIFY_URL ?? null,
    /** Directory for the files of the search indexes in use. */
    cacheDirectory: resolve(env.DOCKET_CACHE_DIR ?? temporaryFolderOf('docket-cache')),
    models: {
      settings: { ...providersOf(env), cohere: { apiKey: env.COHERE_API_KEY, baseUrl: env.COHERE_BASE_URL } },
      agent: env.DOCKET_AGENT_MODEL,
      assistant: env.DOCKET_ASSISTANT_MODEL,
      reranking: env.DOCKET_RERANKING_MODEL ?? null,
    },
    rateLimits: {
      jobsPerHour: env.DOCKET_JOBS_PER_HOUR,
      assistantPerHour: env.DOCKET_ASSISTANT_PER_HOUR,
      assistantPerIpPerDay: env.DOCKET_ASSISTANT_PER_IP_PER_DAY,
      eventStreams: env.DOCKET_MAX_EVENT_STREAMS,
    },
    prices: env.DOCKET_MODEL_PRICES,
    jobLimits: {
      maxSteps: env.DOCKET_MAX_STEPS,
      maxTokens: env.DOCKET_MAX_TOKENS,
      maxDurationMs: env.DOCKET_MAX_JOB_MINUTES * 60_000,
    },
    /** Address of Temporal's web interface, for links. */
    temporalUiUrl: env.DOCKET_TEMPORAL_UI_URL ?? null,
    /** Organizations that may see the machines of the service. */
    operatorOrganizations: env.DOCKET_OPERATOR_ORGANIZATIONS.split(',').flatMap((id) =>
      id.trim() === '' ? [] : [id.trim()],
    ),
    /** Time the process keeps serving after the signal to stop, so that proxies can redirect their traffic. */
    drainMs: env.DOCKET_DRAIN_SECONDS * 1000,
  };
}

function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Returns the values that must never leave the process. */
export function secretsOf(config: ApiConfig): string[] {
  const { settings } = config.models;
  return secretsAmong(config, settings, [config.keyPepper, settings.cohere?.apiKey ?? '']);
}
