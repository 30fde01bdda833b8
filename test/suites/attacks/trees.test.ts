import { playAttacks } from './attack.ts';
import { treeAttacks } from './lists/trees.ts';

playAttacks(treeAttacks);
