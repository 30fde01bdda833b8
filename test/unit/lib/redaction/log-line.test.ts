import { describe, expect, it } from 'vitest';
import { secretsOfEnvironment } from '../../../../lib/redaction/environment-secrets.ts';
import { asOneLine, createLineScrubber } from '../../../../lib/redaction/log-line.ts';
import { createRedactor } from '../../../../lib/redaction/redactor.ts';

const hostile = 'a\nb\rc\u2028d\u2029e\u001b[2Jf\u009b2Jg\u007fh\0i\u0085j "k": "l"}';

describe('a log line', () => {
  it('remains one line of JSON with the same meaning, without anything that a terminal interprets', () => {
    const line = `${JSON.stringify({ msg: hostile })}\n`;
    const written = createLineScrubber((text) => text)(line);
    expect(written).toMatch(/^[^\p{Cc}\u2028\u2029]+\n$/u);
    expect(JSON.parse(written)).toEqual({ msg: hostile });
  });

  it('is redacted first', () => {
    const scrub = createLineScrubber(createRedactor(['a-secret-of-ours']));
    expect(scrub('{"msg":"a-secret-of-ours\u2028"}\n')).toBe('{"msg":"[redacted]\\u2028"}\n');
  });

  it('has its control characters escaped for a terminal', () => {
    expect(asOneLine(`a\tb${hostile}`)).toBe(
      'a\tba\\u000ab\\u000dc\\u2028d\\u2029e\\u001b[2Jf\\u009b2Jg\\u007fh\\u0000i\\u0085j "k": "l"}',
    );
  });
});

describe('the secrets of an environment', () => {
  it('are the values of variables with secret names, and passwords in URLs', () => {
    const secrets = secretsOfEnvironment({
      PATH: '/usr/bin:/bin',
      DATABASE_URL: 'postgres://docket:s3cret%2Fword@db.example/docket',
      ANTHROPIC_API_KEY: 'key-of-anthropic',
      DOCKET_ENCRYPTION_KEYS: 'k2:bmV3LWtleS1uZXcta2V5,k1:b2xkLWtleS1vbGQta2V5',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=of-the-collector',
      GITHUB_TOKEN: '',
    });
    for (const secret of [
      's3cret/word',
      's3cret%2Fword',
      'key-of-anthropic',
      'bmV3LWtleS1uZXcta2V5',
      'b2xkLWtleS1vbGQta2V5',
      'of-the-collector',
    ])
      expect(secrets).toContain(secret);
    expect(secrets).not.toContain('/usr/bin:/bin');
  });
});
