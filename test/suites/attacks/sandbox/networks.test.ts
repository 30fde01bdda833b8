import { playAttacks } from '../stage/attack.ts';
import { networkAttacks } from './networks.ts';

playAttacks(networkAttacks);
