import { expect, it } from 'vitest';
import { createOpenApi } from '../../../../api/openapi/openapi.ts';
import { defineRoute } from '../../../../api/http/define-route.ts';
import { routes } from '../../../../api/openapi/routes.ts';
import { renderReferencePage } from '../../../../api/openapi/reference.ts';

const evil = '<script>alert(1)</script>';
const openApi: any = createOpenApi({
  baseUrl: 'https://docket.example.com',
  routes: {
    ...routes,
    evil: defineRoute({
      method: 'get',
      path: '/evil',
      summary: evil,
      key: 'none',
      responses: { 200: { description: evil } },
    }),
  },
});
const page = renderReferencePage(openApi);

it('shows every operation with its key, parameters, body and answers, and links to each', () => {
  const operations = Object.values<any>(openApi.paths).flatMap((item) =>
    Object.values<any>(item).filter((part) => part.operationId !== undefined),
  );
  expect(operations.length).toBeGreaterThan(15);
  for (const { operationId } of operations) {
    expect(page).toContain(`<section id="${operationId}">`);
    expect(page).toContain(`<a href="#${operationId}">`);
  }
  expect(page).toContain('POST /v2/agent/{projectId}/job');
  expect(page).toContain('Needs: admin key, or session of the dashboard.');
  expect(page).toContain('&quot;prompt&quot;');
});

it('escapes what it shows and has no script', () => {
  expect(page).toContain('&lt;script&gt;');
  expect(page).not.toContain('<script');
});
