import { expect, it } from 'vitest';
import { attackClasses } from './classes.ts';
import { addressAttacks } from './network/addresses.ts';
import { agentWaitAttacks } from './content/agent-waits.ts';
import { commandAttacks } from './sandbox/commands.ts';
import { descriptionAttacks } from './sandbox/descriptions.ts';
import { driverAttacks } from './git/drivers.ts';
import { fileAttacks } from './git/files.ts';
import { imageAttacks } from './sandbox/images.ts';
import { layerAttacks } from './sandbox/layers.ts';
import { linkAttacks } from './git/links.ts';
import { mcpCommandAttacks } from './sandbox/mcp-commands.ts';
import { mcpAttacks } from './network/mcp.ts';
import { networkAttacks } from './sandbox/networks.ts';
import { configAndHookAttacks } from './git/config-and-hooks.ts';
import { processAttacks } from './sandbox/processes.ts';
import { packageAttacks } from './sandbox/packages.ts';
import { pageAttacks } from './network/pages.ts';
import { pictureAttacks } from './content/pictures.ts';
import { promptAttacks } from './content/prompts.ts';
import { refAttacks } from './git/refs.ts';
import { repositoryAttacks } from './git/repositories.ts';
import { secretAttacks } from './content/secrets.ts';
import { serviceAttacks } from './sandbox/services.ts';
import { setupAttacks } from './sandbox/setups.ts';
import { sizeAttacks } from './content/sizes.ts';
import { sshAttacks } from './git/ssh.ts';
import { storedAttacks } from './content/stored.ts';
import { treeAttacks } from './git/trees.ts';
import { waitAttacks } from './content/waits.ts';
import { webhookAttacks } from './network/webhooks.ts';

const attacks = [
  addressAttacks,
  agentWaitAttacks,
  commandAttacks,
  descriptionAttacks,
  driverAttacks,
  fileAttacks,
  imageAttacks,
  packageAttacks,
  layerAttacks,
  linkAttacks,
  mcpAttacks,
  mcpCommandAttacks,
  networkAttacks,
  configAndHookAttacks,
  pageAttacks,
  pictureAttacks,
  processAttacks,
  promptAttacks,
  refAttacks,
  repositoryAttacks,
  secretAttacks,
  serviceAttacks,
  setupAttacks,
  sizeAttacks,
  sshAttacks,
  storedAttacks,
  treeAttacks,
  waitAttacks,
  webhookAttacks,
].flat();

it('every class has attacks, and there are at least 150', () => {
  const missing = Object.keys(attackClasses).filter((number) => !attacks.some((one) => one.class === Number(number)));
  expect(missing).toEqual([]);
  expect(attacks.length).toBeGreaterThanOrEqual(150);
});

/** Classes of what environments, tools and decisions of people add to jobs, with the fewest attacks of each. */
const surfaces = { 40: 12, 41: 15, 42: 30, 43: 15, 44: 15, 45: 8, 46: 20, 47: 12, 48: 10 };

it('environments, images, MCP servers, plans, questions, pages and pictures are attacked', () => {
  const few = Object.entries(surfaces).filter(
    ([number, least]) => attacks.filter((one) => one.class === Number(number)).length < least,
  );
  expect(few).toEqual([]);
  expect(Object.keys(attackClasses)).toEqual(expect.arrayContaining(Object.keys(surfaces)));
});

it('no two attacks have the same name', () => {
  const names = attacks.map(({ class: number, name }) => `${number} ${name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
