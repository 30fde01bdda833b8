import { describe, expect, it, vi } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

vi.setConfig({ testTimeout: 60_000 });

const read = (files: Record<string, string>) =>
  readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
const contentOf = async (path: string, text: string) => (await read({ [path]: text }))[0]?.content ?? '';

describe('an HTML page', () => {
  const html = `<!doctype html><html lang="fr"><head><title>Installer | Acme</title>
    <meta name="description" content="Comment installer"><meta name="groups" content="staff"></head>
    <body><nav>Menu</nav><main><h1>Installer <a class="headerlink" href="#x">¶</a></h1>
    <p>Set <code>retry_limit</code> or some_thing. <a href="javascript:x()">Run</a> <img src="data:a" alt="A cat"></p>
    <section id="second"><h2>Deux</h2><pre><code class="language-js">let a = 1;</code></pre></section>
    <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><script>track()</script></main>
    <footer>Imprint</footer></body></html>`;

  it('is its main content, with what its head states', async () => {
    const [page] = await read({ 'guide/install.html': html });
    expect(page).toMatchObject({
      path: 'guide/install',
      metadata: { title: 'Installer', description: 'Comment installer', language: 'fr' },
      restrictedTo: ['staff'],
    });
    expect(page?.content).not.toMatch(/Menu|Imprint|track|javascript|data:|¶/);
    for (const text of ['# Installer', 'some_thing', 'A cat', '## Deux {#second}', '```js\nlet a = 1;', '| 1 | 2 |'])
      expect(page?.content).toContain(text);
  });

  it('is left out if it is a fragment, a template, or only redirects', async () => {
    const pages = await read({
      'a.html': '<p>part</p>',
      'b.html': '<!doctype html><body>{% block body %}</body>',
      'c.html': '<!doctype html><head><meta http-equiv="refresh" content="0; url=x"></head><body>Moved</body>',
      'd.html': `<!doctype html><body>${'<div>'.repeat(50_000)}deep`,
      'e.html': `<!doctype html><body>${'<p>a<b>'.repeat(1_000)}open`,
    });
    expect(pages).toEqual([]);
  });

  it('is read with deleted text', async () => {
    const [page] = await read({
      'a.html': '<!doctype html><body><h1>A</h1><p>Now <s>six</s> <del><b>5</b></del> four.</p>',
    });
    expect(page?.content).toContain('Now ~~six~~ ~~**5**~~ four.');
  });

  it('gives way to the page that it is generated from', async () => {
    const pages = await read({ 'a.html': '<!doctype html><body><h1>Old</h1></body>', 'a.md': '# New' });
    expect(pages.map(({ metadata }) => metadata.title)).toEqual(['New']);
  });
});

describe('an AsciiDoc page', () => {
  it('keeps headings, admonitions, code and tables, and states its facts in its header', async () => {
    const [page] = await read({
      'a.adoc':
        '= The *Title*\n:description: About it\n:page-groups: staff\n:product: Acme\n\nUse {product}, see xref:b.adoc#top[B].\n\n[#own]\n== First\n\nNOTE: Careful.\n\n[source,java]\n----\nint a;\n----\n\n|===\n|A |B\n\n|1 |2\n|===\n',
    });
    expect(page).toMatchObject({ metadata: { title: 'The Title', description: 'About it' }, restrictedTo: ['staff'] });
    for (const text of ['Use Acme', '## First {#own}', '**Note:**', '```java\nint a;', '| 1 | 2 |'])
      expect(page?.content).toContain(text);
  });

  it('includes files of the tree and no others, however they include each other', async () => {
    const pages = await read({
      'a.adoc': '= A\n\ninclude::parts/one.adoc[]\n\ninclude::/etc/passwd[]\n\ninclude::../../../etc/passwd[]\n',
      'parts/one.adoc': 'From one.\n\ninclude::../a.adoc[]\n',
    });
    expect(pages[0]?.content).toContain('From one.');
    expect(pages[0]?.content).not.toMatch(/passwd|root:/);
  });

  it('is restricted by its header, whatever its front matter says', async () => {
    const [page] = await read({ 'a.adoc': '---\ngroups: []\n---\n= A\n:groups: staff\n\nText.\n' });
    expect(page?.restrictedTo).toEqual(['staff']);
  });

  it.each([
    ['a.adoc', 'include::b.adoc[]', 'b.adoc', '= B\n:page-groups: staff\n\nA secret.\n'],
    ['a.adoc', 'include::b.adoc[]', 'b.adoc', '---\ngroups: [staff]\n---\n\nA secret.\n'],
    ['a.rst', '.. include:: b.rst', 'b.rst', ':groups: staff\n\nA secret.\n'],
  ])('of %s includes no text of a page for groups: %s of %s', async (path, directive, other, secret) => {
    const pages = await read({ [path]: `Open.\n\n${directive}\n`, [other]: secret });
    expect(pages.map(({ restrictedTo }) => restrictedTo)).toEqual([null, ['staff']]);
    expect(pages[0]?.content).not.toContain('secret');
  });

  it('has no table of contents, wherever the header or the page asks for one', async () => {
    for (const [header, macro] of [
      [':toc: left', ''],
      [':toc: macro', 'toc::[]'],
    ])
      expect(await contentOf('a.adoc', `= A\n${header}\n\nIntro.\n\n${macro}\n\n== One\n\nText.\n`)).toBe(
        '# A\n\n<a id="preamble"></a>\n\nIntro.\n\n## One {#_one}\n\nText.',
      );
  });
});

