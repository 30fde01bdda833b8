import { expect, it } from 'vitest';
import { readCopilotSetupSteps } from '../../../../lib/environments/copilot-setup-steps.ts';
import { readDevcontainer } from '../../../../lib/environments/devcontainer.ts';
import { parseEnvironment } from '../../../../lib/environments/environment.ts';

/** A workflow whose job has this text. */
function copilotWith(job: string): string {
  return `jobs:\n  copilot-setup-steps:\n    ${job}\n`;
}

it('parses a description', () => {
  const text = 'setup: npm ci\nvariables: {LEVEL: 3, CI: true}\nhosts: {setup: [Registry.Test]}\nlimits: {diskGb: 0.5}';
  expect(parseEnvironment(text)).toEqual({
    ok: true,
    environment: {
      setup: 'npm ci',
      variables: { LEVEL: '3', CI: 'true' },
      hosts: { setup: ['registry.test'] },
      limits: { diskGb: 0.5 },
    },
  });
  expect(parseEnvironment('# nothing yet')).toEqual({ ok: true, environment: {} });
});

it('takes names of packages, with and without versions', () => {
  const packages = [
    'g++',
    'libpq-dev',
    '0ad',
    'libstdc++6',
    'python3.11',
    'curl=7.88.1-10+deb12u14',
    'tzdata=1:2024a~b-1',
  ];
  expect(parseEnvironment(JSON.stringify({ packages }))).toEqual({ ok: true, environment: { packages } });
});

it('takes variables as they are written', () => {
  const written = ['3.10', '12345678901234567890', '1e3', '0x10', 'True', '.5', '-0'];
  const lines = written.map((value, at) => `  V${at}: ${value}`).join('\n');
  const parsed = parseEnvironment(
    `variables:\n${lines}\n  EMPTY: ""\n  QUOTED: "a\\tb"\nlimits: {diskGb: 1e1}\npath: ["~", ~/bin]`,
  );
  expect(parsed).toEqual({
    ok: true,
    environment: {
      variables: { ...Object.fromEntries(written.map((value, at) => [`V${at}`, value])), EMPTY: '', QUOTED: 'a\tb' },
      limits: { diskGb: 10 },
      path: ['~', '~/bin'],
    },
  });
});

it.each([
  ['setpu: x\nchekc: y', 'has the unknown keys "setpu", "chekc"'],
  ['- setup', 'must be a map of settings'],
  ['setup: [', 'is not YAML:'],
  ['setup: &a x\ncheck: *a', 'has an alias (*name), which is not supported'],
  ['setup: ""', 'is wrong at setup: must not be empty'],
  ['start: " "', 'is wrong at start: must not be empty'],
  [`start: ${'x'.repeat(8_193)}`, 'is wrong at start: must have at most 8192 characters'],
  ['limits: {seconds: 481}', 'is wrong at limits.seconds: must be at most 480'],
  ['limits: {cpus: 0.5}', 'is wrong at limits.cpus: must be a whole number'],
  ['hosts: {setup: ["*.npmjs.org"]}', 'is wrong at hosts.setup: must be host names'],
  ['variables: {LD_PRELOAD: x}', 'cannot set "LD_PRELOAD"'],
  ['variables: {https_proxy: x}', 'cannot set "https_proxy"'],
  ['variables: {LEVEL: }', 'is wrong at variables.LEVEL: must be a text, or "" for an empty one'],
  ['variables: {LEVEL: [1]}', 'is wrong at variables.LEVEL: must be a text'],
  ['variables: [1]', 'is wrong at variables: must be names with texts'],
  ['image: --privileged', 'is wrong at image: must be the name of an image'],
  ['packages: libpq-dev', 'is wrong at packages: must be a list of packages'],
  ...['--option', 'curl-', 'a b', 'Curl', 'x', 'curl/sid', 'lib*', 'curl=', '../x.deb', 'a\nb'].map((name) => [
    `packages: [${JSON.stringify(name)}]`,
    'is wrong at packages.0: must be the name of a Debian package, or name=version',
  ]),
  [`packages: [${'curl,'.repeat(101)}]`, 'is wrong at packages: may have at most 100 packages'],
  ['inputs: [go.mod, "[z-a]"]', 'is wrong at inputs.1: is not a valid glob: The glob is malformed'],
  ['inputs: [""]', 'is wrong at inputs.0: is not a valid glob: The glob is empty'],
  ['path: [relative]', 'is wrong at path.0: must be folders'],
  ['path: [~/bin, ~other]', 'is wrong at path.1: must be folders that begin with / or ~/'],
  [`setup: ${'x'.repeat(70_000)}`, 'is longer than 64 KB'],
])('refuses %s', (text, problem) => {
  const parsed = parseEnvironment(text);
  expect(parsed.ok).toBe(false);
  expect(!parsed.ok && parsed.problem).toContain(problem);
});

