const mark = '[redacted]';
/** Shorter values are words, not secrets: replacing them would tear ordinary text apart. */
const shortestSecret = 6;

/** Shapes of secrets that are refused wherever they stand; each replaces what it matches. */
const shapes: readonly { pattern: RegExp; replacement: string }[] = [
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, replacement: mark },
  { pattern: /\b(https?:\/\/)[^\s/@"'<>]+@/gi, replacement: `$1${mark}@` },
  { pattern: /\b(Bearer|Basic)\s+(?=\S{20}|\S*\d)[A-Za-z0-9._~+/-]{8,}=*/gi, replacement: `$1 ${mark}` },
  { pattern: /svc_(?:dsc_)?[0-9A-Za-z_]{12,}/g, replacement: mark },
  { pattern: /gh[pousr]_[0-9A-Za-z_]{16,}/g, replacement: mark },
  { pattern: /github_pat_[0-9A-Za-z_]{16,}/g, replacement: mark },
  { pattern: /glpat-[0-9A-Za-z_-]{16,}/g, replacement: mark },
  { pattern: /\bsk-(?=[A-Za-z_-]{0,100}\d)[0-9A-Za-z_-]{16,}/g, replacement: mark },
  { pattern: /\bAIza[0-9A-Za-z_-]{30,}/g, replacement: mark },
  { pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, replacement: mark },
  { pattern: /\bxox[abeprs]-[0-9A-Za-z-]{12,}/g, replacement: mark },
  { pattern: /\beyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{8,}/g, replacement: mark },
  {
    pattern: new RegExp(
      `(?:${['svc_dsc_', 'ghp_', 'ghs_', 'gho_', 'ghu_', 'github_pat_', 'glpat-', 'sk-ant-', 'sk-proj-'].flatMap(base64Cores).map(escape).join('|')})[0-9A-Za-z+/_-]{16,}={0,2}`,
      'g',
    ),
    replacement: mark,
  },
];

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** What base64 makes of a text at each of the three places it can begin in a longer one, without the bordering digits. */
function base64Cores(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const encoded = padded.toString('base64');
    const from = Math.ceil((offset * 8) / 6);
    return encoded.slice(from, Math.floor((padded.length * 8) / 6));
  });
}

/** Matches the text also when line breaks or blanks, real or escaped, were put between its characters. */
function splitPattern(text: string): string {
  return Array.from(text, escape).join('(?:\\s|\\\\[nr])*');
}

function formsOf(secret: string): string[] {
  const base64 = base64Cores(secret).filter((core) => core.length >= shortestSecret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Array.from(secret).toReversed().join(''),
    Buffer.from(secret).toString('hex'),
    ...base64,
    ...base64.map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/**
 * Makes the scrubber for everything that leaves the worker: it takes out the given secrets, plain, encoded or split over
 * lines, everything shaped like a credential, and NUL, which PostgreSQL refuses in a text.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret.length >= shortestSecret).flatMap(formsOf))];
  const longestFirst = forms.toSorted((left, right) => right.length - left.length);
  const known = longestFirst.length === 0 ? null : new RegExp(longestFirst.map(splitPattern).join('|'), 'g');
  return (text) => {
    const plain = text.replaceAll('\0', '');
    const scrubbed = known === null ? plain : plain.replace(known, mark);
    return shapes.reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), scrubbed);
  };
}

/** Scrubs one text; see `createRedactor`, which is cheaper for many texts with the same secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets)(text);
}
