import { expect, it } from 'vitest';
import { attackClasses } from './classes.ts';
import { addressAttacks } from './lists/addresses.ts';
import { agentWaitAttacks } from './lists/agent-waits.ts';
import { commandAttacks } from './lists/commands.ts';
import { descriptionAttacks } from './lists/descriptions.ts';
import { driverAttacks } from './lists/drivers.ts';
import { fileAttacks } from './lists/files.ts';
import { imageAttacks } from './lists/images.ts';
import { layerAttacks } from './lists/layers.ts';
import { linkAttacks } from './lists/links.ts';
import { mcpCommandAttacks } from './lists/mcp-commands.ts';
import { mcpAttacks } from './lists/mcp.ts';
import { networkAttacks } from './lists/networks.ts';
import { configAndHookAttacks } from './lists/config-and-hooks.ts';
import { processAttacks } from './lists/processes.ts';
import { pageAttacks } from './lists/pages.ts';
import { pictureAttacks } from './lists/pictures.ts';
import { promptAttacks } from './lists/prompts.ts';
import { refAttacks } from './lists/refs.ts';
import { repositoryAttacks } from './lists/repositories.ts';
import { secretAttacks } from './lists/secrets.ts';
import { serviceAttacks } from './lists/services.ts';
import { setupAttacks } from './lists/setups.ts';
import { sizeAttacks } from './lists/sizes.ts';
import { sshAttacks } from './lists/ssh.ts';
import { storedAttacks } from './lists/stored.ts';
import { treeAttacks } from './lists/trees.ts';
import { waitAttacks } from './lists/waits.ts';
import { webhookAttacks } from './lists/webhooks.ts';

const attacks = [
  addressAttacks,
  agentWaitAttacks,
  commandAttacks,
  descriptionAttacks,
  driverAttacks,
  fileAttacks,
  imageAttacks,
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
