import { playAttacks } from '../stage/attack.ts';
import { sshAttacks } from './ssh.ts';

playAttacks(sshAttacks);
