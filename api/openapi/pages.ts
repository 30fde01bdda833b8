import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { createRouter } from '../create-router.ts';
import type { AppRouter } from '../http/app-context.ts';
import { setPageHeaders } from '../http/files/page-headers.ts';
import { sendStaticFile, staticFileOf, type StaticFile } from '../http/files/static-file.ts';

const swagger = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');

/** The page at `/` that is served when no dashboard has been built. */
const homePage = pageOf(`<h1>Docket</h1>
<p>Agent jobs that end in pull requests, and a documentation assistant, behind one HTTP API.</p>
<p>The API is described in its <a href="/reference">reference</a> and in <a href="/openapi.json">openapi.json</a>.</p>`);

const referencePage = pageOf(`<link rel="stylesheet" href="/reference/swagger-ui.css">
<div id="reference"></div>
<script src="/reference/swagger-ui-bundle.js"></script>
<script src="/reference/start.js"></script>`);

/** Sends requests to this server, whatever its public URL is, and the description to no validator (`validatorUrl`). */
const start = `fetch('/openapi.json').then((response) => response.json()).then((spec) => SwaggerUIBundle({
  spec: { ...spec, servers: [{ url: location.origin }] },
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
}));
`;

const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const homePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function pageOf(body: string): string {
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">';
  return `<!doctype html>
<html lang="en">
<head>${head}<title>Docket</title><link rel="icon" href="data:,"></head>
<body>
${body}
</body>
</html>
`;
}

const referenceFiles = new Set(['start.js', 'swagger-ui.css', 'swagger-ui-bundle.js']);

/** Returns a function that finds a file of the reference. It reads and compresses each file once, on first request. */
function createReferenceFiles(): (name: string) => Promise<StaticFile | null> {
  const files = new Map<string, Promise<StaticFile | null>>();
  return (name) => {
    if (!referenceFiles.has(name)) return Promise.resolve(null);
    const file = files.get(name) ?? readReferenceFile(name);
    files.set(name, file);
    file.catch(() => files.delete(name));
    return file;
  };
}

async function readReferenceFile(name: string): Promise<StaticFile | null> {
  const plain = name === 'start.js' ? Buffer.from(start) : await readFile(join(dirname(swagger), name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  const [brotli, zipped] = await Promise.all([promisify(brotliCompress)(plain, { params }), promisify(gzip)(plain)]);
  return staticFileOf(name, { plain, brotli, gzip: zipped });
}

/** Creates the router of the pages outside the dashboard. The reference is Swagger UI, served by this process alone. */
export function createPagesRouter(): AppRouter {
  const router = createRouter();
  const findFile = createReferenceFiles();

  router.get('/', (ctx) => {
    setPageHeaders(ctx, homePolicy);
    ctx.body = homePage;
  });

  router.get('/reference', (ctx) => {
    setPageHeaders(ctx, referencePolicy);
    ctx.body = referencePage;
  });

  router.get('/reference/:file', async (ctx) => {
    const file = await findFile(ctx.params.file ?? '');
    if (file !== null) sendStaticFile(ctx, file);
  });

  return router;
}
