import { z } from 'zod';
import type { SearchFilter } from '../../search/query/search-request.ts';
import { withInput } from '../http/error-handler.ts';

/** Longest `currentPath`, in code points (spec, "Limits"). */
const maxCurrentPathLength = 200;
const maxQuestionLength = 20_000;
const maxFingerprintLength = 500;
/** Maximum number of `context` items used in the prompt. */
const usedContextItems = 10;
/** Longer lists are rejected before their items are validated, because validating each item takes time. */
const maxMessages = 500;
const maxParts = 500;
const maxContextItems = 50;
const maxGroups = 50;

/** Further fields are accepted and dropped, because copying those of a whole conversation takes time. */
const open = { additionalProperties: {} };

const partSchema = z
  .object({ type: z.string(), text: z.unknown().optional() })
  .superRefine((part, context) => {
    if (part.type === 'text' && typeof part.text !== 'string') {
      context.addIssue({
        code: 'custom',
        path: ['text'],
        message: `${part.text === undefined ? 'is missing' : 'must be a string'} in a part of type text`,
      });
    }
  })
  .meta(open);

const messageSchema = z
  .object({
    id: z.string().optional(),
    role: z.enum(['user', 'assistant', 'system', 'data']),
    content: z.string().optional(),
    parts: z.array(partSchema).max(maxParts).optional(),
  })
  .superRefine((message, context) => {
    if (message.role !== 'data' && message.content === undefined && message.parts === undefined) {
      context.addIssue({ code: 'custom', message: 'needs parts or content' });
    }
  })
  .meta(open);

type Message = z.infer<typeof messageSchema>;

const contextItemSchema = z.looseObject({
  type: z.enum(['code', 'textSelection']),
  value: z.string(),
  path: z.string().nullish(),
  elementId: z.string().nullish(),
});

const valuesSchema = z.union([z.string(), z.array(z.string()).max(maxGroups)]);

/** Search criteria. Unknown fields are accepted and ignored. */
export const filterSchema = z
  .looseObject({
    version: z.string().nullish(),
    language: z.string().nullish(),
    tag: z.string().nullish(),
    groups: valuesSchema.nullish(),
  })
  .nullish()
  .meta({ description: 'Only pages of this version, language, tag or group.' });

const envelopeSchema = z.looseObject({
  fp: z.string().min(1).meta({ description: 'An identifier of the reader, or "anonymous".' }),
  messages: z.array(z.unknown()).min(1),
  threadId: z
    .string()
    .nullish()
    .meta({ description: 'The conversation to continue: the `threadId` of an earlier answer.' }),
  retrievalPageSize: z
    .int()
    .min(1)
    .max(50)
    .nullish()
    .meta({ description: 'Number of passages that the model reads; 5 by default.' }),
  filter: filterSchema,
  context: z
    .array(contextItemSchema)
    .max(maxContextItems)
    .nullish()
    .meta({ description: `What the question is about; the first ${usedContextItems} are used.` }),
  currentPath: z
    .string()
    .refine((path) => [...path].length <= maxCurrentPathLength, `must have at most ${maxCurrentPathLength} characters`)
    .nullish()
    .meta({
      description: "Path of the page that the reader views: its path in the site, or the path of the browser's URL.",
    }),
  id: z.unknown().optional().meta({ description: "The client's id of the chat, under which an answer is resumed." }),
  trigger: z.unknown().optional(),
  resumable: z.boolean().nullish().meta({
    description: 'true continues the answer after the reader disconnects; its `X-Resume-Token` resumes it.',
  }),
  stream: z
    .boolean()
    .nullish()
    .meta({ description: 'false returns the whole answer as JSON, for clients that read no stream.' }),
  citations: z
    .boolean()
    .nullish()
    .meta({ description: 'true adds the citations of the answer to its stream; JSON always has them.' }),
  followUps: z
    .boolean()
    .nullish()
    .meta({ description: 'true adds topics to ask about next to the stream; JSON always has them.' }),
});

/**
 * Body of a message request. Validation is strict about the envelope but lenient about messages, because real clients
 * send back what they received (wire format, section 6).
 */
export const messageBodySchema = envelopeSchema.extend({
  messages: z
    .array(messageSchema)
    .min(1)
    .max(maxMessages)
    .meta({ description: 'The conversation, oldest first; the last message of the user is the question.' }),
});

interface ConversationMessage {
  role: 'user' | 'assistant';
  text: string;
}

/** A validated request for an answer. */
export type MessageRequest = ReturnType<typeof parseMessageRequest>;

/**
 * Validates the body of a message request (spec, "Assistant message request body").
 * Throws ZodError, whose first issue describes the problem to the caller.
 */
