import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { anonymousFingerprint } from '../../db/sites/site-facts.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { maxSources } from '../../db/sites/threads.ts';
import type { RequestAccess } from '../access/request-access.ts';
import { citationsSchema } from '../assistant/citations/citation-schema.ts';
import type { Answers } from '../assistant/wire/assistant-parts.ts';
import { filterSchema, messageBodySchema, parseMessageRequest, toSearchFilter } from '../assistant/message-request.ts';
import { closedBody } from '../http/closed-object.ts';
import { withInput } from '../http/error-handler.ts';
import { pageNotFound } from '../http/errors.ts';
import { schemaOf } from '../openapi/openapi.ts';
import { feedbackSchema } from '../sites/gap-schemas.ts';
import { presentHit } from '../sites/present-hit.ts';
import type { RateAnswer } from '../sites/rate-answer.ts';
import { pageBodySchema, passagesSchema, searchBodySchema } from '../sites/search-schemas.ts';
import type { SiteReader, SiteReading } from '../sites/site-reading.ts';

export interface ToolDeps {
  reading: SiteReading;
  rateAnswer: RateAnswer;
  answers: Pick<Answers, 'assertCapacity' | 'answerWhole'>;
  acquireAnswerSlot: RequestAccess['acquireAnswerSlot'];
}

/** The request in which a tool is called. */
export interface ToolRequest {
  reader: SiteReader & { site: SiteRow };
  /** IP address of the client. */
  address: string;
  accessEnded: AbortSignal;
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  /** Reports the length of an answer as it grows. */
  onLength(length: number): void;
}

export interface McpTool {
  definition: Tool;
  /** Throws ZodError for wrong arguments, and ApiError. */
  call(given: unknown, request: ToolRequest): Promise<CallToolResult>;
}

const maxQuestionLength = 20_000;
/** Characters of a page per call. */
const maxExcerptLength = 50_000;

const askInput = closedBody({
  question: z
    .string()
    .max(maxQuestionLength)
    .refine((text) => text.trim() !== '', 'must not be blank')
    .meta({ description: 'A complete question; it has to make sense without earlier ones.' }),
  threadId: messageBodySchema.shape.threadId,
  currentPath: messageBodySchema.shape.currentPath,
  filter: filterSchema,
});

const answerSchema = z.object({
  answer: z.string(),
  threadId: z.string(),
  messageId: z.string().meta({ description: 'Identifies the answer in send_feedback.' }),
  sources: z.array(z.object({ id: z.string(), path: z.string(), url: z.string(), title: z.string() })).max(maxSources),
  citations: citationsSchema.meta({ description: 'The sentences of the answer and the passages behind them.' }),
});

/** Creates the tools of a documentation site's MCP server. */
export function createTools({ reading, rateAnswer, answers, acquireAnswerSlot }: ToolDeps): McpTool[] {
  return [
    toolOf({
      name: 'search',
      title: 'Search the documentation',
      description: 'Returns the passages of the documentation that match a query best.',
      input: closedBody(searchBodySchema.shape),
      output: z.object({ passages: passagesSchema }),
      isReadOnly: true,
      async run({ query, pageSize, filter }, { reader, gone }) {
        const request = { query, limit: pageSize, filter: toSearchFilter(filter) };
        return structured({ passages: (await reading.search(reader, request, gone)).map(presentHit) });
      },
    }),
    toolOf({
      name: 'read_page',
      title: 'Read a page',
      description: 'Returns one page of the documentation as Markdown. A long page comes in parts.',
      input: closedBody({
        path: pageBodySchema.shape.path.meta({ description: 'For example guides/install, as search returns it.' }),
        offset: z.int().min(0).default(0).meta({ description: 'Where the part begins, in characters.' }),
        filter: filterSchema,
      }),
      isReadOnly: true,
      async run({ path, offset, filter }, { reader }) {
        const page = await reading.openPage(reader, path, { filter: toSearchFilter(filter) });
        if (page === null) throw pageNotFound();
        const end = offset + maxExcerptLength;
        const more = end < page.content.length ? [`The page continues. Read on with offset ${end}.`] : [];
        const texts = [page.content.slice(offset, end), ...more];
        return { content: texts.map((text) => ({ type: 'text', text })) };
      },
    }),
    toolOf({
      name: 'ask',
      title: 'Ask the documentation',
      description:
        'Returns an answer to a question, written from the documentation, with its sources and their passages.',
      input: askInput,
      output: answerSchema,
      isReadOnly: false,
      async run({ question, ...more }, { reader, address, ...signals }) {
        answers.assertCapacity(reader.site);
        using _slot = acquireAnswerSlot(address);
        const messages = [{ role: 'user', content: question }];
        const request = parseMessageRequest({ ...more, fp: anonymousFingerprint, messages, citations: true });
        const whole = await answers.answerWhole({ ...reader, request, ...signals });
        const { text, sources, citations, failure, threadId, messageId } = whole;
        if (failure !== null) return failed(failure);
        return structured({
          answer: text,
          threadId,
          messageId,
          sources: sources.map(({ id, path, url, title }) => ({ id, path, url, title })),
          citations,
        });
      },
    }),
    toolOf({
      name: 'send_feedback',
      title: 'Rate an answer',
      description: 'Tells the authors of the documentation whether an answer of ask was right and complete.',
      input: closedBody(feedbackSchema.shape),
      output: feedbackSchema,
      isReadOnly: false,
      run: async (rating, { reader }) => structured(await rateAnswer(reader.site, rating)),
    }),
  ];
}

/** Returns the result of a tool that could not do what it was asked. */
export function failed(sentence: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: sentence }] };
}

/** Returns a result for programs, and as text for clients that know no structured results. */
function structured(value: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

interface ToolOptions<Input extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  output?: z.ZodObject;
  isReadOnly: boolean;
  run(input: z.output<Input>, request: ToolRequest): Promise<CallToolResult>;
}

function toolOf<Input extends z.ZodObject>(options: ToolOptions<Input>): McpTool {
  const { name, title, description, input, output, isReadOnly, run } = options;
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: { ...schemaOf(input, 'input'), type: 'object' },
      ...(output !== undefined && { outputSchema: { ...schemaOf(output, 'output'), type: 'object' as const } }),
      annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false },
    },
    call: async (given, request) => run(input.parse(given ?? {}, withInput), request),
  };
}
