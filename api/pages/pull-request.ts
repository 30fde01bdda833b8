import type { PullRequestRow } from '../../db/pull-requests.ts';
import { markup, renderPage } from './html.ts';
import type { Html } from './html.ts';

export interface Commit {
  id: string;
  subject: string;
  parent: string | null;
}

export interface PullRequestPage {
  pullRequest: PullRequestRow;
  commits: Commit[];
  patch: string | null;
}

const mostLines = 5_000;
const longestLine = 2_000;

/** The page of a pull request of the local forge. Every word in it comes from outside and is escaped. */
export function renderPullRequestPage({ pullRequest, commits, patch }: PullRequestPage): string {
  const { title, number, head, base, body, repository, createdAt } = pullRequest;
  const state = pullRequest.draft && pullRequest.state === 'open' ? 'draft' : pullRequest.state;
  return renderPage({
    title: `${title} · #${number}`,
    body: markup`<h1>${title} <span class="quiet">#${number}</span></h1>
      <p><span class="state ${state}">${state}</span> <code>${head}</code> into <code>${base}</code></p>
      <p class="quiet">
        ${repository} · opened
        <time datetime="${createdAt.toISOString()}">${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>
      </p>
      <h2>Description</h2>
      <div class="words">${body.replace(/<!--[\s\S]*?-->/g, '').trim() || 'No description.'}</div>
      <h2>Commits</h2>
      ${
        commits.length === 0
          ? markup`<p class="quiet">None yet.</p>`
          : markup`<ul>
              ${commits.map(renderCommit)}
            </ul>`
      }
      <h2>Changes</h2>
      ${patch === null || patch === '' ? markup`<p class="quiet">None.</p>` : renderPatch(patch)}`,
  });
}

function renderCommit({ id, subject, parent }: Commit): Html {
  const on = parent === null ? null : markup` <span class="quiet">on <code>${parent.slice(0, 10)}</code></span>`;
  return markup`<li><code>${id.slice(0, 10)}</code> ${subject}${on}</li>`;
}

function renderPatch(patch: string): Html {
  const lines = patch.replace(/\n$/, '').split('\n');
  const rest = lines.length - mostLines;
  const note =
    rest > 0 ? markup`<p class="quiet">${rest} further lines are not shown; the API's diff has them all.</p>` : null;
  return markup`<pre>${lines.slice(0, mostLines).map(renderLine)}</pre>
    ${note}`;
}

function renderLine(line: string): Html {
  const text = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
  return markup`<span class="line ${classOf(line)}">${text}</span>`;
}

function classOf(line: string): string {
  if (/^(?:diff |index |--- |\+\+\+ |new file|deleted file|rename |similarity |old mode|new mode)/.test(line))
    return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
}
