import { z } from 'zod';
import {
  headerNameSchema,
  headerValueSchema,
  maxCommands,
  maxNamedTools,
  maxServers,
  maxWords,
  readOnlyChoices,
  secretValueSchema,
  serverCommandSchema,
  serverNameSchema,
  serverUrlSchema,
  toolNameSchema,
  variableNameSchema,
} from '../../lib/inputs/mcp.ts';
import { closedBody } from '../http/closed-object.ts';

const maxValues = 10;

const serverSchema = closedBody({
  name: serverNameSchema.meta({ description: 'Tools of the server are offered as name__tool.' }),
  url: serverUrlSchema.nullable().default(null).meta({
    description:
      'URL for streamable HTTP: https on a public host, or any host listed in DOCKET_PRIVATE_HOSTS of the worker.',
  }),
  command: serverCommandSchema.nullable().default(null).meta({
    description:
      'Instead of a URL: the program and its arguments. It speaks MCP over standard input and output, in its own sandbox.',
  }),
  tools: z
    .array(toolNameSchema)
    .max(maxNamedTools)
    .nullable()
    .default(null)
    .meta({ description: 'The tools that agents may call; null for all.' }),
  readOnly: z.enum(readOnlyChoices).default('annotated').meta({
    description:
      'Which calls count as read-only: those of tools that the server annotates as read-only, all, or none. Any other call is made at most once.',
  }),
  headers: z
    .array(closedBody({ name: headerNameSchema, value: headerValueSchema }))
    .max(maxValues)
    .optional()
    .meta({
      writeOnly: true,
      description:
        'Stored encrypted, never returned. If omitted, a server with the same name and url keeps its headers.',
    }),
  env: z
    .array(closedBody({ name: variableNameSchema, value: secretValueSchema }))
    .max(maxValues)
    .optional()
    .meta({
      writeOnly: true,
      description:
        'Environment variables of the command. Stored encrypted, never returned. If omitted, a server with the same name and command keeps its variables.',
    }),
})
  .refine(({ url, command }) => (url === null) !== (command === null), 'must have either a url or a command')
  .refine(({ url, headers }) => url !== null || headers === undefined, 'has headers, which need a url')
  .refine(({ command, env }) => command !== null || env === undefined, 'has an env, which needs a command');

/** Body of `PATCH /v1/projects/{id}/mcp-servers`. */
export const changeServersSchema = closedBody({
  servers: z
    .array(serverSchema)
    .max(maxServers)
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, 'must have different names')
    .refine(
      (servers) => servers.filter(({ command }) => command !== null).length <= maxCommands,
      `must have at most ${maxCommands} that run as a command`,
    ),
});

export const serversSchema = z.object({
  servers: z
    .array(
      z.object({
        name: z.string(),
        url: z.string().nullable().meta({ description: 'Null for a server that runs as a command.' }),
        command: z.array(z.string()).max(maxWords).nullable().meta({ description: 'Null for a server at a URL.' }),
        tools: z.array(z.string()).max(maxNamedTools).nullable(),
        readOnly: z.enum(readOnlyChoices),
        headerNames: z.array(z.string()).max(maxValues).meta({ description: 'Headers that are set.' }),
        envNames: z.array(z.string()).max(maxValues).meta({ description: 'Environment variables that are set.' }),
      }),
    )
    .max(maxServers),
});
