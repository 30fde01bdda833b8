import { z } from 'zod';
import { maxPageSize } from '../../db/page.ts';
import { isEd25519PublicKey } from '../access/reader-access.ts';
import { requestLimits } from '../administration/key-schemas.ts';
import { budgetSchema } from '../administration/project-schemas.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import {
  branchSchema,
  contactSchema,
  directorySchema,
  domainSchema,
  folderSchema,
  instructionsSchema,
  maxSources,
  maxStarterQuestions,
  prefixSchema,
  queryRewritingSchema,
  refreshMinutes,
  retentionDays,
  siteUrlSchema,
  sourceWeight,
  starterQuestionsSchema,
} from '../../lib/inputs/administration.ts';
import { websiteUrlSchema } from '../../lib/inputs/website.ts';
import { maxSkipped } from '../../search/read/source-page.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

/** Path parameter that names a site. */
export const domain = z.string().meta({ description: 'The domain identifier of the site.' });

const repository = z
  .string()
  .max(2_048)
  .meta({ description: 'Git repository of the pages: full URL, https:// or file:/// below the local root.' });
const directory = directorySchema.meta({ description: "Directory on the worker's machine, where it allows that." });

const target = {
  prefix: prefixSchema.meta({
    description: 'Path below which its pages appear; that of the repository or directory is empty.',
  }),
  weight: z
    .number()
    .min(sourceWeight.minimum)
    .max(sourceWeight.maximum)
    .default(1)
    .meta({ description: 'Ranking weight of its pages; 2 ranks them about 7% higher, 0.5 about 7% lower.' }),
};
/** Of a source of threads. */
const maxLabels = 20;
const maxGroups = 100;
const threads = z.enum(['answered', 'all']);
const threadSettings = {
  threads: threads.default('answered').meta({
    description:
      'answered: closed issues with a reply from someone other than the author, and discussions and topics with an accepted answer. all: also open and unanswered ones.',
  }),
  prefix: target.prefix,
  weight: target.weight.default(0.5),
};
const labels = z.array(z.string().min(1).max(200)).max(maxLabels).default([]);
const sourceRef = branchSchema.nullable().default(null);
const source = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('repository'),
    repository,
    ref: sourceRef,
    path: folderSchema.default(''),
    ...target,
  }),
  z.strictObject({ kind: z.literal('directory'), directory, path: folderSchema.default(''), ...target }),
  z.strictObject({
    kind: z.literal('website'),
    url: websiteUrlSchema.meta({ description: 'Where the crawl starts and below which it stays, or a sitemap.' }),
    ...target,
  }),
  z.strictObject({
    kind: z.literal(['issues', 'discussions']).meta({ description: 'Discussions are those of GitHub.' }),
    repository: repository.meta({ description: 'Repository whose threads are read: its full URL, https://.' }),
    labels: labels.meta({ description: 'A thread has at least one of them; empty for all.' }),
    groups: z
      .array(z.string().trim().min(1).max(200))
      .max(maxGroups)
      .default([])
      .meta({ description: 'Groups of readers who may read them. Required if the threads are not public.' }),
    ...threadSettings,
  }),
  z.strictObject({
    kind: z.literal('discourse'),
    url: websiteUrlSchema.meta({ description: 'URL of a Discourse forum, or of one of its categories.' }),
    tags: labels.meta({ description: 'A topic has at least one of them; empty for all.' }),
    ...threadSettings,
  }),
]);
const sources = z
  .array(source)
  .max(maxSources)
  .refine((list) => new Set(list.map(({ prefix }) => prefix)).size === list.length, 'must have different prefixes')
  .meta({ description: 'Sources beside the repository or directory, each with a prefix of its own.' });

const settings = {
  ref: branchSchema.nullable().meta({ description: 'Branch of the repository; null for the default branch.' }),
  path: folderSchema.meta({ description: 'Folder of the pages; empty for the whole source.' }),
  baseUrl: siteUrlSchema.nullable().meta({ description: 'URL of the published site; links in answers start with it.' }),
  retentionDays: z
    .int()
    .min(retentionDays.minimum)
    .max(retentionDays.maximum)
    .meta({ description: 'How long conversations are kept; 0 stores none.' }),
  refreshMinutes: z
    .int()
    .min(refreshMinutes.minimum)
    .max(refreshMinutes.maximum)
    .nullable()
    .meta({ description: 'Automatic re-index interval; null for never.' }),
  answerBudgetUsd: budgetSchema.meta({
    description: 'Budget per day (UTC) for its answers; above it, answers quote the documentation. Null for no limit.',
  }),
  instructions: instructionsSchema
    .nullable()
    .meta({ description: 'Tone and emphasis for the model that answers; null for none.' }),
  starterQuestions: starterQuestionsSchema.meta({ description: 'Questions that readers are offered to begin with.' }),
  queryRewriting: queryRewritingSchema.nullable().meta({
    description:
      'Model that rewrites follow-up questions, and those about the page or selected text, for the search; null for none.',
  }),
  unsupported: z.enum(['mark', 'cut']).meta({
    description:
      'What happens to statements of a model that the pages they cite do not contain: mark reports them in citations, cut leaves them out.',
  }),
  contact: contactSchema
    .nullable()
    .meta({ description: 'https or mailto URL for readers whose question has no answer; null for none.' }),
  ...requestLimits('Requests of readers about the site'),
};

