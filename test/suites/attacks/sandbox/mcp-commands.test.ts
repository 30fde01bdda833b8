import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { closeCommands, mcpCommandAttacks } from './mcp-commands.ts';

afterAll(closeCommands);
playAttacks(mcpCommandAttacks);