it('ignores a devcontainer.json that is nested too deeply', () => {
  expect(readDevcontainer('['.repeat(30_000))).toEqual({
    environment: {},
    ignored: ['everything, because it is not valid'],
  });
});

it.each([
  ['a byte order mark', '\uFEFF{"postCreateCommand": "make"}', []],
  [
    'a number as a variable',
    '{"containerEnv": {"PORT": 3000, "A": "1"}, "postCreateCommand": "make"}',
    ['containerEnv.PORT'],
  ],
  ['empty variables', '{"containerEnv": null, "remoteEnv": {"A": null}, "postCreateCommand": "make"}', []],
  ['no map of variables', '{"remoteEnv": "A=1", "postCreateCommand": "make"}', ['remoteEnv']],
  ['a wrong command', '{"onCreateCommand": ["npm", 3], "postCreateCommand": "make"}', ['onCreateCommand']],
  [
    'empty commands',
    '{"onCreateCommand": "", "updateContentCommand": {"a": [], "b": " # later"}, "postCreateCommand": "make"}',
    [],
  ],
])('follows a devcontainer.json with %s', (_, text, left) => {
  const { environment, ignored } = readDevcontainer(text);
  expect(environment.setup).toBe('( make\n)');
  expect(ignored).toEqual(left);
});

it('ignores no more of copilot-setup-steps.yml than what is wrong', () => {
  const { environment, ignored } = readCopilotSetupSteps(
    `\uFEFFenv:\ndefaults: {run: }\n${copilotWith(`env: {CI: , LEVEL: [1]}
    services:
    defaults:
    steps:
      - {run: npm ci, env: {EMPTY: }, with: , name: , shell: }
      - make
      -
      - {run: 5}
      - run: "# nothing yet"`)}`,
  );
  expect(environment).toEqual({ setup: "(\nexport EMPTY=''\nnpm ci\n)", variables: { CI: '' } });
  expect(ignored).toEqual([
    'jobs.copilot-setup-steps.env.LEVEL',
    'jobs.copilot-setup-steps.steps.1',
    'jobs.copilot-setup-steps.steps.3.run',
  ]);
  expect(readCopilotSetupSteps(copilotWith('steps:')).ignored).toEqual([]);
  expect(readCopilotSetupSteps('jobs: {other: {steps: []}}').ignored).toEqual(['everything, because it is not valid']);
});

