import { searchTexts } from '../search-texts.ts';

const names = ['action', 'subject', 'keyId', 'person'] as const;

/** Filters in the address of the audit log. */
export type AuditFilters = { [Name in (typeof names)[number]]?: string };

/** Reads the filters from an address and ignores anything invalid. */
export function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const texts = Object.entries(searchTexts(search, ...names));
  return Object.fromEntries(texts.map(([name, text]) => [name, text.slice(0, 200)]));
}

/** Kinds of resources, with the labels of their changes. */
export const auditKinds = [
  ['', 'all changes'],
  ['job', 'jobs'],
  ['pull-request', 'pull requests'],
  ['project', 'projects'],
  ['site', 'sites'],
  ['gap', 'gaps'],
  ['question-set', 'question sets'],
  ['evaluation', 'evaluations'],
  ['key', 'API keys'],
  ['webhook', 'webhooks'],
  ['session', 'sign-ins'],
] as const;
