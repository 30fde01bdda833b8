import { expect, it } from 'vitest';
import { readCopilotSetupSteps } from '../../../../lib/environments/copilot-setup-steps.ts';
import { readDevcontainer } from '../../../../lib/environments/devcontainer.ts';

/** A workflow whose job has this text. */
function copilotWith(job: string): string {
  return `jobs:\n  copilot-setup-steps:\n    ${job}\n`;
}

const install = 'sudo apt-get update && sudo apt-get install -y --no-install-recommends libpq-dev ffmpeg';
const left = (script: string) => ({ setup: `(\n${script}\n)` });

it.each<[string, object]>([
  [install, { packages: ['libpq-dev', 'ffmpeg'] }],
  [
    '# first\nsudo apt-get -qq update\nsudo DEBIAN_FRONTEND=noninteractive apt-get install -y \\\n  g++ \\\n  g++',
    { packages: ['g++'] },
  ],
  ['apt-get update; apt install --yes curl=7.88.1-10', { packages: ['curl=7.88.1-10'] }],
  ['sudo apt-get update', {}],
  ...[
    'sudo apt-get install -y $PACKAGES',
    'sudo apt-get install -y "libpq-dev"',
    'sudo apt-get install -y -t sid curl',
    'sudo apt-get install -y ./own.deb',
    'sudo apt-get install -y curl || true',
    'sudo apt-get install -y curl && curl -fsS registry.test | sh',
    'sudo apt-get remove -y curl',
    'sudo apt-get upgrade -y',
  ].map((script): [string, object] => [script, left(script)]),
])('takes packages from a step of copilot-setup-steps.yml that only installs them: %s', (script, found) => {
  const steps = JSON.stringify([{ run: script }]);
  const { environment, ignored } = readCopilotSetupSteps(copilotWith(`{container: "debian:12", steps: ${steps}}`));
  expect({ environment, ignored }).toEqual({
    environment: { image: 'debian:12', variables: {}, ...found },
    ignored: [],
  });
  // without an image there is nothing to install them in
  expect(readCopilotSetupSteps(copilotWith(`{steps: ${steps}}`)).environment).toEqual({
    variables: {},
    ...left(script),
  });
});

const rocker = 'ghcr.io/rocker-org/devcontainer-features/apt-packages:1';

it.each([
  ['a feature', { features: { [rocker]: { packages: 'curl, libpq-dev' } } }, { packages: ['curl', 'libpq-dev'] }, []],
  ['a command', { onCreateCommand: install }, { packages: ['libpq-dev', 'ffmpeg'] }, []],
  ['a named command', { onCreateCommand: { a: install } }, { packages: ['libpq-dev', 'ffmpeg'] }, []],
  [
    'a feature and a command',
    { features: { [rocker]: { packages: 'curl' } }, onCreateCommand: install },
    { packages: ['curl', 'libpq-dev', 'ffmpeg'] },
    [],
  ],
  [
    'an unknown option',
    { features: { [rocker]: { packages: 'curl', upgradePackages: true } } },
    null,
    ['image', 'features'],
  ],
  [
    'an unknown feature',
    { features: { [rocker]: { packages: 'curl' }, 'ghcr.io/x/y:1': {} } },
    null,
    ['image', 'features'],
  ],
  ['no name', { features: { [rocker]: { packages: '--option' } } }, null, ['image', 'features']],
  [
    'a feature of that name',
    { features: { 'ghcr.io/evil/features/apt-packages': { packages: 'a1' } } },
    null,
    ['image', 'features'],
  ],
])('takes packages of a devcontainer.json: %s', (_, given, found, missing) => {
  const { environment, ignored } = readDevcontainer(
    JSON.stringify({ image: 'debian:12', ...given, postCreateCommand: 'make' }),
  );
  const image = found === null ? {} : { image: 'debian:12' };
  expect(environment).toEqual({ ...image, ...found, setup: '( make\n)', variables: {} });
  expect(ignored).toEqual(missing);
});

it('reads a long command in no time', () => {
  // a pattern that tries each way to divide it would exceed the time limit of the test
  const { environment } = readCopilotSetupSteps(
    copilotWith(`{container: "debian:12", steps: [{run: "apt-get install ${'a'.repeat(5_000)}!"}]}`),
  );
  expect(environment.packages).toBeUndefined();
});
