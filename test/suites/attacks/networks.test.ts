import { playAttacks } from './attack.ts';
import { networkAttacks } from './lists/networks.ts';

playAttacks(networkAttacks);