describe('a reStructuredText page', () => {
  it('keeps words in angle brackets, and shows documents of other projects as words', async () => {
    const text = await contentOf(
      'a.rst',
      'Top\n===\n\nCall ``<a>`` at <host>/x with :kbd:`<Esc>`, see :doc:`python:tutorial/index` and :doc:`Bind <pybind11:index>`.\n',
    );
    expect(text).toContain('Call `<a>` at \\<host>/x with `<Esc>`, see index and Bind.');
  });

  it('keeps headings, directives, roles and literal blocks', async () => {
    const text = await contentOf(
      'a.rst',
      ':groups: staff\n\n=====\nTitle\n=====\n\nCall :func:`~acme.run` and ``x_y``, see `Site <https://a.example>`_.\n\n.. _own:\n\nPart\n----\n\n.. note:: Careful\n   with it.\n\n.. code-block:: python\n   :linenos:\n\n   run()\n\nExample::\n\n   raw *text*\n\n.. toctree::\n   b\n\n- one\n  more\n- two\n\n.. a comment\n',
    );
    for (const part of [
      '# Title',
      'Call `run` and `x_y`, see [Site](https://a.example).',
      '## Part {#own}',
      '**Note:**\nCareful\nwith it.',
      '```python\nrun()\n```',
      'Example:',
      '```\nraw *text*\n```',
      '- one\n  more',
    ])
      expect(text.replaceAll(/\n{3,}/g, '\n\n')).toContain(part);
    expect(text).not.toMatch(/toctree|comment|linenos/);
  });

  it.each([
    ['a literal block after a mark of its own', 'So:\n\n::\n\n   run(*it*)\n', 'So:\n\n```\nrun(*it*)\n```'],
    [
      'a proposal by number',
      'See :pep:`517#source-trees`.',
      'See [PEP 517](https://peps.python.org/pep-0517/#source-trees).',
    ],
    ['a named standard', 'See :rfc:`it <2119>`.', 'See [it](https://datatracker.ietf.org/doc/html/rfc2119.html).'],
    ['an address with parentheses', '`A <https://a.org/b_(c)>`_', '[A](https://a.org/b_%28c%29)'],
    ['an address below its target', '`A b`_\n\n.. _a b:\n   https://a.org/\n', '[A b](https://a.org/)'],
  ])('reads %s', async (_, source, text) => {
    const [page] = await read({ 'a.rst': `T\n=\n\n${source}` });
    expect(page?.content).toContain(text);
  });

  it('links references without a name to the targets without one, in order', async () => {
    const source =
      'A `first`__, second__, `third <https://a.b/3>`__, `fourth`__ and `foo.__init__`.\n\n__ https://a.b/1\n__ https://a.b/2\n\n.. __: named_\n.. _Named: https://a.b/4\n';
    const [page] = await read({ 'a.rst': `T\n==\n\n${source}` });
    expect(page?.content.split('\n\n').at(-1)).toBe(
      'A [first](https://a.b/1), [second](https://a.b/2), [third](https://a.b/3), [fourth](https://a.b/4) and *foo.__init__*.',
    );
  });

  it('links words over two lines, and substitutions, to their targets', async () => {
    const source =
      'The `TOML\nformat`_ and |fetch|_.\n\n.. _TOML format: https://a.b/t\n.. |fetch| replace:: ``f()``\n.. _fetch: https://a.b/f\n';
    const [page] = await read({ 'a.rst': `T\n==\n\n${source}` });
    expect(page?.content).toContain('The [TOML\nformat](https://a.b/t) and [`f()`](https://a.b/f).');
  });

  it('reads a literal that ends with a grave accent', async () => {
    const [page] = await read({ 'a.rst': 'T\n==\n\nWrite ``:ref:`x``` or ``y``.\n' });
    expect(page?.content).toContain('Write `` :ref:`x` `` or `y`.');
  });

  const python =
    '@one\nclass A:\n    @two\n    def b(\n        self,\n    ):\n        return 1\n\n    def c(self):\n        # .. include:: secret.rst\n        pass\n\nx = 1\n';
  it.each([
    ['', '```toml\na = 1\n# start\nb = 2\n# end\nc = 3\n```'],
    [':language: ini\n   :lines: 1,3-4', '```ini\na = 1\nb = 2\n# end\n```'],
    [':lines: 4-', '```toml\n# end\nc = 3\n```'],
    [':start-after: start\n   :end-before: end', '```toml\nb = 2\n```'],
    [':start-at: b =\n   :end-at: end', '```toml\nb = 2\n# end\n```'],
    [':start-after: nowhere', ''],
  ])('shows the lines of a file that literalinclude selects by "%s"', async (options, shown) => {
    const files = {
      'docs/a.rst': `T\n==\n\n.. literalinclude:: ../x/a.toml\n   ${options}\n\nEnd.\n`,
      'x/a.toml': 'a = 1\n# start\nb = 2\n# end\nc = 3\n',
    };
    const [page] = await read(files);
    expect(page?.content.replace('# T', '').replace('End.', '').trim()).toBe(shown);
  });

  it.each([
    ['A.b', '@two\ndef b(\n    self,\n):\n    return 1'],
    ['A.c', 'def c(self):\n    # .. include:: secret.rst\n    pass'],
    ['A', python.slice(0, -'\nx = 1\n'.length).trim()],
    ['D', ''],
  ])('shows the Python object %s, whose directives are code', async (name, shown) => {
    const page = `T\n==\n\n.. literalinclude:: conf.py\n   :pyobject: ${name}\n   :dedent:\n\n`;
    const [first] = await read({ 'a.rst': page, 'conf.py': python, 'secret.rst': 'S\n==\n\nWalrus\n' });
    expect(first?.content.replace('# T', '').trim()).toBe(shown === '' ? '' : `\`\`\`py\n${shown}\n\`\`\``);
  });

  it('includes part of a file, or a file as code, and nothing from outside of the folder or for groups', async () => {
    const source =
      '.. include:: b.inc.rst\n   :start-after: here\n   :end-before: there\n\n.. include:: b.inc.rst\n   :code: rst\n\n.. literalinclude:: ../../etc/passwd.yml\n\n.. literalinclude:: /../s.rst\n\n.. literalinclude:: s.rst\n';
    const files = {
      'a.rst': `T\n==\n\n${source}`,
      'b.inc.rst': 'no here *yes* there no\n',
      's.rst': ':groups: x\n\nWalrus\n',
    };
    const page = (await read(files)).find(({ path }) => path === 'a');
    expect(page?.content).toBe('# T\n\n*yes*\n\n```rst\nno here *yes* there no\n```');
  });

  it('takes its first field list for front matter', async () => {
    const [page] = await read({ 'a.rst': ':groups: staff\n:language: de\n\nA\n=\n\nText.\n' });
    expect(page).toMatchObject({ restrictedTo: ['staff'], metadata: { title: 'A', language: 'de' } });
  });

  it.each(['*', '`', '|a', '.. ', '.. a::\n', '- ', '=\n', 'a\n ', ' ', ':a:`', '`a <', '>>> ', 'a_ ', '::'])(
    'of nothing but %j takes good time',
    async (bit) => {
      expect(await read({ 'a.rst': bit.repeat(Math.ceil(100_000 / bit.length)) })).toHaveLength(1);
    },
  );
});

