import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, truncate } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from '../../../cli/command-error.ts';
import { parsed, textOf } from './tasks.ts';

const headerSchema = z.object({
  /** Part of every Idempotency-Key, so that a resumed run finds its jobs. */
  run: z.string(),
  model: z.string().nullable(),
  /** The file of instances; null for Docket's own tasks. */
  instances: z.string().nullable(),
});
export type Header = z.infer<typeof headerSchema>;

const resultSchema = z.object({
  task: z.string(),
  attempt: z.number(),
  kind: z.string(),
  language: z.string(),
  repository: z.string(),
  job: z.string().nullable(),
  /** Null when the result was not judged. */
  resolved: z.boolean().nullable(),
  /** Why it is not resolved: a category of the job's failure, or of the check's. */
  failure: z.string().nullable(),
  reason: z.string(),
  model: z.string().nullable(),
  costUsd: z.number().nullable(),
  steps: z.number(),
  inputTokens: z.number(),
  /** Of the input, what providers read from their caches; null in runs of earlier versions. */
  cachedInputTokens: z.number().nullable().default(null),
  outputTokens: z.number(),
  /** From the job's creation to its end. */
  seconds: z.number(),
  patch: z.string(),
});
export type Result = z.infer<typeof resultSchema>;

export interface RunFile {
  header: Header;
  /** The last result of each attempt. */
  results: Result[];
}

/** Reads the file of a run. A last line that a kill cut off does not count. Throws CommandError. */
export function readRun(file: string): RunFile {
  const [first = '', ...lines] = textOf(file).split('\n').slice(0, -1);
  const header = parsed(headerSchema, `${file}, line 1,`, () => JSON.parse(first));
  const results = lines.map((line, index) =>
    parsed(resultSchema, `${file}, line ${index + 2},`, () => JSON.parse(line)),
  );
  return { header, results: [...new Map(results.map((result) => [keyOf(result), result])).values()] };
}

/** Opens the file of a run to continue it, or creates it. Throws CommandError when it is one of another kind. */
export async function openRun(
  file: string,
  wanted: Omit<Header, 'run'>,
): Promise<RunFile & { append(result: Result): Promise<void> }> {
  const write = async (value: object) => {
    try {
      await appendFile(file, `${JSON.stringify(value)}\n`, { flush: true });
    } catch (cause) {
      throw new CommandError(`${file} cannot be written.`, { cause });
    }
  };
  if (existsSync(file)) {
    const text = textOf(file);
    await truncate(file, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
  }
  if (!existsSync(file) || textOf(file) === '') await write({ run: randomUUID(), ...wanted });
  const run = readRun(file);
  const { model, instances } = run.header;
  if (model !== wanted.model || instances !== wanted.instances)
    throw new CommandError(
      `${file} is a run of ${model ?? "the project's model"} on ${instances ?? "Docket's tasks"}. Pass its --model and --instances, or name another file.`,
    );
  return { ...run, append: write };
}

/** Returns the key of an attempt within its run. */
export function keyOf({ task, attempt }: { task: string; attempt: number }): string {
  return `${task}/${attempt}`;
}
