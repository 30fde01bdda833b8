import { afterAll } from 'vitest';
import { playAttacks } from './stage/attack.ts';
import { closeCommands, mcpCommandAttacks } from './lists/mcp-commands.ts';

afterAll(closeCommands);
playAttacks(mcpCommandAttacks);
