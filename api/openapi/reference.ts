import { z } from 'zod';
import { markup, renderPage, type Html } from './html.ts';

const parameterSchema = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  description: z.string().default(''),
  schema: z.unknown(),
});
const contentSchema = z.record(z.string(), z.object({ schema: z.unknown() }));
const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string().default(''),
  description: z.string().default(''),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: contentSchema }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: contentSchema.optional() })),
});
const documentSchema = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});

type Operation = z.infer<typeof operationSchema>;

const methods = ['get', 'post', 'patch', 'put', 'delete'];
const keyNames: Record<string, string> = {
  adminKey: 'admin key',
  assistantKey: 'assistant key',
  session: 'session of the dashboard',
};

/** Renders the API reference for people from the OpenAPI description. */
export function renderReferencePage(openApi: unknown): string {
  const { info, paths } = documentSchema.parse(JSON.parse(JSON.stringify(openApi)));
  const operations = Object.entries(paths).flatMap(([path, item]) => {
    const shared = z.array(parameterSchema).default([]).parse(item['parameters']);
    return methods.flatMap((method) => {
      if (item[method] === undefined) return [];
      const operation = operationSchema.parse(item[method]);
      return [{ method, path, ...operation, parameters: [...shared, ...operation.parameters] }];
    });
  });
  return renderPage({
    title: `${info.title}: API reference`,
    body: markup`<h1>${info.title} ${info.version}</h1>
      <p>${info.description} The same for machines: <a href="/openapi.json">openapi.json</a>. Every answer from 400 on is
      <code>{"error": "a sentence"}</code>.</p>
      <ul>${operations.map(
        ({ operationId, method, path, summary }) =>
          markup`<li><a href="#${operationId}"><code>${method.toUpperCase()} ${path}</code></a> ${summary}</li>`,
      )}</ul>
      ${operations.map(renderOperation)}`,
  });
}

function renderOperation(operation: Operation & { method: string; path: string }): Html {
  const { operationId, method, path, summary, description, security, parameters, requestBody, responses } = operation;
  const keys = security.flatMap((way) => Object.keys(way)).map((name) => keyNames[name] ?? name);
  return markup`<section id="${operationId}">
    <h2><code>${method.toUpperCase()} ${path}</code></h2>
    <p>${summary}. ${description}</p>
    <p class="quiet">${keys.length === 0 ? 'Needs no key.' : `Needs: ${keys.join(', or ')}.`}</p>
    ${parameters.length === 0 ? null : markup`<ul>${parameters.map(renderParameter)}</ul>`}
    ${requestBody === undefined ? null : renderContent('Body', requestBody.content)}
    ${Object.entries(responses).map(([status, { description: meaning, content }]) =>
      Number(status) >= 400
        ? markup`<p class="quiet">${status}: ${meaning}</p>`
        : markup`<p>${status}: ${meaning}</p>${content === undefined ? null : renderContent('Answer', content)}`,
    )}
  </section>`;
}

function renderParameter({ name, in: place, required, description, schema }: Operation['parameters'][number]): Html {
  return markup`<li><code>${name}</code> (${place}${required ? ', required' : ''}) ${description} <code>${JSON.stringify(schema)}</code></li>`;
}

function renderContent(title: string, content: z.infer<typeof contentSchema>): Html {
  return {
    html: Object.entries(content)
      .map(
        ([type, { schema }]) =>
          markup`<details><summary>${title}: ${type}</summary><pre><code class="words">${JSON.stringify(schema, null, 2)}</code></pre></details>`
            .html,
      )
      .join(''),
  };
}
