import { playAttacks } from '../stage/attack.ts';
import { mcpAttacks } from './mcp.ts';

playAttacks(mcpAttacks);
