import { base64Cores } from './known-forms.ts';
import { mark } from './mark.ts';

interface Shape {
  pattern: RegExp;
  replacement: string;
}

/** Tokens of a fixed length: only these can be separated from the text that follows when they are split over lines. */
const fixedTokens = [
  { prefix: 'svc_(?:dsc_)?', body: '[0-9A-Za-z]', length: 61 },
  { prefix: 'gh[pousr]_', body: '[0-9A-Za-z]', length: 36 },
  { prefix: 'github_pat_', body: '[0-9A-Za-z_]', length: 82 },
  { prefix: 'glpat-', body: '[0-9A-Za-z_-]', length: 20 },
  { prefix: 'AKIA', body: '[0-9A-Z]', length: 16 },
];
const lineBreak = String.raw`(?:[ \t]*\r?\n[ \t]*|(?:\\r)?\\n)`;
/** Where a text was cut, and with it a token that is split over lines: at its end, or that of the fence around it. */
const cut = String.raw`(?=\s{0,4}(?:\`{3}|…|$))`;

/** Prefixes that are also searched for in encoded form. */
const prefixes = [
  'svc_dsc_',
  'svc_',
  'ghp_',
  'ghs_',
  'gho_',
  'ghu_',
  'github_pat_',
  'glpat-',
  'sk-ant-',
  'sk-proj-',
  'whsec_',
];

/**
 * Shapes of secrets that are redacted anywhere. Each runs in linear time on hostile text: repetition is bounded, or
 * begins only where its run of characters does. None matches a quote or half an escape, so that a line of JSON stays
 * one.
 */
const shapes: readonly Shape[] = [
  {
    pattern:
      /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"'`<>{}\\]|\\[nr])*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=["'`<>{}\\])|$)/g,
    replacement: mark,
  },
  { pattern: /\b(https?:\/\/)[^\s/@"'<>]{1,500}@/gi, replacement: `$1${mark}@` },
  {
    pattern: /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:"'<>]{0,200}:[^\s/@"'<>]{1,300}@/gi,
    replacement: `$1${mark}@`,
  },
  { pattern: /\b(Bearer|Basic)\s+(?=\S{20}|\S*\d)[A-Za-z0-9._~+/-]{8,}=*/gi, replacement: `$1 ${mark}` },
  {
    pattern:
      /([?&;](?:access_token|auth_token|private_token|token|api_?key|key|client_secret|secret|password|signature|sig|x-amz-signature)=)(?=[^&\s"'<>#\\]{0,200}\d)[^&\s"'<>#\\]{12,}/gi,
    replacement: `$1${mark}`,
  },
  {
    pattern:
      /\b((?:private-token|x-api-key|x-goog-api-key|api-key|x-auth-token)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"'<>,;\\]{12,}/gi,
    replacement: `$1${mark}`,
  },
  { pattern: /\b(aws_?secret_?access_?key["']?\s{0,4}[:=]\s{0,4}["']?)[0-9A-Za-z/+]{40}/gi, replacement: `$1${mark}` },
  { pattern: /svc_(?:dsc_)?(?:(?=[0-9A-Za-z]{0,70}\d)[0-9A-Za-z]{12,}|[0-9A-Za-z]{40,})/g, replacement: mark },
  { pattern: /whsec_[0-9A-Za-z+/]{24,}={0,2}/g, replacement: mark },
  { pattern: /gh[pousr]_[0-9A-Za-z_]{16,}/g, replacement: mark },
  { pattern: /github_pat_[0-9A-Za-z_]{16,}/g, replacement: mark },
  { pattern: /gl(?:pat|rt|ptt|dt|cbt|soat|ft|imt|agent|oas)-[0-9A-Za-z_.-]{16,}/g, replacement: mark },
  { pattern: /\bsk-(?=[A-Za-z_-]{0,100}\d)[0-9A-Za-z_-]{16,}/g, replacement: mark },
  { pattern: /\b[srp]k_(?:live|test)_[0-9A-Za-z]{16,}/g, replacement: mark },
  { pattern: /\bnpm_[0-9A-Za-z]{36}/g, replacement: mark },
  { pattern: /\bpypi-AgEI[0-9A-Za-z_-]{40,}/g, replacement: mark },
  { pattern: /\bhf_[0-9A-Za-z]{30,}/g, replacement: mark },
  { pattern: /\bSG\.[0-9A-Za-z_-]{16,40}\.[0-9A-Za-z_-]{30,}/g, replacement: mark },
  { pattern: /\bAIza[0-9A-Za-z_-]{30,}/g, replacement: mark },
  { pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, replacement: mark },
  { pattern: /\bxox[abeprs]-[0-9A-Za-z-]{12,}/g, replacement: mark },
  { pattern: /(hooks\.slack\.com\/services\/)[0-9A-Za-z/]{20,}/g, replacement: `$1${mark}` },
  {
    pattern: /(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{8,}/g,
    replacement: mark,
  },
  {
    pattern: new RegExp(`(?:${prefixes.flatMap(base64Cores).map(escape).join('|')})[0-9A-Za-z+/_-]{16,}={0,2}`, 'g'),
    replacement: mark,
  },
  {
    pattern: new RegExp(`(?:${prefixes.map(hexOf).join('|')})[0-9a-f]{32,}`, 'gi'),
    replacement: mark,
  },
  {
    pattern: new RegExp(
      `(?<![0-9A-Za-z_-])(?=[A-Za-z_-]{0,100}\\d)[0-9A-Za-z_-]{16,}(?:${prefixes.map((prefix) => escape(reversed(prefix))).join('|')})`,
      'g',
    ),
    replacement: mark,
  },
  ...fixedTokens.map(({ prefix, body, length }) => ({
    pattern: new RegExp(
      `${prefix}${lineBreak}?(?:(?:${body}${lineBreak}?){${length - 1}}${body}|(?=[\\w\\s-]{0,100}\\d)(?:${body}${lineBreak}?){7,${length - 2}}${body}${cut})`,
      'g',
    ),
    replacement: mark,
  })),
];

/** Redacts everything shaped like a credential. */
export function scrubShapes(text: string): string {
  return shapes.reduce((rest, { pattern, replacement }) => rest.replace(pattern, replacement), text);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('');
}