const issuer = z.string().min(1).max(500).meta({ description: 'The `iss` of the tokens.' });
const readerTokens = z
  .discriminatedUnion('algorithm', [
    z.strictObject({
      algorithm: z.literal('EdDSA'),
      issuer,
      publicKey: z
        .string()
        .max(1_000)
        .refine(isEd25519PublicKey, 'must be the public key of an Ed25519 pair, in PEM')
        .meta({ description: 'Public Ed25519 key in PEM.' }),
    }),
    z.strictObject({
      algorithm: z.literal('HS256'),
      issuer,
      secret: z.string().min(32).max(500).meta({ description: 'Shared secret; never returned.' }),
    }),
  ])
  .nullable()
  .meta({ description: 'What verifies the tokens of readers who may read pages with `groups`; null accepts none.' });

const indexGuard = z.object({
  questionSetId: z.string().max(64),
  margin: z.number().min(0).max(1).meta({ description: 'Share of the questions by which a new index may be worse.' }),
});
const indexGuardText =
  'Question set that checks a new index before it is used. If it finds clearly less of what the questions expect, the current index stays in use. Null uses every index.';

const notBoth = 'must name repository or directory, not both';
const noSource = 'must name repository or directory, or sources';

/** Body of `PATCH /v1/sites/{domain}`. Omitted fields stay unchanged. */
export const changeSiteSchema = closedBody({
  ...settings,
  repository,
  directory,
  sources,
  readerTokens,
  indexGuard: indexGuard.strict().nullable().meta({ description: indexGuardText }),
})
  .partial()
  .refine((body) => body.repository === undefined || body.directory === undefined, notBoth);
export type ChangeSiteBody = z.infer<typeof changeSiteSchema>;

/** Body of `POST /v1/sites/{domain}/index`. */
export const indexSiteSchema = closedBody({
  force: z.boolean().optional().meta({ description: 'true uses the new index even if it is worse.' }),
}).optional();

/** Body of `POST /v1/sites`. */
export const createSiteSchema = closedBody({ ...settings, repository, directory, sources })
  .partial()
  .extend({ domain: domainSchema.meta({ description: 'Its identifier in API URLs.' }) })
  .refine((body) => body.repository === undefined || body.directory === undefined, notBoth)
  .refine(({ repository, directory, sources = [] }) => (repository ?? directory ?? sources[0]) !== undefined, noSource);

const publicTarget = { prefix: z.string(), weight: z.number() };
const publicSource = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('repository'),
    repository: z.string(),
    ref: z.string().nullable(),
    path: z.string(),
    ...publicTarget,
  }),
  z.object({ kind: z.literal('directory'), directory: z.string(), path: z.string(), ...publicTarget }),
  z.object({ kind: z.literal('website'), url: z.string(), ...publicTarget }),
  z.object({
    kind: z.literal(['issues', 'discussions']),
    repository: z.string(),
    threads,
    labels: z.array(z.string()).max(maxLabels),
    groups: z.array(z.string()).max(maxGroups),
    ...publicTarget,
  }),
  z.object({
    kind: z.literal('discourse'),
    url: z.string(),
    threads,
    tags: z.array(z.string()).max(maxLabels),
    ...publicTarget,
  }),
]);

export const siteSchema = z.object({
  id: z.string(),
  domain: z.string(),
  repository: z.string().nullable(),
  directory: z.string().nullable(),
  ...settings,
  path: z.string(),
  sources: z.array(publicSource).max(maxSources),
  starterQuestions: z.array(z.string()).max(maxStarterQuestions),
  contact: z.string().nullable(),
  indexGuard: indexGuard.nullable().meta({ description: indexGuardText }),
  index: z.object({
    version: z.number().int().meta({ description: '0 when it has none yet.' }),
    pages: z.number().int(),
    indexedAt: timeOrNull,
    requestedAt: timeOrNull.meta({
      description: 'Time of the index request that is still pending; null if there is none.',
    }),
    failure: z
      .object({ category: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the last indexing failed.' }),
    report: z
      .object({
        layout: z.string().nullable().meta({ description: 'Documentation tool that was recognized; null for none.' }),
        formats: z.record(z.string(), z.number().int()).meta({ description: 'Pages by the format of their source.' }),
        skipped: z.array(z.string()).max(maxSkipped).meta({
          description:
            'The first files that were not read: configurations that compute their values, malformed API descriptions, files of more than 10 MB, and files without a readable page or with that of another file.',
        }),
        sources: z
          .array(
            z.object({
              prefix: z.string(),
              pages: z.number().int(),
              problem: z
                .string()
                .nullable()
                .meta({ description: 'Why its earlier pages are kept; null if it was read.' }),
              skipped: z.array(z.string()).max(maxSkipped).meta({
                description: 'The first pages of a website, threads, or files that could not be read, as sentences.',
              }),
            }),
          )
          .max(maxSources)
          .meta({ description: 'The added sources.' }),
        vectors: z
          .object({
            model: z.string(),
            passages: z.number().int().meta({ description: 'Passages with a vector.' }),
            of: z.number().int().meta({ description: 'All passages.' }),
            problem: z.string().nullable().meta({ description: 'Why some have none; null when all have one.' }),
          })
          .nullable()
          .meta({ description: 'Search by meaning; null without an embedding model.' }),
      })
      .nullable()
      .meta({ description: 'What the index was built from; null before the first.' }),
  }),
  readerTokens: z
    .object({ algorithm: z.enum(['EdDSA', 'HS256']), issuer: z.string() })
    .nullable()
    .meta({ description: 'How tokens of readers are signed; null when it accepts none.' }),
  createdAt: time,
});
export type PublicSite = z.infer<typeof siteSchema>;

export const siteListSchema = z.object({ sites: z.array(siteSchema).max(maxPageSize), nextCursor });
