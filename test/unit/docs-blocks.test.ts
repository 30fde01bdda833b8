import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { citationsSchema } from '../../api/assistant/citations/citation-schema.ts';
import { createSetSchema } from '../../api/evaluations/schemas.ts';
import { createJobSchema } from '../../api/jobs/job-schemas.ts';
import { changeSiteSchema } from '../../api/sites/site-schemas.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { parseEnvironment } from '../../lib/environments/environment.ts';
import { parsePrices } from '../../models/prices.ts';
import { readTasks } from '../suites/eval/tasks.ts';
import { blocksOf, documents } from '../support/documentation.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Meaning = (text: string) => unknown;
const environment: Meaning = (text) => expect(parseEnvironment(text)).toMatchObject({ ok: true });
const json =
  (schema: z.ZodType): Meaning =>
  (text) =>
    schema.parse(JSON.parse(text));
/** A page may leave out fields of a response, but not name others. */
const someOf = <Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) => z.strictObject(shape).partial();

/** The kind of each JSON or YAML block, in the order of its page. */
const meanings: Record<string, Meaning[]> = {
  'docs/environments.md': Array.from({ length: 8 }, () => environment),
  'docs/evaluation.md': [
    (text) => {
      const folder = temporaryDirectory();
      writeFileSync(join(folder, 'tasks.yaml'), text);
      return readTasks(folder);
    },
  ],
  'docs/mcp.md': [JSON.parse], // a file of MCP clients
  'docs/triggers.md': [parseYaml], // a workflow, which issue-workflow.test.ts runs
  'docs/models.md': [json(createJobSchema), parsePrices, parsePrices],
  'docs/operations/metrics.md': [parseYaml], // a file of Prometheus
  'docs/quickstart.md': [json(someOf(agentJobSchema.extend({ details: someOf(agentJobSchema.shape.details) })))],
  'docs/assistant.md': [json(someOf(citationsSchema.element.shape.passages.element))],
  'docs/assistant/improve.md': [
    json(z.unknown().transform((questions) => createSetSchema.parse({ name: 'Basics', questions }))),
  ],
  'docs/assistant/sites.md': [json(z.unknown().transform((sources) => changeSiteSchema.parse({ sources })))],
};

const blocks = documents.flatMap(blocksOf).filter(({ language }) => language === 'json' || language === 'yaml');

it('knows what each JSON and YAML block of the documentation is', () => {
  const found = Object.groupBy(blocks, ({ file }) => file);
  expect(
    Object.entries(found)
      .map(([file, list]) => [file, list?.length])
      .toSorted(),
  ).toEqual(
    Object.entries(meanings)
      .map(([file, list]) => [file, list.length])
      .toSorted(),
  );
});

it.each(blocks)('$file:$line is valid', ({ file, line, text }) => {
  const at = blocks.filter((block) => block.file === file).findIndex((block) => block.line === line);
  meanings[file]?.[at]?.(text);
});
