import { markup, renderPage } from './html.ts';

/** Renders the page at `/` that is served when no dashboard has been built. */
export function renderHomePage(): string {
  return renderPage({
    title: 'Docket',
    body: markup`<h1>Docket</h1>
      <p>Agent jobs that end in pull requests, and a documentation assistant, behind one HTTP API.</p>
      <p>The API is described in its <a href="/reference">reference</a> and in <a href="/openapi.json">openapi.json</a>.</p>`,
  });
}
