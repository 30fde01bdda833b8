import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import {
  branchSchema,
  directorySchema,
  domainSchema,
  folderSchema,
  refreshMinutes,
  retentionDays,
  siteUrlSchema,
} from '../../lib/inputs/administration.ts';

/** Path parameter that names a site. */
export const domain = z.string().meta({ description: 'The domain identifier of the site.' });

const repository = z
  .string()
  .max(2_048)
  .meta({ description: 'Git repository of the pages: full URL, https:// or file:/// below the local root.' });
const directory = directorySchema.meta({ description: "Directory on the worker's machine, where it allows that." });

const settings = {
  ref: branchSchema.nullable().meta({ description: 'Branch of the repository; null: the default branch.' }),
  path: folderSchema.meta({ description: 'Folder of the pages; empty: all of it.' }),
  baseUrl: siteUrlSchema
    .nullable()
    .meta({ description: 'Address of the published site; links in answers begin with it.' }),
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
    .meta({ description: 'How often it is indexed by itself; null: never.' }),
};

const notBoth = 'must name repository or directory, not both';

/** Body of `PATCH /v1/sites/{domain}`. Omitted fields stay unchanged. */
export const changeSiteSchema = closedBody({ ...settings, repository, directory })
  .partial()
  .refine((body) => body.repository === undefined || body.directory === undefined, notBoth);
export type ChangeSiteBody = z.infer<typeof changeSiteSchema>;

/** Body of `POST /v1/sites`. */
export const createSiteSchema = closedBody({ ...settings, repository, directory })
  .partial()
  .extend({ domain: domainSchema.meta({ description: 'Its identifier in addresses.' }) })
  .refine((body) => (body.repository === undefined) !== (body.directory === undefined), notBoth);

const time = z.string().meta({ format: 'date-time' });
const timeOrNull = z.string().nullable().meta({ format: 'date-time' });

export const siteSchema = z.object({
  id: z.string(),
  domain: z.string(),
  repository: z.string().nullable(),
  directory: z.string().nullable(),
  ref: z.string().nullable(),
  path: z.string(),
  baseUrl: z.string().nullable(),
  retentionDays: z.number().int(),
  refreshMinutes: z.number().int().nullable(),
  index: z.object({
    version: z.number().int().meta({ description: '0: it has none yet.' }),
    pages: z.number().int(),
    indexedAt: timeOrNull,
    requestedAt: timeOrNull.meta({ description: 'Since when an index is wanted or made; null: none is.' }),
    failure: z
      .object({ category: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the last index could not be made.' }),
  }),
  createdAt: time,
});
export type PublicSite = z.infer<typeof siteSchema>;

export const siteListSchema = z.object({ sites: z.array(siteSchema).max(mostOfPage), nextCursor });
