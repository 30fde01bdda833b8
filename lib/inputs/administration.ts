import { z } from 'zod';
import { parseRef } from './ref.ts';
import { trimEndSlashes } from '../trim-end-slashes.ts';

/**
 * Rules for the settings of an administrator, on the command line and over HTTP. Schemas return values as they are
 * stored.
 */

/** A name that a person gives. */
export const nameSchema = z
  .string()
  .trim()
  .refine((text) => text !== '' && text.length <= 200, 'must have 1 to 200 characters')
  .refine((text) => text === '' || /[^\p{C}\p{Z}]/u.test(text), 'must have a visible character');

export const modelProviders = ['anthropic', 'openai', 'google', 'compatible', 'offline'] as const;

export const modelNameSchema = z
  .string()
  .max(200)
  .regex(/^[a-z]+\/\S+$/, 'must be a provider and a model, such as anthropic/claude-sonnet-4-5')
  .refine(
    (name) => modelProviders.some((provider) => name.startsWith(`${provider}/`)),
    `must be a model of one of these providers: ${modelProviders.join(', ')}`,
  );

/** A model that rewrites questions for the search. */
export const queryRewritingSchema = modelNameSchema.refine(
  (name) => !name.startsWith('offline/'),
  'must be a model of a provider: the offline models rewrite nothing',
);

export const branchSchema = z
  .string()
  .max(255)
  .refine((text) => parseRef(text).ok, 'must be the name of a branch');

/** URL of a forge, without a trailing slash. */
export const forgeUrlSchema = z
  .string()
  .max(2_048)
  .transform((text, context) => {
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
      return trimEndSlashes(`${url.origin}${url.pathname}`);
    context.addIssue('must be an http:// or https:// address without a user name');
    return z.NEVER;
  });

/** A login, or the name of a label. */
export const markSchema = z
  .string()
  .trim()
  .refine(
    (text) => text !== '' && text.length <= 100 && !/\p{Cc}/u.test(text),
    'must have 1 to 100 characters, without control characters',
  );

/** A shell command, of one or more lines. */
export const checkCommandSchema = z
  .string()
  .trim()
  .refine(
    (text) => text !== '' && text.length <= 2_000 && !text.includes('\0') && text.isWellFormed(),
    'must have 1 to 2000 characters',
  );

/** A token for a forge. */
export const forgeTokenSchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{6,1000}$/, 'must be only the token: 6 to 1000 characters without spaces');

/** The identifier of a site in addresses. */
export const domainSchema = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?$/, 'must have 1 to 100 lower-case letters, digits, dots or hyphens');

/** A folder below a source, without leading or trailing slashes; empty for all of it. */
export const folderSchema = z
  .string()
  .max(1_000)
  .transform((text, context) => {
    const parts = text.split('/').filter((part) => part !== '' && part !== '.');
    if (!parts.includes('..') && !parts.includes('.git')) return parts.join('/');
    context.addIssue('must be a folder inside the repository or directory');
    return z.NEVER;
  });

/** The path below which the pages of a source appear: `blog`, `v1.2/api`; empty for the top. */
export const prefixSchema = z
  .string()
  .max(200)
  .regex(/^(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?$/, 'must be a path of letters, digits, dots, hyphens and underscores');

/** Factor of the boost of a source's pages. */
export const sourceWeight = { minimum: 0.1, maximum: 10 };
export const maxSources = 10;

/** A directory on the worker's machine. */
export const directorySchema = z.string().max(4_096).regex(/^\//, 'must be an absolute path');

/** The address of a published site. */
export const siteUrlSchema = z
  .string()
  .max(2_048)
  .refine((text) => URL.canParse(text) && /^https?:\/\//.test(text), 'must be an http or https address');

/** Days to keep conversations; 0 stores none. */
export const retentionDays = { minimum: 0, maximum: 3_650 };
/** Interval of a site's automatic indexing. */
export const refreshMinutes = { minimum: 1, maximum: 43_200 };

const visible = /[^\p{C}\p{Z}]/u;

/** Instructions of a site’s owner for the model that answers. */
export const instructionsSchema = z
  .string()
  .trim()
  .max(2_000)
  .refine((text) => visible.test(text) && text.isWellFormed(), 'must have a visible character');

export const maxStarterQuestions = 6;

/** Questions that a site offers its readers to begin with. */
export const starterQuestionsSchema = z
  .array(
    z
      .string()
      .trim()
      .max(200)
      .refine((text) => visible.test(text) && !/\p{Cc}/u.test(text) && text.isWellFormed(), 'must be one line of text'),
  )
  .max(maxStarterQuestions)
  .transform((questions) => [...new Set(questions)]);

/** Where readers may ask a person: an https URL, or an email address as a mailto URL. Returns it encoded. */
export const contactSchema = z
  .string()
  .trim()
  .max(500)
  .transform((text, context) => {
    const url = /^(?:https:\/\/|mailto:)/i.test(text) && text.isWellFormed() ? URL.parse(text) : null;
    const isUsable =
      url?.protocol === 'https:'
        ? url.username === '' && url.password === ''
        : url !== null && /^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/.test(url.pathname);
    // characters that end a Markdown link
    if (url !== null && isUsable)
      return url.href.replace(/[()<>]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    context.addIssue('must be an https URL or a mailto URL');
    return z.NEVER;
  });

/** The forges of well-known servers. */
export const wellKnownForges: Readonly<Record<string, 'github' | 'gitlab' | 'gitea'>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'gitea',
  'gitea.com': 'gitea',
};

/** Returns the default name of a project: the last part of its repository. */
export function nameOfRepository(repository: string): string {
  const last =
    repository
      .replace(/(?<!\/)\/+$/, '')
      .split('/')
      .at(-1) ?? '';
  return last.replace(/\.git$/, '') || repository;
}
