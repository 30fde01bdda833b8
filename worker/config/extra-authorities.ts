import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { ConfigError } from '../../lib/config/read-variables.ts';

const certificate = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** Reads the certificates of NODE_EXTRA_CA_CERTS. Throws ConfigError for an invalid file, which Node would ignore. */
export function readAuthorities(file: string): string {
  try {
    const [first, ...others] = (readFileSync(file, 'utf8').match(certificate) ?? []).map(
      (pem) => new X509Certificate(pem),
    );
    if (first === undefined) throw new Error('It holds no certificate.');
    return [first, ...others].map(String).join('');
  } catch (cause) {
    throw new ConfigError('NODE_EXTRA_CA_CERTS must name a readable file with certificates in PEM form.', { cause });
  }
}

/** Returns the default CA certificates together with the extra ones: git uses either its own or the given ones. */
export function allAuthorities(extra: string): string {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')]), extra].join('\n');
}
