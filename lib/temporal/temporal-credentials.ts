import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { TLSConfig } from '@temporalio/client';
import { z } from 'zod';
import { ConfigError, readVariables } from '../config/read-variables.ts';

/** Settings for reaching Temporal, under the names that Temporal's own clients use. */
export const temporalVariables = z.object({
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:\d+$/, 'must be host:port')
    .default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_TLS: z.enum(['true', 'false'], 'must be true or false').optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional(),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_API_KEY_PATH: z.string().optional(),
});

export interface TemporalSettings {
  address: string;
  namespace: string;
  isTls: boolean;
  /** The name on the server's certificate; null for the host of the address. */
  serverName: string | null;
  /** The key itself; null if there is none or it is in a file. */
  apiKey: string | null;
  files: { authorities: string | null; certificate: string | null; key: string | null; apiKey: string | null };
}

/** The current contents of the files that the settings name. */
export interface TemporalCredentials {
  tls: TLSConfig | false;
  apiKey: string | undefined;
}

/** Parses the variables without reading files; an empty one counts as absent. Throws ConfigError. */
export function readTemporalSettings(env: NodeJS.ProcessEnv): TemporalSettings {
  return temporalSettingsOf(readVariables(temporalVariables, env));
}

/** Any credential turns TLS on, unless TEMPORAL_TLS is false. Throws ConfigError. */
export function temporalSettingsOf(env: z.infer<typeof temporalVariables>): TemporalSettings {
  const files = {
    authorities: env.TEMPORAL_TLS_SERVER_CA_CERT_PATH ?? null,
    certificate: env.TEMPORAL_TLS_CLIENT_CERT_PATH ?? null,
    key: env.TEMPORAL_TLS_CLIENT_KEY_PATH ?? null,
    apiKey: env.TEMPORAL_API_KEY_PATH ?? null,
  };
  const { TEMPORAL_TLS_SERVER_NAME: serverName = null, TEMPORAL_API_KEY: apiKey = null } = env;
  if ((files.certificate === null) !== (files.key === null))
    throw new ConfigError('TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH belong together; set both.');
  if (apiKey !== null && files.apiKey !== null)
    throw new ConfigError('TEMPORAL_API_KEY and TEMPORAL_API_KEY_PATH exclude each other; set one of them.');
  const implied = [serverName, apiKey, ...Object.values(files)].some((value) => value !== null);
  const isTls = env.TEMPORAL_TLS === undefined ? implied : env.TEMPORAL_TLS === 'true';
  if (!isTls && implied)
    throw new ConfigError(
      'TEMPORAL_TLS is false, but a server name, certificate or API key is set; they need TLS. Remove one or the other.',
    );
  return {
    address: env.TEMPORAL_ADDRESS,
    namespace: env.TEMPORAL_NAMESPACE,
    isTls,
    serverName,
    apiKey,
    files,
  };
}

/** Reads the files. Throws ConfigError, which names the variable of an unusable file. */
export function readTemporalCredentials(settings: TemporalSettings): TemporalCredentials {
  const { isTls, serverName, files } = settings;
  const authorities = readPem('TEMPORAL_TLS_SERVER_CA_CERT_PATH', files.authorities);
  const certificate = readPem('TEMPORAL_TLS_CLIENT_CERT_PATH', files.certificate);
  const key = readPem('TEMPORAL_TLS_CLIENT_KEY_PATH', files.key);
  checkCertificate('TEMPORAL_TLS_SERVER_CA_CERT_PATH', authorities, null);
  checkCertificate('TEMPORAL_TLS_CLIENT_CERT_PATH', certificate, key);
  const apiKey = settings.apiKey ?? readPem('TEMPORAL_API_KEY_PATH', files.apiKey)?.toString('utf8').trim();
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ConfigError(
      `${files.apiKey === null ? 'TEMPORAL_API_KEY' : 'TEMPORAL_API_KEY_PATH'} must contain one word without spaces.`,
    );
  if (!isTls) return { tls: false, apiKey };
  const tls = {
    ...(serverName !== null && { serverNameOverride: serverName }),
    ...(authorities !== null && { serverRootCACertificate: authorities }),
    ...(certificate !== null && key !== null && { clientCertPair: { crt: certificate, key } }),
  };
  return { tls, apiKey };
}

function readPem(variable: string, file: string | null): Buffer | null {
  if (file === null) return null;
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ConfigError(`${variable} must name a file that can be read.`, { cause });
  }
}

function checkCertificate(variable: string, pem: Buffer | null, key: Buffer | null): void {
  if (pem === null) return;
  let isPair: boolean;
  try {
    const certificate = new X509Certificate(pem);
    isPair = key === null || certificate.checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new ConfigError(`${variable} and its key must name files with a certificate and a private key in PEM form.`, {
      cause,
    });
  }
  if (!isPair) throw new ConfigError(`${variable} and TEMPORAL_TLS_CLIENT_KEY_PATH do not belong to each other.`);
}

export interface TemporalCredentialOptions {
  /** Called with a ConfigError when the files cannot be used; the previous credentials stay in use. */
  onFailure(error: unknown): void;
  everyMs?: number;
}

export type TemporalCredentialSource = ReturnType<typeof openTemporalCredentials>;

/** Holds the credentials and polls their files, so that a rotation needs no restart. Throws ConfigError. */
export function openTemporalCredentials(
  settings: TemporalSettings,
  { onFailure, everyMs = 10_000 }: TemporalCredentialOptions,
) {
  let current = readTemporalCredentials(settings);
  const listeners = new Set<(credentials: TemporalCredentials) => void>();
  const hasFiles = Object.values(settings.files).some((file) => file !== null);
  const timer = hasFiles ? setInterval(check, everyMs).unref() : undefined;

  function check(): void {
    try {
      const next = readTemporalCredentials(settings);
      if (isDeepStrictEqual(next, current)) return;
      current = next;
    } catch (error) {
      // the rotation may be half done: the certificate is new and its key is not yet
      onFailure(error);
      return;
    }
    for (const listener of listeners) listener(current);
  }

  return {
    current: (): TemporalCredentials => current,
    /** Calls the listener when the files hold different credentials. */
    onChange(listener: (credentials: TemporalCredentials) => void): Disposable {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
