import { z } from 'zod';
import { checkItems, fieldOf } from './check-items.ts';

/** Longest `currentPath`, in characters (code points), spec "Limits". */
const longestCurrentPath = 200;
const longestQuestion = 20_000;
const longestFingerprint = 500;
/** Items of `context` that are looked at. */
const mostContextItems = 10;

const partSchema = z.looseObject({ type: z.string(), text: z.unknown().optional() }).superRefine((part, context) => {
  if (part.type === 'text' && typeof part.text !== 'string') {
    context.addIssue({ code: 'custom', path: ['text'], message: 'is missing or not a string in a part of type text' });
  }
});

const messageSchema = z
  .looseObject({
    id: z.string().optional(),
    role: z.enum(['user', 'assistant', 'system', 'data']),
    content: z.string().optional(),
    parts: z.array(partSchema).optional(),
  })
  .superRefine((message, context) => {
    if (message.role !== 'data' && message.content === undefined && message.parts === undefined) {
      context.addIssue({ code: 'custom', message: 'needs parts or content' });
    }
  });

const contextItemSchema = z.looseObject({
  type: z.enum(['code', 'textSelection']),
  value: z.string(),
  path: z.string().nullish(),
  elementId: z.string().nullish(),
});

const valuesSchema = z.union([z.string(), z.array(z.string())]);

/** The criteria of a search; unknown fields pass and are ignored. */
export const filterSchema = z.looseObject({
  version: z.string().nullish(),
  language: z.string().nullish(),
  tag: z.string().nullish(),
  groups: valuesSchema.nullish(),
});

/** Strict about the envelope, lenient about messages: real clients send back what they were sent (wire format, section 6). */
export const messageBodySchema = z.looseObject({
  fp: z.string().min(1),
  messages: z
    .array(messageSchema)
    .min(1)
    .refine((messages) => messages.some((message) => message.role === 'user'), 'must hold a user message'),
  threadId: z.string().nullish(),
  retrievalPageSize: z.int().min(1).max(50).nullish(),
  filter: filterSchema.nullish(),
  context: z.array(contextItemSchema).nullish(),
  currentPath: z
    .string()
    .refine((path) => [...path].length <= longestCurrentPath, `must have at most ${longestCurrentPath} characters`)
    .nullish(),
  id: z.unknown().optional(),
  trigger: z.unknown().optional(),
  resumable: z.boolean().nullish(),
});

export interface ConversationMessage {
  role: 'user' | 'assistant';
  text: string;
}

export interface ContextItem {
  type: 'code' | 'textSelection';
  value: string;
  path: string | null;
}

export interface MessageFilter {
  version?: string;
  language?: string;
  tag?: string;
  groups?: string[];
}

/** A request for an answer, as the rest of the assistant sees it. */
export interface MessageRequest {
  fp: string;
  /** The text of the last user message. */
  question: string;
  /** What was said before it, oldest first; system and data messages are left out: a client gives no instructions. */
  history: ConversationMessage[];
  threadId: string | null;
  retrievalPageSize: number;
  filter: MessageFilter | null;
  context: ContextItem[];
  currentPath: string | null;
  /** The client's id of the chat, under which a reply can be resumed. */
  chatId: string | null;
  isResumable: boolean;
  client: {
    /** The last user message came with `parts`: an AI SDK v4 client from 4.1.20 on. */
    hasParts: boolean;
    /** The last user message names `parts` first, as AI SDK clients build it. */
    namesPartsFirst: boolean;
    /** The body has `trigger`, as AI SDK v5+ transports send it. */
    hasTrigger: boolean;
  };
}

/**
 * Validates the body of a message request (spec, "Assistant message request body").
 * Errors: ZodError, whose first issue is a sentence for the caller.
 */
export function parseMessageRequest(body: unknown): MessageRequest {
  checkLists(body);
  const parsed = messageBodySchema.parse(body);
  const last = parsed.messages.findLastIndex((message) => message.role === 'user');
  const asked = parsed.messages[last];
  return {
    fp: parsed.fp.slice(0, longestFingerprint),
    question: asked === undefined ? '' : textOf(asked).slice(0, longestQuestion),
    history: parsed.messages.slice(0, last).flatMap(toConversation),
    threadId: parsed.threadId ?? null,
    retrievalPageSize: parsed.retrievalPageSize ?? 5,
    filter: toSearchFilter(parsed.filter),
    context: (parsed.context ?? [])
      .slice(0, mostContextItems)
      .map(({ type, value, path }) => ({ type, value, path: path ?? null })),
    currentPath: parsed.currentPath ?? null,
    chatId: typeof parsed.id === 'string' && /^[\w.:-]{1,200}$/.test(parsed.id) ? parsed.id : null,
    isResumable: parsed.resumable ?? false,
    client: {
      hasParts: Array.isArray(asked?.parts),
      namesPartsFirst: firstKeyOfMessage(body, last) === 'parts',
      hasTrigger: parsed.trigger !== undefined,
    },
  };
}

function checkLists(body: unknown): void {
  const messages = fieldOf(body, 'messages');
  if (Array.isArray(messages)) {
    for (const [position, message] of messages.entries())
      checkItems(fieldOf(message, 'parts'), partSchema, ['messages', position, 'parts']);
  }
  checkItems(messages, messageSchema, ['messages']);
  checkItems(fieldOf(body, 'context'), contextItemSchema, ['context']);
  checkItems(fieldOf(fieldOf(body, 'filter'), 'groups'), z.string(), ['filter', 'groups']);
}

/** Read from the body as it came: validation puts keys into the order of the schema. */
function firstKeyOfMessage(body: unknown, position: number): string | undefined {
  const messages = fieldOf(body, 'messages');
  const message: unknown = Array.isArray(messages) ? messages[position] : undefined;
  return typeof message === 'object' && message !== null ? Object.keys(message)[0] : undefined;
}

function toConversation(message: z.infer<typeof messageSchema>): ConversationMessage[] {
  if (message.role !== 'user' && message.role !== 'assistant') return [];
  const text = textOf(message);
  return text.trim() === '' ? [] : [{ role: message.role, text }];
}

function textOf({ parts, content }: z.infer<typeof messageSchema>): string {
  const texts = (parts ?? []).flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length > 0 ? texts.join('\n') : (content ?? '');
}

/** The known criteria of a filter; null when it has none. */
export function toSearchFilter(filter: z.infer<typeof filterSchema> | null | undefined): MessageFilter | null {
  if (filter === null || filter === undefined) return null;
  const { version, language, tag, groups } = filter;
  const kept: MessageFilter = {};
  if (typeof version === 'string') kept.version = version;
  if (typeof language === 'string') kept.language = language;
  if (typeof tag === 'string') kept.tag = tag;
  if (groups !== null && groups !== undefined) kept.groups = typeof groups === 'string' ? [groups] : groups;
  return Object.keys(kept).length === 0 ? null : kept;
}
