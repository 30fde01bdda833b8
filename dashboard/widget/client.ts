import { readAnswerEvents, type AnswerEvent } from './answer/answer-events.ts';
import { createProvenFetch } from './proven-fetch.ts';
import { parseJson, stringIn, stringsOf, valueIn } from './unknown-fields.ts';

export type { AnswerEvent, CitedPassage, Mark, Source } from './answer/answer-events.ts';

/** Identifier of readers without one; to the API, it stands for any number of them. */
export const anonymous = 'anonymous';

export interface ClientOptions {
  /** URL of the Docket server. */
  baseUrl: string;
  /** Domain of the documentation site in Docket. */
  site: string;
  /** Assistant API key (`svc_dsc_…`); it is public. */
  apiKey: string;
  /** Identifier of the reader; `anonymous` by default. */
  user?: string;
  /** Returns the token that proves the reader's groups, if the site has pages for groups. */
  readerToken?: () => string | null | Promise<string | null>;
  /** Solves the CAPTCHA of the key, if it requires one, and returns its response. Called about every half hour. */
  captcha?: () => string | Promise<string>;
}

export interface AskedMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
}

/** Text that the reader selected on a page, or code that the question is about. */
export interface QuestionContext {
  type: 'textSelection' | 'code';
  value: string;
  path?: string;
}

export interface Question {
  /** Identifies the answer when it is resumed. */
  chatId: string;
  /** The conversation, which ends with the question. */
  messages: AskedMessage[];
  threadId?: string | null;
  context?: QuestionContext[];
  currentPath?: string;
}

/** Resumes one answer. The token is secret, because anyone who has it can read the answer. */
export interface ResumeHandle {
  chatId: string;
  token: string;
}

export interface Answer {
  /** Null when the site stores no conversations; such an answer cannot be resumed. */
  resume: ResumeHandle | null;
  /** Rejects when the connection breaks; an answer that is complete ends with `finish`. */
  events: AsyncIterable<AnswerEvent>;
}

export interface Rating {
  threadId: string;
  messageId: string;
  vote: 'up' | 'down';
  reasons?: string[];
  comment?: string | null;
}

export interface Passage {
  path: string;
  anchor: string | null;
  /** Markdown of the passage. */
  content: string;
}

/** A page, or a section of one, whose title contains what a reader types. */
export interface SuggestedPage {
  url: string;
  title: string;
  /** Null for the page itself. */
  heading: string | null;
}

export interface Suggestions {
  /** The site's questions to begin with; all of them for an empty query. */
  questions: string[];
  pages: SuggestedPage[];
}

export interface Client {
  /** URL of the site's assistant. Conversations of different sites are stored apart by it. */
  readonly address: string;
  /** Asks a question. Rejects with AnswerError when the server refuses it. */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>;
  /** Resumes an answer from its first event; null when there is nothing to resume. */
  resume(handle: ResumeHandle, signal?: AbortSignal): Promise<Answer | null>;
  /** Stops a resumable answer, which otherwise continues after its reader has disconnected. */
  stop(handle: ResumeHandle): Promise<void>;
  /** Rates an answer; a later rating replaces an earlier one. */
  rate(rating: Rating): Promise<void>;
  /** Searches the site and returns passages, best first. */
  search(query: string, signal?: AbortSignal): Promise<Passage[]>;
  /** Suggests questions and pages while a reader types. */
  suggest(query: string, signal?: AbortSignal): Promise<Suggestions>;
}

/** The server refused a request; its message is meant for the reader. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Longest `currentPath` that the API accepts, in code points. */
const maxPathLength = 200;

/** Creates a client of a site's assistant. It keeps no state; `createConversation` does. */
export function createClient(options: ClientOptions): Client {
  return createClientWith(options, createProvenFetch(options));
}

/** Creates a client that leaves it to `authorizedFetch` to authenticate its requests. */
export function createClientWith(
  { baseUrl, site, user = anonymous, readerToken }: Omit<ClientOptions, 'apiKey' | 'captcha'>,
  authorizedFetch: typeof fetch,
): Client {
  const root = baseUrl.replace(/(?<!\/)\/+$/, '');
  const domain = encodeURIComponent(site);
  const assistant = `${root}/discovery/v2/assistant/${domain}`;

  const streamOf = (chatId: string) => `${assistant}/message/${encodeURIComponent(chatId)}/stream`;

  async function send(url: string, init: RequestInit): Promise<Response> {
    const token = await readerToken?.();
    const response = await authorizedFetch(url, {
      ...init,
      headers: {
        ...init.headers,
        ...(token === null || token === undefined ? {} : { 'X-Reader-Token': token }),
      },
    });
    return accepted(response);
  }

  function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const headers = { 'Content-Type': 'application/json' };
    return send(url, { method: 'POST', headers, body: JSON.stringify(body), signal: signal ?? null });
  }

  return {
    address: assistant,
    async ask({ chatId, messages, threadId, context, currentPath }, signal) {
      const response = await post(
        `${assistant}/message`,
        {
          id: chatId,
          trigger: 'submit-message',
          fp: user,
          messages: messages.map(({ id, role, text }) => ({ id, role, parts: [{ type: 'text', text }] })),
          resumable: true,
          citations: true,
          followUps: true,
          ...(threadId ? { threadId } : {}),
          ...(context === undefined || context.length === 0 ? {} : { context }),
          ...(currentPath ? { currentPath: [...currentPath].slice(0, maxPathLength).join('') } : {}),
        },
        signal,
      );
      const token = response.headers.get('X-Resume-Token');
      return { resume: token === null ? null : { chatId, token }, events: eventsOf(response) };
    },

    async resume({ chatId, token }, signal) {
      const headers = { 'X-Resume-Token': token };
      const response = await send(streamOf(chatId), { headers, signal: signal ?? null });
      return response.status === 204 ? null : { resume: { chatId, token }, events: eventsOf(response) };
    },

    async stop({ chatId, token }) {
      await send(streamOf(chatId), { method: 'DELETE', headers: { 'X-Resume-Token': token } });
    },

    async rate(rating) {
      await post(`${assistant}/feedback`, rating);
    },

    async search(query, signal) {
      const response = await post(`${root}/discovery/v1/search/${domain}`, { query, pageSize: 10 }, signal);
      const hits: unknown = await response.json();
      return Array.isArray(hits) ? hits.map(passageOf) : [];
    },

    async suggest(query, signal) {
      const response = await post(`${root}/discovery/v1/suggest/${domain}`, { query }, signal);
      const found: unknown = await response.json();
      const pages = valueIn(found, 'pages');
      return {
        questions: stringsOf(valueIn(found, 'questions')),
        pages: Array.isArray(pages) ? pages.map(suggestedPageOf) : [],
      };
    },
  };
}

/** Throws AnswerError for a response that is an error. */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  const sentence = stringIn(parseJson(await response.text()), 'error');
  throw new AnswerError(response.status, sentence ?? `The assistant responded with status ${response.status}.`);
}

function eventsOf({ body }: Response): AsyncIterable<AnswerEvent> {
  if (body === null) throw new AnswerError(200, 'The assistant sent no answer. Ask again.');
  return readAnswerEvents(body);
}

function suggestedPageOf(page: unknown): SuggestedPage {
  const url = stringIn(page, 'url') ?? '';
  return { url, title: stringIn(page, 'title') ?? url, heading: stringIn(page, 'heading') };
}

function passageOf(hit: unknown): Passage {
  return {
    path: stringIn(hit, 'path') ?? '',
    anchor: stringIn(valueIn(hit, 'metadata'), 'anchor'),
    content: stringIn(hit, 'content') ?? '',
  };
}
