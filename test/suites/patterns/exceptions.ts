import type { Exception } from './check.ts';

/** Regular expressions that the check reports although they cannot be slow where they are used. */
export const exceptions: readonly Exception[] = [
  {
    pattern: /[[\p{Cc}&&\p{ASCII}]--[\t\n\r]]|\ufeff/gv,
    reason: 'It matches one character; the check cannot read the flag v.',
  },
  {
    pattern: /[[\p{Cc}&&\p{ASCII}]--[\t\n]]|[\ufeff\u0085\u2028\u2029]/v,
    reason: 'It matches one character; the check cannot read the flag v.',
  },
  {
    pattern:
      /(?:svc_(?:dsc_)?|gh[pousr]_|github_pat_|glpat-|AKIA)(?:[0-9A-Za-z_-]|[ \t]?\r?\n[ \t\r\n]*(?![ \t\r\n])|\\[nr])*$/,
    reason: 'It reads the last 300 characters of a text.',
  },
  {
    pattern: /[a-z][\w-]*$/i,
    reason: 'It reads what braces contain, at most 100 characters.',
  },
];
