import { expect, it } from 'vitest';
import { describeAdministration } from '../../../../api/administration/describe-administration.ts';
import { describeAssistant } from '../../../../api/assistant/describe-assistant.ts';
import { describeJobs } from '../../../../api/jobs/describe-jobs.ts';
import { createOpenApi } from '../../../../api/openapi/openapi.ts';
import { renderReferencePage } from '../../../../api/openapi/reference.ts';

const evil = '<script>alert(1)</script>';
const openApi: any = createOpenApi({
  baseUrl: 'https://docket.example.com',
  paths: [
    describeJobs,
    describeAssistant,
    describeAdministration,
    () => ({ '/evil': { get: { operationId: 'evil', summary: evil, responses: { 200: { description: evil } } } } }),
  ],
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