it("has the variables of GitHub's machines that make sense, and names the others", () => {
  const { environment, ignored } = readCopilotSetupSteps(
    copilotWith(`env: {RUNNER_MINE: 1}
    steps:
      - run: cat $GITHUB_WORKSPACE/a >> "$GITHUB_STEP_SUMMARY"
      - {name: Log in, run: 'login $GITHUB_TOKEN $GITHUB_TOKEN \${RUNNER_ARCH} $RUNNER_MINE $GITHUB_STEP', env: {GITHUB_STEP: 1}}`),
  );
  expect(environment.setup).toMatch(
    /^export GITHUB_WORKSPACE=\/tree\nexport GITHUB_STEP_SUMMARY=\/dev\/null\n\(\ncat /,
  );
  expect(ignored).toEqual(['GITHUB_TOKEN in the step "Log in"', 'RUNNER_ARCH in the step "Log in"']);
});

it('names the settings of a checkout that it does not follow', () => {
  const { ignored } = readCopilotSetupSteps(
    copilotWith(`steps:
      - {uses: actions/checkout@v4, with: {submodules: recursive, lfs: true, fetch-depth: 0}}
      - {name: Tools, uses: actions/checkout@v4, with: {repository: acme/tools, path: tools, submodules: false, lfs: "false"}}`),
  );
  expect(ignored).toEqual([
    'submodules of the step "actions/checkout@v4"',
    'lfs of the step "actions/checkout@v4"',
    'repository of the step "Tools"',
    'path of the step "Tools"',
  ]);
});

it.each([
  ['a name', { image: 'node:22', features: {}, mounts: [] }, { image: 'node:22' }, []],
  ['a digest', { image: `ghcr.io/acme/dev@sha256:${'a'.repeat(64)}` }, { image: /^ghcr/ }, []],
  ['a name with a variable', { image: 'node:${localEnv:VERSION}' }, {}, ['image']],
  ["an archive on the operator's disk", { image: 'oci-archive:tools.tar' }, {}, ['image']],
  ['an option', { image: '--privileged' }, {}, ['image']],
  ['no text', { image: ['node'] }, {}, ['image']],
  ['a name with features', { image: 'node', features: { 'ghcr.io/x/y:1': {} } }, {}, ['image', 'features']],
  ['a Dockerfile', { image: 'node', build: { dockerfile: 'Dockerfile' } }, {}, ['image', 'build']],
  ['an old Dockerfile', { image: 'node', dockerFile: 'Dockerfile' }, {}, ['image', 'dockerFile']],
  ['services', { image: 'node', dockerComposeFile: ['a.yml'] }, {}, ['image', 'dockerComposeFile']],
])('takes the image of a devcontainer.json if nothing is built on it: %s', (_, given, found, left) => {
  const { environment, ignored } = readDevcontainer(JSON.stringify({ ...given, postCreateCommand: 'make' }));
  const image = 'image' in found ? { image: expect.stringMatching(found.image) } : {};
  expect(environment).toEqual({ ...image, setup: '( make\n)', variables: {} });
  expect(ignored).toEqual(left);
});

it.each([
  ['node:22', { image: 'node:22', variables: { LEVEL: '2' } }, []],
  ['{image: "node:22"}', { image: 'node:22', variables: { LEVEL: '2' } }, []],
  [
    '{image: "node:22", env: {LEVEL: 1, DEBUG: 1}, options: --cpus 1, credentials: {username: x}}',
    { image: 'node:22', variables: { LEVEL: '2', DEBUG: '1' } },
    ['options of the container', 'credentials of the container'],
  ],
  ['"${{ matrix.image }}"', { variables: { LEVEL: '2' } }, ['the container']],
  ['oci-archive:tools.tar', { variables: { LEVEL: '2' } }, ['the container']],
  ['{volumes: [a]}', { variables: { LEVEL: '2' } }, ['the container']],
  ['3', { variables: { LEVEL: '2' } }, ['the container']],
  ['', { variables: { LEVEL: '2' } }, []],
])('takes the image of the container of copilot-setup-steps.yml: %s', (container, environment, ignored) => {
  const text = `jobs:\n  copilot-setup-steps:\n    env: {LEVEL: 2}\n    container: ${container}\n`;
  expect(readCopilotSetupSteps(text)).toEqual({ environment, ignored });
});

it.each([
  ['an alias without an anchor', 'jobs: {copilot-setup-steps: {steps: *none}}', false],
  [
    'one anchor used often',
    `at: &a "1"\n${copilotWith(`env: {${Array.from({ length: 30 }, (_, at) => `V${at}: *a`)}}`)}`,
    true,
  ],
  [
    'aliases of aliases',
    `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c]\n${copilotWith('steps: []')}`,
    false,
  ],
])('reads or ignores a copilot-setup-steps.yml with %s', (_, text, isRead) => {
  const ignored = isRead ? [] : ['everything, because it is not valid'];
  expect(readCopilotSetupSteps(text).ignored).toEqual(ignored);
});

it('follows the defaults of copilot-setup-steps.yml, and names what else it does not follow', () => {
  const job = `strategy: {matrix: {node: [22]}}
    continue-on-error: true
    timeout-minutes: 5
    defaults: {run: {working-directory: web}}
    steps:
      - run: npm ci
      - {name: Tools, run: make, working-directory: tools, continue-on-error: true}
      - {name: Other, run: make, shell: pwsh}
      - {name: Dynamic, run: make, working-directory: "\${{ github.workspace }}"}`;
  const { environment, ignored } = readCopilotSetupSteps(
    `defaults: {run: {working-directory: top, shell: bash}}\n${copilotWith(job)}`,
  );
  expect(environment.setup).toBe("(\ncd 'web'\nnpm ci\n)\n(\ncd 'tools'\nmake\n)");
  expect(ignored).toEqual([
    'strategy of the job',
    'continue-on-error of the job',
    'continue-on-error of the step "Tools"',
    'the step "Other"',
    'the step "Dynamic"',
  ]);
  const ofShell = readCopilotSetupSteps(`defaults: {run: {shell: pwsh}}\n${copilotWith('steps: [{run: make}]')}`);
  expect(ofShell.ignored).toEqual(['the step "number 1"']);
});

it('leaves no variable of an editor to the shell', () => {
  const { environment, ignored } = readDevcontainer(
    JSON.stringify({
      onCreateCommand: 'cd ${containerWorkspaceFolder}/web && echo ${HOME} ${containerWorkspaceFolderBasename}',
      updateContentCommand: 'cd /workspaces/${localWorkspaceFolderBasename} && make',
      postCreateCommand: ['echo', '${localEnv:USER:none}'],
    }),
  );
  expect(environment.setup).toBe('( cd /tree/web && echo ${HOME} tree\n)');
  expect(ignored).toEqual(['commands with ${localWorkspaceFolderBasename}', 'commands with ${localEnv}']);
});

it('takes commands and variables from a devcontainer.json, and names what it ignores', () => {
  const { environment, ignored } = readDevcontainer(`{
    // the image of the team
    "image": "node:22", "name": "Team",
    "onCreateCommand": ["npm", "ci", "--name=it's"],
    "postCreateCommand": { "db": "make db", "web": ["make", "web"] },
    "containerEnv": { "CI": "1", "TOKEN": "\${localEnv:TOKEN}" },
  }`);
  expect(environment).toEqual({
    image: 'node:22',
    setup: "'npm' 'ci' '--name=it'\\''s'\n( make db\n)\n'make' 'web'",
    variables: { CI: '1' },
  });
  expect(ignored).toEqual(['the variable TOKEN']);
  expect(readDevcontainer('{').environment).toEqual({});
});

it('takes run steps and variables from copilot-setup-steps.yml, and names what it ignores', () => {
  const { environment, ignored } = readCopilotSetupSteps(`
on: workflow_dispatch
env: {LEVEL: 2}
jobs:
  copilot-setup-steps:
    runs-on: ubuntu-latest
    services: {db: {image: postgres}}
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v4
        with: {node-version: 22}
      - name: Install
        run: npm ci
        working-directory: web
        env: {CI: true}
      - run: echo \${{ github.sha }}
      - uses: acme/tool@v1
`);
  expect(environment).toEqual({ setup: "(\ncd 'web'\nexport CI='true'\nnpm ci\n)", variables: { LEVEL: '2' } });
  expect(ignored).toEqual([
    'the services: .docket/environment.yml can install them with packages, and start them with start',
    'the wish for Node.js 22: jobs use what the worker has, or what setup installs',
    'the step "number 4"',
    'the step "acme/tool@v1"',
  ]);
});
