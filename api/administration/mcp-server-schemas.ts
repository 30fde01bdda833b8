import { z } from 'zod';
import {
  headerNameSchema,
  headerValueSchema,
  mostNamedTools,
  mostServers,
  readOnlyChoices,
  serverNameSchema,
  serverUrlSchema,
  toolNameSchema,
} from '../../lib/inputs/mcp.ts';
import { closedBody } from '../http/closed-object.ts';

const mostHeaders = 10;

const serverSchema = closedBody({
  name: serverNameSchema.meta({ description: 'Tools of the server are offered as name__tool.' }),
  url: serverUrlSchema.meta({
    description:
      'Address for streamable HTTP: https at a public host, or any host that DOCKET_PRIVATE_HOSTS of the worker lists.',
  }),
  tools: z
    .array(toolNameSchema)
    .max(mostNamedTools)
    .nullable()
    .default(null)
    .meta({ description: 'The tools that agents may call; null for all.' }),
  readOnly: z.enum(readOnlyChoices).default('annotated').meta({
    description:
      'Which calls count as read-only: those of tools that the server annotates so, all, or none. Any other call is made at most once.',
  }),
  headers: z
    .array(closedBody({ name: headerNameSchema, value: headerValueSchema }))
    .max(mostHeaders)
    .optional()
    .meta({
      writeOnly: true,
      description: 'Stored encrypted, never returned. If omitted, those of the server with this name and url stay.',
    }),
});

/** Body of `PATCH /v1/projects/{id}/mcp-servers`. */
export const changeServersSchema = closedBody({
  servers: z
    .array(serverSchema)
    .max(mostServers)
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, 'must have different names'),
});

export const serversSchema = z.object({
  servers: z
    .array(
      z.object({
        name: z.string(),
        url: z.string(),
        tools: z.array(z.string()).max(mostNamedTools).nullable(),
        readOnly: z.enum(readOnlyChoices),
        headerNames: z.array(z.string()).max(mostHeaders).meta({ description: 'Headers that are set.' }),
      }),
    )
    .max(mostServers),
});
