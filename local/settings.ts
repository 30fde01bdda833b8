import { z } from 'zod';
import { parseEncryptionKeys } from '../lib/encryption/keys.ts';
import { messageOf, StartError } from './start-error.ts';

const portRule = 'PORT must be a whole number from 0 to 65535 (0: any free port)';

const settingsSchema = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, portRule)
    .transform(Number)
    .refine((port) => port <= 65_535, portRule)
    .default(8080),
  HOST: z.string().default('127.0.0.1'),
  DOCKET_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'DOCKET_BASE_URL must be an http or https address' })
    .optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'DATABASE_URL must be a postgres:// address' }).optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:\d+$/, 'TEMPORAL_ADDRESS must be host:port')
    .optional(),
  DOCKET_KEY_PEPPER: z.string().optional(),
  DOCKET_ENCRYPTION_KEYS: z
    .string()
    .superRefine((text, context) => {
      try {
        parseEncryptionKeys(text);
      } catch (error) {
        context.addIssue(`DOCKET_ENCRYPTION_KEYS ${messageOf(error)}`);
      }
    })
    .optional(),
  DOCKET_LOCAL_REPOSITORIES: z.string().optional(),
});

export interface StackSettings {
  http: { port: number; host: string; baseUrl: string | null };
  databaseUrl: string | null;
  temporalAddress: string | null;
  keyPepper: string | null;
  /** As the variable has them; the processes read the keys. */
  encryptionKeys: string | null;
  localRepositories: string | null;
}

/** What the local stack reads from the environment; an empty variable counts as absent. Throws StartError naming every bad one. */
export function readSettings(env: NodeJS.ProcessEnv): StackSettings {
  const parsed = settingsSchema.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (!parsed.success) {
    throw new StartError(
      `${parsed.error.issues.map(({ message }) => message).join('; ')}. Correct it in the environment or in .env.`,
    );
  }
  const { data } = parsed;
  return {
    http: { port: data.PORT, host: data.HOST, baseUrl: data.DOCKET_BASE_URL ?? null },
    databaseUrl: data.DATABASE_URL ?? null,
    temporalAddress: data.TEMPORAL_ADDRESS ?? null,
    keyPepper: data.DOCKET_KEY_PEPPER ?? null,
    encryptionKeys: data.DOCKET_ENCRYPTION_KEYS ?? null,
    localRepositories: data.DOCKET_LOCAL_REPOSITORIES ?? null,
  };
}