describe('a description of an API', () => {
  it.each([
    ['openapi', 'openapi: 3.0.0\npaths:\n  /a:\n    get:\n'],
    ['asyncapi', 'asyncapi: 2.6.0\nchannels:\n  a:\n    publish:\n'],
  ])('of %s has no character references, and its HTML is Markdown', async (_kind, head) => {
    const said = JSON.stringify(
      'It&#39;s &lt;b&gt; or <name>.<br/>Use <code>retry_limit</code>.<!-- no -->\n\n<p>First</p><ul><li>one &amp; two</li><li>three</li></ul>',
    );
    const fields =
      '{ type: object, properties: { size: { type: string, description: "<p>Na&iuml;ve.</p><p>Then `&lt;`.</p>" } } }';
    const payload = head.startsWith('openapi')
      ? `      responses: { '200': { description: Done, content: { application/json: { schema: ${fields} } } } }\n`
      : `      message: { name: M, payload: ${fields} }\n`;
    const [page] = await read({ 'a.yaml': `${head}      summary: A &amp; B\n      description: ${said}\n${payload}` });
    expect(page?.metadata.title).toBe('A & B');
    expect(page?.metadata.description).toMatch(/^It's \\<b> or .*Use `?retry_limit`?\.$/);
    for (const text of ["It's \\<b>", 'retry_limit', 'First\n\n- one & two\n- three', 'Naïve.  Then `&lt;`.'])
      expect(page?.content).toContain(text);
    expect(page?.content).not.toMatch(/<\/?(?:br|code|p|li)|<!--|&amp;|&#39;/);
  });

  it('becomes a page per operation of OpenAPI 2', async () => {
    const [page] = await read({
      'api.yaml': `
swagger: '2.0'
basePath: /v1
consumes: [application/json]
paths:
  /users:
    post:
      summary: Add a user
      parameters:
        - { name: dry, in: query, type: boolean, description: Try only. }
        - { name: user, in: body, schema: { $ref: '#/definitions/User' } }
      responses: { '201': { description: Added, schema: { $ref: '#/definitions/User' } } }
definitions:
  User: { type: object, required: [name], properties: { name: { type: string, description: Full name } } }
`,
    });
    expect(page).toMatchObject({ path: 'api/add-a-user', metadata: { title: 'Add a user' } });
    for (const text of ['`POST /v1/users`', '- `dry` (query, boolean): Try only.', '## Request body', '### 201'])
      expect(page?.content).toContain(text);
    expect(page?.content.match(/`name` \(string, required\): Full name/g)).toHaveLength(2);
  });

  it.each([
    [
      2,
      `asyncapi: 2.6.0
channels:
  user/{id}:
    description: Changes of users.
    subscribe:
      operationId: onUser
      message: { oneOf: [{ name: UserChanged, payload: { type: object, properties: { email: { type: string } } } }] }`,
      'SUBSCRIBE',
    ],
    [
      3,
      `asyncapi: 3.0.0
channels:
  user: { address: 'user/{id}', messages: { changed: { title: UserChanged, payload: { type: object, properties: { email: { type: string } } } } } }
operations:
  onUser: { action: receive, channel: { $ref: '#/channels/user' }, messages: [{ $ref: '#/channels/user/messages/changed' }] }`,
      'RECEIVE',
    ],
  ])('becomes a page per operation of AsyncAPI %i', async (_version, text, action) => {
    const pages = await read({ 'events.yaml': text });
    expect(pages.map(({ path }) => path)).toEqual(['events/onuser']);
    for (const part of [`Channel \`user/{id}\`: \`${action}\``, '## UserChanged', '- `email` (string)'])
      expect(pages[0]?.content).toContain(part);
  });
});
