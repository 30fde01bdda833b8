import { createHash } from 'node:crypto';

/** Text that is already HTML. All other values are escaped when inserted. */
export interface Html {
  html: string;
}

type Piece = string | number | Html | null | Html[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Template tag that escapes every value not produced by this tag. */
export function markup(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return { html: strings.map((text, index) => text + textOf(pieces[index] ?? null)).join('') };
}

function textOf(piece: Piece): string {
  if (piece === null) return '';
  if (Array.isArray(piece)) return piece.map(({ html }) => html).join('');
  if (typeof piece === 'object') return piece.html;
  return String(piece).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const style = `
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
h1{font-size:1.6rem;margin-bottom:.3rem}h2{font-size:1.1rem;margin-top:2rem}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{overflow-x:auto;border:1px solid #d1d9e0;border-radius:6px;padding:.5rem 0;margin:0}
.words{white-space:pre-wrap;overflow-wrap:anywhere}.quiet{color:#59636e}
.state{display:inline-block;border-radius:1rem;padding:0 .7rem;color:#fff;background:#1f883d}
.closed{background:#cf222e}.merged{background:#8250df}.draft{background:#59636e}
.line{display:block;padding:0 .7rem;min-height:1.45em}.added{background:#dafbe1}.removed{background:#ffebe9}.hunk{background:#ddf4ff}.file{font-weight:600;background:#f6f8fa}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{border-color:#3d444d}a{color:#58a6ff}
.added{background:#12261e}.removed{background:#301b1f}.hunk{background:#121d2f}.file{background:#151b23}.quiet{color:#9198a1}}
`;

/** Content Security Policy that allows only the page's own style: no scripts, images, forms or frames. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders a complete page. */
export function renderPage({ title, body }: { title: string; body: Html }): string {
  // inserted unescaped, because the policy above contains the hash of exactly these bytes
  const styleElement: Html = { html: `<style>${style}</style>` };
  const head = markup`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`;
  return markup`<!doctype html><html lang="en"><head>${head}<title>${title}</title>${styleElement}</head><body>${body}</body></html>`
    .html;
}
