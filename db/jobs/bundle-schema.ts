import { imageRefSchema } from './job-images.ts';
import { z } from 'zod';

/** The stored records of a job: the lines of a bundle, and the input of a replay. */

const stepKey = { turn: z.number(), step: z.number() };
const text = z.string();
const time = z.string();

const toolCallSchema = z.object({
  toolCallId: text,
  toolName: text,
  input: z.unknown(),
  invalid: text.optional(),
});

/** A tool as a model reads it. */
const toolDefinitionSchema = z.object({
  name: text,
  description: text,
  /** JSON schema. */
  inputSchema: z.record(z.string(), z.unknown()),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;

const jobRecord = z.object({
  piece: z.literal('job'),
  id: text,
  projectId: text,
  status: text,
  turn: z.number(),
  repository: text,
  requestedRef: text.nullable(),
  baseBranch: text.nullable(),
  baseCommit: text.nullable(),
  model: text,
  draft: z.boolean(),
  title: text.nullable(),
  message: text.nullable(),
  branch: text.nullable(),
  headCommit: text.nullable(),
  prLink: text.nullable(),
  failureCategory: text.nullable(),
  forkedFrom: z.object({ jobId: text, ...stepKey }).nullable(),
  recordsRemovedAt: time.nullable(),
  createdAt: time,
  endedAt: time.nullable(),
  archivedAt: time.nullable(),
});

const turnRecord = z.object({
  piece: z.literal('turn'),
  turn: z.number(),
  prompt: text,
  images: z.array(imageRefSchema).optional(),
  status: text,
  baseCommit: text.nullable(),
  tree: text.nullable(),
  treeStep: z.number().nullable(),
  firstTree: text.nullable().default(null),
  createdAt: time,
  endedAt: time.nullable(),
});

const messageRecord = z.object({
  piece: z.literal('message'),
  turn: z.number(),
  position: z.number(),
  /** First step that read it. */
  step: z.number().nullable(),
  prompt: text,
  images: z.array(imageRefSchema).optional(),
  createdAt: time,
});

/**
 * Kinds of notes from the service to the agent. `nudge`: it repeats itself. `calls-left`, `last-call`: a limit is near.
 * `overruled`: others changed the same parts of the branch, or the base branch was merged. `guidance:<path>`: the
 * repository's guidance in that file.
 * `mcp:<server>`: an MCP server cannot be used.
 * `check`: its work is checked. `planning`: the turn only plans. `self-review`: it reviews its change, or its review was cut off. `no-commands`: it cannot run commands. `call-finish`: it ended without the check.
 * `fetch-hosts`: web pages of some hosts of the project cannot be fetched.
 */
const noteKindSchema = z.union([
  z.enum([
    'nudge',
    'calls-left',
    'last-call',
    'overruled',
    'check',
    'planning',
    'self-review',
    'no-commands',
    'call-finish',
    'fetch-hosts',
  ]),
  z.templateLiteral(['guidance:', z.string()]),
  z.templateLiteral(['mcp:', z.string()]),
]);
export type NoteKind = z.infer<typeof noteKindSchema>;

const noteRecord = z.object({
  piece: z.literal('note'),
  ...stepKey,
  kind: noteKindSchema,
  text,
});

const compactionRecord = z.object({
  piece: z.literal('compaction'),
  ...stepKey,
  uptoTurn: z.number(),
  uptoStep: z.number(),
  summary: text,
  ledger: z.object({
    read: z.record(text, text.nullable()),
    changed: z.array(text),
    todo: z.array(z.object({ text, done: z.boolean() })),
    plan: text.optional(),
    quoteLength: z.number().optional(),
  }),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
  tree: text.nullable(),
});

/** The definitions of the tools that calls offered, as they were sent. */
const toolsRecord = z.object({
  piece: z.literal('tools'),
  hash: text,
  definitions: z.array(toolDefinitionSchema),
});

const effectRecord = z.object({
  piece: z.literal('effect'),
  turn: z.number(),
  effect: text,
  fence: z.number(),
  failures: z.number(),
  result: z.unknown(),
});

/** Without the type `text`, because the step has the complete text. */
const eventRecord = z.object({
  piece: z.literal('event'),
  seq: z.number(),
  turn: z.number(),
  step: z.number().nullable(),
  type: text,
  data: z.record(z.string(), z.unknown()),
  createdAt: time,
});

const exportRecord = z.object({
  piece: z.literal('export'),
  turn: z.number(),
  state: z.enum(['waiting', 'exported', 'lost', 'removed']),
  isWhole: z.boolean(),
});

const historyRecord = z.object({
  piece: z.literal('history'),
  turn: z.number(),
  run: z.number(),
  runId: text,
  eventCount: z.number(),
  buildIds: z.array(text),
  /** In the format of `packHistory`, as base64. */
  history: text,
});

const stepRecord = z.object({
  piece: z.literal('step'),
  ...stepKey,
  fence: z.number(),
  /** The model that answered; null in bundles of earlier versions. */
  model: text.nullable().default(null),
  requestHash: text.nullable(),
  /** The record of the tools that the call offered; null in steps of earlier versions. */
  toolsHash: text.nullable().default(null),
  response: z.object({ content: z.array(z.unknown()), text, toolCalls: z.array(toolCallSchema) }).nullable(),
  finishReason: text.nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  cacheWriteTokens: z.number().default(0),
  costMicros: z.number().nullable(),
  toolResults: z
    .array(
      z.object({
        toolCallId: text,
        toolName: text,
        output: text,
        isError: z.boolean(),
        image: imageRefSchema.optional(),
      }),
    )
    .nullable(),
  tree: text.nullable(),
  /** Change of the step alone; null when there is none, or when it was not stored. */
  patch: text.nullable().default(null),
  modelFailures: z.number(),
  startedAt: time,
  answeredAt: time.nullable(),
  endedAt: time.nullable(),
});

const snapshotRecord = z.object({
  piece: z.literal('snapshot'),
  tree: text,
  commit: text,
  baseCommit: text,
  patch: text,
  changedFiles: z.number(),
  /** Whether its contents were removed. */
  isRemoved: z.boolean().default(false),
});

/** The content of an image that prompts and results show, as base64. */
const imageRecord = z.object({ piece: z.literal('image'), hash: text, data: text });

/** A part of the preceding snapshot's pack, as base64; thin, relative to the base commit. */
const packRecord = z.object({ piece: z.literal('pack'), tree: text, data: text });

export const bundleRecordSchema = z.discriminatedUnion('piece', [
  jobRecord,
  turnRecord,
  messageRecord,
  noteRecord,
  compactionRecord,
  toolsRecord,
  effectRecord,
  eventRecord,
  exportRecord,
  historyRecord,
  stepRecord,
  imageRecord,
  snapshotRecord,
  packRecord,
]);

export type BundleRecord = z.infer<typeof bundleRecordSchema>;
export type BundleRecordOf<Name extends BundleRecord['piece']> = Extract<BundleRecord, { piece: Name }>;
