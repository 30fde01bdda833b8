import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Logger } from 'pino';
import { z } from 'zod';
import { withInput, type RefusalOf } from '../http/error-handler.ts';
import { internalError, pageNotFound, type ApiError } from '../http/errors.ts';
import { wholeNumber } from '../http/page-schemas.ts';
import { apiVersion } from '../openapi/openapi.ts';
import { pagesFrom } from '../sites/site-documents.ts';
import { createTools, failed, type ToolDeps, type ToolRequest } from './tools.ts';

export interface McpServerDeps extends ToolDeps {
  refusalOf: RefusalOf;
  log: Logger;
}

/** Creates the MCP server for one request. */
export type CreateMcpServer = (request: Omit<ToolRequest, 'onLength'>) => Server;

/** Pages per part of the list of resources. */
const maxResources = 100;
/** Progress is reported whenever an answer has grown by this number of characters. */
const progressEvery = 200;
/** Code for a missing resource, which the SDK does not name. */
const resourceNotFound = -32_002;

const listSchema = z.object({ cursor: wholeNumber(0, 1_000_000_000).default(0) });

/** Creates a factory of MCP servers. A server has the tools and pages of one site, and no state. */
export function createMcpServers({ refusalOf, log, ...deps }: McpServerDeps): CreateMcpServer {
  const tools = createTools(deps);
  const definitions = tools.map(({ definition }) => definition);
  // creating one takes milliseconds
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  function problemOf(error: unknown): ApiError {
    const refusal = refusalOf(error);
    if (refusal === null) log.error({ err: error }, 'an MCP request failed');
    return refusal ?? internalError();
  }

  function rpcErrorOf({ status, message }: ApiError): McpError {
    if (status === 400) return new McpError(ErrorCode.InvalidParams, message);
    return new McpError(status === 404 ? resourceNotFound : ErrorCode.InternalError, message);
  }

  return (request) => {
    const { reader } = request;
    const { site } = reader;
    const root = `docs://${site.domain}/`;
    const uriOf = (path: string) => `${root}${path.split('/').map(encodeURIComponent).join('/')}`;

    const server = new Server(
      { name: 'docket', title: `Documentation of ${site.domain}`, version: apiVersion },
      {
        capabilities: { tools: {}, resources: {} },
        instructions: `Answers questions about ${site.domain} from its documentation. Use ask for a complete answer, or search and read_page to find it yourself.`,
        jsonSchemaValidator,
      },
    );

    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions }));

    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification }) => {
      const tool = tools.find(({ definition }) => definition.name === params.name);
      if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, 'There is no such tool.');
      const progressToken = _meta?.progressToken;
      let reported = 0;
      function onLength(progress: number): void {
        if (progressToken === undefined || progress < reported + progressEvery) return;
        reported = progress;
        sendNotification({ method: 'notifications/progress', params: { progressToken, progress } }).catch(() => {});
      }
      try {
        return await tool.call(params.arguments, { ...request, onLength });
      } catch (error) {
        const problem = problemOf(error);
        if (problem.status === 400) throw rpcErrorOf(problem);
        return failed(problem.message);
      }
    });

    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: [{ uriTemplate: `${root}{+path}`, name: 'page', title: 'A page', mimeType: 'text/markdown' }],
    }));

    server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => {
      try {
        const { cursor: from } = listSchema.parse(params ?? {}, withInput);
        const range = { from, limit: maxResources };
        const { pages, next } = await deps.reading.withIndex(reader, (index) => pagesFrom(index, range));
        return {
          resources: pages.map(({ path, metadata: { title, description } }) => ({
            uri: uriOf(path),
            name: path,
            title,
            description,
            mimeType: 'text/markdown',
          })),
          ...(next !== null && { nextCursor: String(next) }),
        };
      } catch (error) {
        throw rpcErrorOf(problemOf(error));
      }
    });

    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
      try {
        const path = uri.startsWith(root) ? uri.slice(root.length) : null;
        const page = path === null ? null : await deps.reading.openPage(reader, path);
        if (page === null) throw pageNotFound();
        return { contents: [{ uri: uriOf(page.path), mimeType: 'text/markdown', text: page.content }] };
      } catch (error) {
        throw rpcErrorOf(problemOf(error));
      }
    });

    return server;
  };
}
