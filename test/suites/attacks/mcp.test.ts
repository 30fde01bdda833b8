import { playAttacks } from './stage/attack.ts';
import { mcpAttacks } from './lists/mcp.ts';

playAttacks(mcpAttacks);
