import { playAttacks } from './attack.ts';
import { mcpAttacks } from './lists/mcp.ts';

playAttacks(mcpAttacks);