export function parseMessageRequest(body: unknown) {
  checkLength(fieldOf(body, 'context'), maxContextItems, ['context']);
  checkLength(fieldOf(fieldOf(body, 'filter'), 'groups'), maxGroups, ['filter', 'groups']);
  const { messages: given, ...parsed } = envelopeSchema.parse(body, withInput);
  const messages = parseMessages(given);
  const last = messages.findLastIndex((message) => message.role === 'user');
  const userMessage = messages[last];
  if (userMessage === undefined) throw problemAt(['messages'], 'must contain a user message');
  if (parsed.stream === false && parsed.resumable === true)
    throw problemAt(['resumable'], 'must not be true with stream: false, because only a stream is resumed');
  return {
    fp: parsed.fp.slice(0, maxFingerprintLength),
    /** Text of the last user message. */
    question: textOf(userMessage).slice(0, maxQuestionLength),
    /** Whether the last user message has files, which are not read. */
    hasFiles: hasFiles(userMessage, given[last]),
    /** Earlier messages, oldest first. System and data messages are left out: a client must not give instructions. */
    history: messages.slice(0, last).flatMap(toConversation),
    threadId: parsed.threadId ?? null,
    retrievalPageSize: parsed.retrievalPageSize ?? 5,
    filter: toSearchFilter(parsed.filter),
    context: (parsed.context ?? [])
      .slice(0, usedContextItems)
      .map(({ type, value, path }) => ({ type, value, path: path ?? null })),
    currentPath: parsed.currentPath ?? null,
    /** The client's chat id, under which a reply can be resumed. */
    chatId: typeof parsed.id === 'string' && /^[\w.:-]{1,200}$/.test(parsed.id) ? parsed.id : null,
    isResumable: parsed.resumable ?? false,
    /** Whether the answer is sent as a stream, else whole. */
    isStream: parsed.stream ?? true,
    wantsCitations: parsed.citations ?? parsed.stream === false,
    wantsFollowUps: parsed.followUps ?? parsed.stream === false,
    client: {
      /** Whether the last user message has `parts`, as AI SDK v4 clients send it from 4.1.20 on. */
      hasParts: Array.isArray(userMessage.parts),
      /** Whether `parts` is the first key of the last user message, as AI SDK clients build it. */
      namesPartsFirst: firstKeyOf(given[last]) === 'parts',
      /** Whether the body has `trigger`, as AI SDK v5+ transports send it. */
      hasTrigger: parsed.trigger !== undefined,
    },
  };
}

/** Validates messages one by one to stop at the first invalid one. A list schema would collect issues of all items. */
function parseMessages(given: unknown[]): Message[] {
  checkLength(given, maxMessages, ['messages']);
  return given.map((item, position) => {
    checkLength(fieldOf(item, 'parts'), maxParts, ['messages', position, 'parts']);
    const { data, error } = messageSchema.safeParse(item, withInput);
    if (error === undefined) return data;
    throw new z.ZodError(error.issues.map((issue) => ({ ...issue, path: ['messages', position, ...issue.path] })));
  });
}

function checkLength(list: unknown, max: number, path: PropertyKey[]): void {
  if (Array.isArray(list) && list.length > max) throw problemAt(path, `must have at most ${max} items`);
}

function problemAt(path: PropertyKey[], message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path, message, input: undefined }]);
}

/** Returns a field of an unvalidated value, or undefined when the value is not an object. */
function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns the first key of an unvalidated message. Validation would reorder the keys to match the schema. */
function firstKeyOf(message: unknown): string | undefined {
  return typeof message === 'object' && message !== null ? Object.keys(message)[0] : undefined;
}

function toConversation(message: Message): ConversationMessage[] {
  if (message.role !== 'user' && message.role !== 'assistant') return [];
  const text = textOf(message);
  return text.trim() === '' ? [] : [{ role: message.role, text }];
}

function textOf({ parts, content }: Message): string {
  const texts = (parts ?? []).flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length > 0 ? texts.join('\n') : (content ?? '');
}

/** Parts that hold a file: those of the AI SDK, and those of other protocols such as `image_url` and `input_audio`. */
const filePart = /^(?:input_)?(?:file|image|audio|video|document)(?:_url)?$/;

/** Reports whether a message has parts with files, or attachments as clients of AI SDK v4 send them. */
function hasFiles({ parts }: Message, given: unknown): boolean {
  const attachments = fieldOf(given, 'experimental_attachments');
  return (
    (parts ?? []).some(({ type }) => filePart.test(type)) || (Array.isArray(attachments) && attachments.length > 0)
  );
}

/** Returns the known criteria of a filter, or null when it has none. */
export function toSearchFilter(filter: z.infer<typeof filterSchema>): SearchFilter | null {
  if (filter === null || filter === undefined) return null;
  const { version, language, tag, groups } = filter;
  const kept: SearchFilter = {};
  if (typeof version === 'string') kept.version = version;
  if (typeof language === 'string') kept.language = language;
  if (typeof tag === 'string') kept.tag = tag;
  if (groups !== null && groups !== undefined) kept.groups = typeof groups === 'string' ? [groups] : groups;
  return Object.keys(kept).length === 0 ? null : kept;
}
