import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { contentSecurityPolicy } from '../../../../api/pages/html.ts';
import { renderPullRequestPage } from '../../../../api/pages/pull-request.ts';

const evil = `<script>alert(1)</script>"'&<img src=x onerror=alert(2)>`;

const page = renderPullRequestPage({
  pullRequest: {
    id: 'pr_1',
    repository: `/srv/${evil}`,
    number: 7,
    head: `docket/${evil}`,
    base: evil,
    title: evil,
    body: `${evil}\n<!-- docket-job: job_1 -->`,
    draft: false,
    state: 'open',
    createdAt: new Date(0),
    updatedAt: new Date(0),
  },
  commits: [{ id: 'a'.repeat(40), subject: evil, parent: 'b'.repeat(40) }],
  patch: `diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+${evil}\n`,
});

it('escapes every word of a pull request', () => {
  expect(page).not.toMatch(/<script|<img|onerror=[^&]*>(?!<)/);
  expect(page.split('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;').length - 1).toBeGreaterThanOrEqual(7);
});

it('shows title, commits and changes, and leaves out hidden comments', () => {
  expect(page).toContain('#7');
  expect(page).toContain('aaaaaaaaaa</code>');
  expect(page).toContain('<span class="line added">+&lt;script');
  expect(page).toContain('<span class="line removed">-old</span>');
  expect(page).not.toContain('docket-job');
});

it('allows its own style and nothing else', () => {
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  expect(contentSecurityPolicy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  expect(contentSecurityPolicy).toContain("default-src 'none'");
});
