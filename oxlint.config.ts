import type { OxlintConfig } from 'oxlint';

type Override = NonNullable<OxlintConfig['overrides']>[number];

/** Imports that match `regex` are errors; those of types alone are not where `allowTypeImports` is set. */
interface Forbidden {
  regex: string;
  message: string;
  allowTypeImports?: true;
}

const folders = 'activities api cli dashboard db lib local models search test worker workflows'.split(' ');

/** Forbids every folder but the named ones. */
function only(allowed: string[], message: string): Forbidden {
  const others = folders.filter((folder) => !allowed.includes(folder));
  return { regex: `(\\.\\./)+(${others.join('|')})/`, message };
}

/** Forbids imports in files. Of the entries that match a file, the last one counts. */
function forbid(files: string[], ...patterns: Forbidden[]): Override {
  return { files, rules: { 'typescript/no-restricted-imports': ['error', { patterns }] } };
}

const onlyContract = { regex: '(\\.\\./)+workflows/[^/]+$', message: 'Of workflows/, only contract/ is imported.' };

const ofActivities = [
  only(
    ['activities', 'db', 'models', 'search', 'lib', 'workflows'],
    'activities/ may import db, models, search, lib and workflows/contract.',
  ),
  onlyContract,
];

const ofApi = only(
  ['api', 'dashboard', 'db', 'models', 'search', 'lib', 'workflows'],
  'api/ may import db, models, search, lib and workflows/contract.',
);

const withOwner: Forbidden = {
  regex: '/db/for-(worker|service|operator)/',
  message: 'These stores act without an organization: what the API uses takes an Owner or a Caller.',
  allowTypeImports: true,
};

const importRules = [
  forbid(
    ['workflows/*.ts'],
    { regex: '^node:', message: 'Workflow code is deterministic: no Node modules.' },
    {
      regex: '^zod$|contract/job\\.ts$',
      message: 'Take only types: zod does not belong in the bundle.',
      allowTypeImports: true,
    },
    { regex: '\\.\\./activities/', message: 'Workflows know activities by type only.', allowTypeImports: true },
    only(['workflows', 'activities'], 'workflows/ imports only itself.'),
    { regex: '^@temporalio/(activity|client|worker)', message: 'Workflows import @temporalio/workflow only.' },
  ),
  forbid(['workflows/contract/*.ts'], {
    regex: '^(\\.\\./|@|[a-y]|zo[^d])',
    message: 'The contract imports zod and itself only.',
  }),
  forbid(['activities/**/*.ts'], ...ofActivities),
  forbid(
    ['activities/{git,workspaces,forges,sandbox,network,mcp,images}/**/*.ts', 'activities/tools/{edit,files}/**/*.ts'],
    ...ofActivities,
    { regex: '^@temporalio/', message: 'What reaches outside, and the tools of the agent, know nothing of Temporal.' },
  ),
  forbid(
    ['worker/**/*.ts'],
    only(
      ['worker', 'activities', 'db', 'models', 'search', 'lib', 'workflows'],
      'worker/ never imports api/, cli/, local/ or dashboard/.',
    ),
  ),
  forbid(
    ['api/**/*.ts'],
    ofApi,
    withOwner,
    { ...onlyContract, message: 'The API starts workflows by name.', allowTypeImports: true },
    {
      regex: '^@koa/router$',
      message: 'createRouter makes routers: they match paths exactly.',
      allowTypeImports: true,
    },
  ),
  forbid(['api/service-stores.ts'], ofApi, {
    regex: '/db/for-(worker|operator)/',
    message: 'Of the stores without an organization the API process takes those of db/for-service/ only.',
  }),
  {
    ...forbid(
      ['api/assistant/**/*.ts'],
      { regex: '^(koa|@koa/)', message: 'A turn of the assistant knows no Koa.' },
      ofApi,
      withOwner,
      {
        regex: '/routes(-[a-z-]+)?\\.ts$',
        message: 'Routes call the assistant, not the other way.',
        allowTypeImports: true,
      },
    ),
    excludeFiles: ['api/assistant/routes.ts'],
  },
  forbid(
    ['cli/{commands,http}/**/*.ts'],
    only(['cli', 'dashboard', 'lib', 'local'], 'The commands of the package are a client of the HTTP API.'),
    { regex: '/(operator|replay)/', message: 'The package has no commands of the operator, and replays nothing.' },
    { regex: '(\\.\\./)+dashboard/', message: 'The dashboard has the types of the API only.', allowTypeImports: true },
    { regex: '(\\.\\./)+local/[a-km-z]', message: 'Of the local stack the commands read local.json only.' },
  ),
  forbid(
    ['db/**/*.ts'],
    only(['db', 'lib', 'workflows'], 'db/ imports only lib/ and workflows/contract.'),
    onlyContract,
  ),
  forbid(
    ['search/**/*.ts', 'models/**/*.ts'],
    only(['lib'], 'search/ and models/ are libraries: they import lib/ only.'),
  ),
  forbid(['lib/**/*.ts'], only(['lib'], 'lib/ imports no other folder.')),
  forbid(
    ['dashboard/**/*.{ts,tsx}'],
    only(['dashboard'], 'dashboard/ speaks to the API over HTTP and imports nothing of the server.'),
  ),
];

const config: OxlintConfig = {
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { node: true, es2024: true },
  ignorePatterns: ['node_modules', '.docket', 'dist', 'dist.new', 'dashboard/http/schema.d.ts'],
  rules: {
    'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'no-console': 'error',
    'no-await-in-loop': 'off',
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'promise/always-return': 'off',
    'vitest/no-conditional-tests': 'off',
    'vitest/require-mock-type-parameters': 'off',
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
  },
  overrides: [
    ...importRules,
    {
      files: ['test/**/*.{ts,tsx}'],
      rules: {
        'typescript/no-non-null-assertion': 'off',
        'typescript/no-explicit-any': 'off',
        'typescript/consistent-type-assertions': 'off',
        'vitest/no-conditional-expect': 'off',
        'vitest/expect-expect': 'off',
        'vitest/no-standalone-expect': 'off',
        'vitest/valid-title': 'off',
        'no-unused-expressions': 'off',
        'typescript/no-restricted-imports': [
          'error',
          { paths: [{ name: 'fast-check', message: 'Take fc from test/support/properties.ts, which sets its seed.' }] },
        ],
      },
    },
    { files: ['test/support/properties.ts'], rules: { 'typescript/no-restricted-imports': 'off' } },
    {
      files: ['oxlint.config.ts', 'vitest.config.ts', 'dashboard/vite.config.ts'],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      files: [
        '{cli,local}/**/*.ts',
        'dashboard/build.ts',
        'test/suites/{bench,chaos,compose,eval,fuzz,leaks,mutations,patterns,quality,repositories,sources,upgrade}/**/*.ts',
        'test/support/**/*.ts',
        'db/migrate-main.ts',
      ],
      rules: { 'no-console': 'off' },
    },
  ],
};

export default config;
